"""How pip makes a wheel of the modules beside this file (PEP 517): it only packs them."""
import base64
import glob
import hashlib
import os
import re
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))


def _project(key):
    """Of our own pyproject.toml, which has a value a line: Python reads TOML since 3.11 only."""
    with open(os.path.join(HERE, "pyproject.toml"), encoding="utf-8") as f:
        return re.search(r'^%s = "(.*)"$' % key, f.read(), re.M).group(1)


def _pack(directory, modules):
    stem = "%s-%s" % (_project("name").replace("-", "_"), _project("version"))
    files = dict(modules)
    about = tuple(_project(key) for key in ("name", "version", "description", "requires-python"))
    files[stem + ".dist-info/METADATA"] = (
        "Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nRequires-Python: %s\n" % about)
    files[stem + ".dist-info/WHEEL"] = "Wheel-Version: 1.0\nGenerator: gv\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = ""
    wheel = stem + "-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(directory, wheel), "w", zipfile.ZIP_DEFLATED) as z:
        for name, text in sorted(files.items()):
            data = text.encode()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += "%s,sha256=%s,%d\n" % (name, digest, len(data))
            z.writestr(name, data)
        z.writestr(stem + ".dist-info/RECORD", record + stem + ".dist-info/RECORD,,\n")
    return wheel


def build_wheel(directory, config_settings=None, metadata_directory=None):
    modules = {}
    for path in glob.glob(os.path.join(glob.escape(HERE), "gv_*.py")):
        if os.path.basename(path) != os.path.basename(__file__):
            with open(path, encoding="utf-8") as f:
                modules[os.path.basename(path)] = f.read()
    return _pack(directory, modules)


def build_editable(directory, config_settings=None, metadata_directory=None):
    return _pack(directory, {"gv_toolkit.pth": HERE + "\n"})

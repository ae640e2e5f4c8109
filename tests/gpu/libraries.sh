# NVIDIA's libraries that came with a Python's packages (PyTorch's, JAX's), where the system
# has none: sourced by check.sh and bench.sh; $python is the Python.
# shellcheck shell=sh disable=SC2154
system_has() { ldconfig -p 2>/dev/null | grep -q "$1" || ls /usr/local/cuda/lib64/"$1"* >/dev/null 2>&1; }
packaged() { # NAME: the folder of a library in the packages
	"$python" -c '
import glob, os, sys
for p in sys.path:
    for f in sorted(glob.glob(os.path.join(p, "nvidia", "*", "lib", sys.argv[1] + "*")), reverse=True):
        sys.exit(print(os.path.dirname(f)))' "$1" 2>/dev/null
}
for library in libcublas.so.1 libnccl.so.2; do
	system_has $library && continue
	folder=$(packaged $library)
	[ -z "$folder" ] || LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder
done
[ -z "${LD_LIBRARY_PATH:-}" ] || export LD_LIBRARY_PATH

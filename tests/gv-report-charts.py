"""gv-report-charts.py KIND SVG TABLE: does a chart show the numbers of the table?

completion: TABLE is gv-report --by=job of runs; every job must lie on its run's line.
busy: TABLE is --by=type; the area of each type must be its GPU-seconds.
rounds: TABLE is --by=type; who has GPUs must be drawn for as long, up to where the run ends."""
import csv
import math
import re
import sys
import xml.dom.minidom

kind, drawing, table = sys.argv[1:]
dom = xml.dom.minidom.parse(drawing)
rows = list(csv.DictReader(open(table)))
UNITS = {"s": 1, "min": 60, "h": 3600, "d": 86400}


def texts(cls):
    return [(float(t.getAttribute("x")), float(t.getAttribute("y")), t.firstChild.data)
            for t in dom.getElementsByTagName("text") if t.getAttribute("class") == cls and t.firstChild]


def number(s):
    factor = {"k": 1e3, "M": 1e6, "G": 1e9}.get(s[-1])
    return float(s[:-1]) * factor if factor else float(s)


def points(d):
    """The corners of a path of M, H, V, L and Z."""
    x = y = 0.0
    for command, rest in re.findall(r"([MHVLZ])([^MHVLZ]*)", d):
        values = [float(v) for v in rest.split()]
        if command in "ML":
            x, y = values
        elif command == "H":
            x = values[0]
        elif command == "V":
            y = values[0]
        else:
            continue
        yield x, y


def fit(marks, f):
    """The straight line through the first and the last of (pixel, value)."""
    (a, va), (b, vb) = marks[0], marks[-1]
    slope = (b - a) / (f(vb) - f(va))
    return lambda v: a + slope * (f(v) - f(va))


if kind == "rounds":
    tracks = [[float(r.getAttribute(a)) for a in ("x", "y", "width", "height")]
              for r in dom.getElementsByTagName("rect") if r.getAttribute("class") == "c-track"]
    # of as many moments as are looked at, each a GPU's
    had = [[float(v) for v in re.findall(r"-?[0-9.]+", m)] for p in dom.getElementsByTagName("path")
           for m in p.getAttribute("d").split("M")[1:]]
    for a, b in zip(tracks, tracks[1:]):
        if a[1] + a[3] > b[1] + 0.02:
            print("a row lies over the next:", a, b)
    for x, y, w, h, back in had:
        if w != -back or not any(abs(t[1] - y) < 0.06 and t[0] - 0.06 < x and x + w < t[0] + t[2] + 0.2 for t in tracks):
            print("in no row:", x, y, w, h)
    if len(tracks) != sum(int(r["gpus"]) for r in rows):
        print(len(tracks), "rows")
    # somebody has GPUs to the end in each of these runs
    left, width = tracks[0][0], tracks[0][2]
    if abs(max(x + w for x, y, w, h, back in had) - left - width) > 0.11:
        print("the last ends at", max(x + w for x, y, w, h, back in had))
    px_per_s = width * sum(float(r["utilisation"]) * int(r["gpus"]) for r in rows) / sum(float(r["busy_gpu_s"]) for r in rows)
    got, want = sum(b[2] for b in had) / px_per_s, sum(float(r["busy_gpu_s"]) for r in rows)
    if abs(got - want) > 0.1 * want:
        print("drawn are", got, "GPU-seconds, not", want)
    sys.exit()
unit = UNITS[[t for x, y, t in texts("c-dim c-end") if ", " in t][0].split(", ")[1]]
paths = [(p.getAttribute("class"), p.getElementsByTagName("title")[0].firstChild.data,
          list(points(p.getAttribute("d")))) for p in dom.getElementsByTagName("path")]
x_marks = sorted((x, number(t)) for x, y, t in texts("c-dim c-mid"))
axis = max(((float(a.getAttribute("x1")), float(a.getAttribute("x2"))) for a in dom.getElementsByTagName("line")
            if a.getAttribute("class") == "c-axis"), key=lambda ends: ends[1] - ends[0])
for cls, name, line in paths:
    if any(not axis[0] - 0.1 <= x <= axis[1] + 0.1 for x, y in line):
        print(name, "leaves its panel")
y_marks = sorted((y - 4, number(t)) for x, y, t in texts("c-dim c-end") if re.fullmatch(r"[0-9.]+[kMG]?", t))

if kind == "completion":
    x_of, y_of = fit(x_marks, math.log), fit(y_marks, float)
    for cls, run, line in paths:
        times = [float(r["completion_s"]) if r["completion_s"] else math.inf for r in rows if r["run"] == run]
        for k, v in enumerate(sorted(times)):
            if v == math.inf:
                continue
            # what took no time, or too little for the scale, stands at its left end
            x, y = max(axis[0], x_of(v / unit)) if v > 0 else axis[0], y_of(100 * (k + 1) / len(times))
            # some point of the line is as far right, and there the line has come as high
            if not any(abs(px - x) < 1.2 and py < y + 1.2 for px, py in line):
                print("run", run, "job", k, "at", x, y)
        if abs(line[-1][1] - y_of(100 * sum(t < math.inf for t in times) / len(times))) > 0.6:
            print("run", run, "ends at", line[-1])
    if len(paths) != len({r["run"] for r in rows}):
        print(len(paths), "lines")
else:
    x_of, y_of = fit(x_marks, float), fit(y_marks, float)
    px_per_s = (x_of(1) - x_of(0)) / unit
    px_per_gpu = y_of(0) - y_of(1)
    want = {r["gpu_type"]: float(r["busy_gpu_s"]) for r in rows}
    for cls, name, line in paths:
        if name not in want:
            continue
        area = abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(line, line[1:] + line[:1]))) / 2
        got = area / px_per_s / px_per_gpu
        width = line[-1][0] - max(p[0] for p in line)
        if abs(got - want.pop(name)) > 0.02 * got - width / px_per_s / px_per_gpu:
            print("type", name, "has", got)
    if any(want.values()):
        print("not drawn:", want)

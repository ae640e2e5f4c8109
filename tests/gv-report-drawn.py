"""gv-report-drawn.py EVENTS SVG SHARES: does the drawing show what happened?

Every run must be a bar on each of its GPUs and one in its job's row, all on one
linear scale of time; share bars must be as long as the shares."""
import csv
import re
import sys
import xml.dom.minidom

events = list(csv.DictReader(open(sys.argv[1])))
dom = xml.dom.minidom.parse(sys.argv[2])
shares = list(csv.DictReader(open(sys.argv[3])))
LEFT, RIGHT, SIDE, SIDE_W = 170, 810, 838, 130
last = max(float(e["time_s"]) for e in events)
scale = (RIGHT - LEFT) / last


def num(node, name):
    return float(node.getAttribute(name))


# what should be drawn: (job, from, to, GPUs, rank among the starts), by the rules of gv-report(1)
want, open_runs, began, before = [], {}, [], 0.0


def close(job, at):
    if job in open_runs:
        begin, gpus, rank = open_runs.pop(job)
        want.append((job, begin, at, gpus, rank))


for e in events:
    now, job = float(e["time_s"]), e["job_id"]
    if e["event"] == "restart":
        for j in list(open_runs):
            close(j, before)
    elif e["event"] in ("start", "resume"):
        names = [g for g in (e.get("gpus") or "").split(";") if g] or [""]
        open_runs[job] = now, [(e.get("gpu_type"), e.get("node"), g) for g in names], len(began)
        began.append(job)
    elif e["event"] in ("preempt", "finish", "fail", "drop"):
        close(job, now)
    before = now
for j in list(open_runs):
    close(j, last)

bars = []
for rect in dom.getElementsByTagName("rect"):
    title = rect.getElementsByTagName("title")
    if title:
        words = title[0].firstChild.data
        bars.append((words.split(" on ")[0], num(rect, "x"), num(rect, "x") + num(rect, "width"), words,
                     num(rect, "y"), num(rect, "height")))


def parts(gpu, begin, end, rank):
    """The run on a GPU as (from, to, place from the top, of how many): who began first is above."""
    there = [w for w in want if gpu in w[3] and w[1] < end and w[2] > begin]
    marks = sorted({begin, end} | {x for w in there for x in w[1:3] if begin < x < end})
    found = []
    for a, b in zip(marks, marks[1:]):
        now = [w[4] for w in there if w[1] <= a and b <= w[2]]
        place = sum(r < rank for r in now), len(now)
        if found and found[-1][2:] == place:
            a = found.pop()[0]
        found.append((a, b) + place)
    return found


lane_h = max((b[5] for b in bars), default=0)
for job, begin, end, gpus, rank in want:
    pieces = [p for gpu in gpus for p in parts(gpu, begin, end, rank)]
    for a, b, place, of in pieces + [(begin, end, None, None)]:
        if place is not None and (b - a) * scale <= 1:
            continue  # nobody can point at it: no title
        at = LEFT + a * scale, LEFT + b * scale
        found = [r for r in bars if r[0] == job and abs(r[1] - at[0]) < 0.02 and abs(r[2] - at[1]) < 0.02]
        if of is not None and of > 1:  # its part of the height of a lane
            found = [r for r in found if abs(r[5] * of - lane_h) < 0.1 and round(r[4] / r[5]) >= place]
        if not found:
            print(job, "from", a, "to", b, "is not drawn" + (" as one of %d" % of if of else ""))
        else:
            bars.remove(found[0])
for b in bars:
    print("drawn, but did not happen:", b)

# share bars, in the order of the table: received, then promised, of each type, zeros left out
side = [r for r in dom.getElementsByTagName("rect")
        if num(r, "x") >= SIDE - 0.01 and not r.getAttribute("class")]
expected = []
for s in shares:
    if s["received_share"]:
        expected += [float(s[c]) * SIDE_W for c in ("received_share", "promised_share") if float(s[c]) > 0]
got = [num(r, "width") for r in side]
if len(got) != len(expected) or any(abs(a - b) > 0.006 for a, b in zip(got, expected)):
    print("shares drawn", got, "not", expected)

# ticks: the number under a line is its time
unit = {"s": 1, "min": 60, "h": 3600}
texts = [t for t in dom.getElementsByTagName("text") if "mid dim" in t.getAttribute("class")]
name = re.sub(r"[-0-9. ]", "", texts[-1].firstChild.data)
for t in texts:
    value = float(re.sub(r"[a-z ]", "", t.firstChild.data)) * unit[name]
    if abs(num(t, "x") - (LEFT + value * scale)) > 0.02:
        print("tick", t.firstChild.data, "at", num(t, "x"))
if len(texts) < 3:
    print("few ticks:", len(texts))

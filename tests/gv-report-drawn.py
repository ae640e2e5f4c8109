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


# what should be drawn: (job, from, to, GPUs), by the rules of gv-report(1)
want, open_runs, before = [], {}, 0.0


def close(job, at):
    if job in open_runs:
        begin, gpus = open_runs.pop(job)
        want.append((job, begin, at, gpus))


for e in events:
    now, job = float(e["time_s"]), e["job_id"]
    if e["event"] == "restart":
        for j in list(open_runs):
            close(j, before)
    elif e["event"] in ("start", "resume"):
        open_runs[job] = now, max(1, len([g for g in (e.get("gpus") or "").split(";") if g]))
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
        bars.append((words.split(" on ")[0], num(rect, "x"), num(rect, "x") + num(rect, "width"), words))
for job, begin, end, gpus in want:
    at = LEFT + begin * scale, LEFT + end * scale
    found = [b for b in bars if b[0] == job and abs(b[1] - at[0]) < 0.02 and abs(b[2] - at[1]) < 0.02]
    if len(found) != gpus + 1:
        print(job, "from", begin, "to", end, "is drawn", len(found), "times, not", gpus + 1)
    for b in found:
        bars.remove(b)
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

"""gv-report-schedule.py SCHEDULE SVG: does the drawing show the schedule?

Every step that takes time must be a bar of its colour in the row of its GPU, on
one linear scale of time, and every bar a step; updates are marks."""
import csv
import sys
import xml.dom.minidom

steps = list(csv.DictReader(open(sys.argv[1])))
dom = xml.dom.minidom.parse(sys.argv[2])
LEFT, WIDTH = 160, 780
first = min(float(s["start_ms"]) for s in steps)
scale = WIDTH / (max(float(s["end_ms"]) for s in steps) - first)
word = {"F": "forward", "B": "backward", "W": "weight gradients", "AR": "all-reduce", "U": "update"}
hue = {"F": "f", "B": "b", "W": "w", "AR": "ar", "U": "u"}


def num(node, name):
    return float(node.getAttribute(name))


lanes = [r for r in dom.getElementsByTagName("rect") if r.getAttribute("class") == "lane"]
gpus = []
for s in steps:
    s["key"] = s.get("gpu") or (s["stage"], s.get("replica"))
    if s["key"] not in gpus:
        gpus.append(s["key"])
if len(lanes) != len(gpus):
    print(len(lanes), "rows for", len(gpus), "GPUs")
bars = {}
for kind in "rect", "path":
    for node in dom.getElementsByTagName(kind):
        title = node.getElementsByTagName("title")
        if not title:
            continue
        if kind == "rect":
            x, y, width = num(node, "x"), num(node, "y") + num(node, "height") / 2, num(node, "width")
        else:
            x, y = (float(v) for v in node.getAttribute("d")[1:].split("l")[0].split())
            width = 0
        lane = [i for i, r in enumerate(lanes) if num(r, "y") <= y <= num(r, "y") + num(r, "height")]
        bars.setdefault((lane[0], title[0].firstChild.data), []).append((x, width, node.getAttribute("class")))
for s in steps:
    begin, end = float(s["start_ms"]), float(s["end_ms"])
    x, width = LEFT + (begin - first) * scale, (end - begin) * scale
    if s["op"] != "U" and width <= 2:
        continue
    words = "stage %s: %s%s micro-batch %s" % (
        s["stage"], word[s["op"]], " up to" if s["op"] in ("AR", "U") else " of", s["micro_batch"])
    if s.get("version"):
        words += ", weights version " + s["version"]
    row = gpus.index(s["key"])
    found = [(key, b) for key, some in bars.items() for b in some
             if key[0] == row and (key[1] + ",").startswith(words + ",") and b[2].startswith(hue[s["op"]]) and
             abs(b[0] - x) < 0.02 and abs(b[1] - width) < 0.63]
    if len(found) != 1 and not (s["op"] == "U" and not found):
        print(s, "is drawn", len(found), "times")
    for key, b in found:
        bars[key].remove(b)
# what is on its way: from the end of what made it, or of the GPU's step before, to the step
made = {}
for s in steps:
    made.setdefault((s["op"], s["stage"], s["micro_batch"]), []).append(float(s["end_ms"]))
ways = {(key[0], round(b[0] + b[1], 1)): b[1] for key, some in bars.items() for b in some if b[2] == "way"}
waits = 0
for i, key in enumerate(gpus):
    own = sorted((s for s in steps if s["key"] == key), key=lambda s: (float(s["start_ms"]), int(s["step"])))
    free = first
    for s in own:
        begin = float(s["start_ms"])
        source = {"F": -1, "B": 1}.get(s["op"], 0)
        ends = [e for e in made.get((s["op"], str(int(s["stage"]) + source), s["micro_batch"]), [])
                if source and e <= begin + 1e-9]
        want = (begin - max([free] + ends[-1:])) * scale if ends else 0
        at = (i, round(LEFT + (begin - first) * scale, 1))
        if want > 1:
            waits += 1
            near = [w for (g, x), w in ways.items() if g == i and abs(x - at[1]) < 0.25]
            if not near or abs(near[0] - want) > 0.1:
                print(s, "waits", want, "drawn", near)
        if s["op"] != "AR" or float(s["end_ms"]) <= min(
                [float(t["start_ms"]) for t in own if float(t["start_ms"]) > begin or t is not s and
                 float(t["start_ms"]) == begin and int(t["step"]) > int(s["step"])] or [1e300]):
            free = max(free, float(s["end_ms"]))
drawn = sum(w > 1 for w in ways.values())
if drawn > waits:
    print(drawn, "transfers drawn,", waits, "are there")
# every update has its line, or none of that GPU has; a head stands on the end of its line
marks = [r for r in dom.getElementsByTagName("rect") if r.getAttribute("class") == "u" and num(r, "y") > num(lanes[0], "y") - .01] if lanes else []
heads = [p for p in dom.getElementsByTagName("path") if p.getAttribute("class") == "u"]
for i, lane in enumerate(lanes):
    top, bottom = num(lane, "y"), num(lane, "y") + num(lane, "height")
    want = sorted(LEFT + (float(s["end_ms"]) - first) * scale for s in steps if s["op"] == "U" and s["key"] == gpus[i])
    drawn = sorted(num(r, "x") + num(r, "width") / 2 for r in marks if abs(num(r, "y") - top) < .01)
    if drawn and (len(drawn) != len(want) or any(abs(a - b) > .02 for a, b in zip(drawn, want))):
        print("updates of row", i, "are drawn at", drawn, "not", want)
    if not drawn and len(want) == 1:
        print("the only update of row", i, "is not drawn")
    for p in heads:
        tip, rest = p.getAttribute("d")[1:].split("l")
        side, base = rest.rstrip("z").split("h")
        (x, y), (dx, dy), base = map(float, tip.split()), map(float, side.split()), float(base)
        if top <= y <= bottom:
            if not any(abs(x - at) < .02 for at in drawn):
                print("a head beside its line in row", i, x)
            # from the tip up to the left end of what lies on the top, and as far to the right
            if abs(y + dy - top) > .02 or dx >= 0 or abs(base + 2 * dx) > .02 or base > bottom - top:
                print("a head that does not stand on the line's end:", p.getAttribute("d"))
# one name for the rows of the same stages, in the middle of the first
names = [(num(t, "y"), t.firstChild.data) for t in dom.getElementsByTagName("text") if t.getAttribute("class") == "h2"]
if lanes and num(lanes[0], "height") > 10:
    firsts = [i for i in range(len(gpus)) if i == 0 or {s["stage"] for s in steps if s["key"] == gpus[i]} !=
              {s["stage"] for s in steps if s["key"] == gpus[i - 1]}]
    for i in firsts:
        y = num(lanes[i], "y") + num(lanes[i], "height") / 2 + 4
        found = [n for n in names if abs(n[0] - y) < .02 and n[1].startswith("stage")]
        if len(found) != 1:
            print("row", i, "has", len(found), "names")
    if len(names) != len(firsts):
        print(len(names), "names of", len(firsts), "places")
elif len(names) > 1:
    print("names of rows too low for them:", len(names))
for key, some in bars.items():
    for b in some:
        if b[1] > 2 and b[2] != "way":
            print("drawn, but not there:", key, b)
# numbers stand in the middle of their bars, and a bar with room for its number has one
texts = [(num(t, "x"), num(t, "y"), t.firstChild.data) for t in dom.getElementsByTagName("text")
         if t.getAttribute("class").startswith("on ")]
for node in dom.getElementsByTagName("rect"):
    title = node.getElementsByTagName("title")
    kind = node.getAttribute("class")
    if not title or kind == "way" or kind.startswith("ar"):
        continue
    number = title[0].firstChild.data.split("micro-batch ")[1].split(",")[0]
    x, width, top, height = (num(node, a) for a in ("x", "width", "y", "height"))
    found = [t for t in texts if t[2] == number and abs(t[0] - x - width / 2) < 0.05 and top < t[1] < top + height]
    if not found and height > 14 and width > 8 * len(number) + 6:
        print("no number in the bar", kind, x, width, number)
    for t in found:
        texts.remove(t)
if texts:
    print("numbers beside bars:", texts)
# the legend: a square of each kind of bar, of all-reduces what is below its middle
for t in dom.getElementsByTagName("text"):
    if t.firstChild.data not in list(word.values())[:4]:
        continue
    x, y, high = num(t, "x") - 16, num(t, "y"), 5 if t.firstChild.data == "all-reduce" else 11
    found = [r for r in dom.getElementsByTagName("rect") if abs(num(r, "x") - x) < .02 and abs(num(r, "y") - y + 4) < 6]
    sizes = [(num(r, "width"), num(r, "height"), num(r, "y") + num(r, "height") > y) for r in found]
    if sizes != [(11, high, True)]:
        print("in the legend", t.firstChild.data, "is", sizes)
# what has the same stages stands close together, other stages apart from it
ys = [num(r, "y") for r in lanes]
stages = []
for key in gpus:
    stages.append({s["stage"] for s in steps if s["key"] == key})
gaps = {same: {round(b - a, 2) for a, b, s, t in zip(ys, ys[1:], stages, stages[1:]) if (s == t) == same}
        for same in (True, False)}
if any(len(g) > 1 for g in gaps.values()) or (gaps[True] and gaps[False] and max(gaps[True]) >= min(gaps[False])):
    print("rows of the same stages are this far from each other, and of others:", gaps[True], gaps[False])

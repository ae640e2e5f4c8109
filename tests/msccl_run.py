"""Runs an algorithm in MSCCL's XML, as its documentation says, on numbers.

usage: msccl_run.py ALGORITHM.xml

Thread blocks of every GPU run their steps in order; a send waits for nothing but
its dependence, a receive for the message of its connection (sender, receiver,
channel), both for the step they depend on.  Blocks are run in a random order again and
again, so that a dependence that is missing shows.  Prints "ok GPUS CHUNKS", or what is wrong.
"""
import random
import sys
import xml.etree.ElementTree as ET


def load(path):
    top = ET.parse(path).getroot()
    gpus = {}
    for g in top.findall("gpu"):
        blocks = {}
        for tb in g.findall("tb"):
            steps = [dict(s.attrib) for s in tb.findall("step")]
            assert [int(s["s"]) for s in steps] == list(range(len(steps))), "steps out of order"
            blocks[int(tb.get("id"))] = (int(tb.get("send")), int(tb.get("recv")), int(tb.get("chan")), steps)
        gpus[int(g.get("id"))] = (g, blocks)
    return top, gpus


def check(top, gpus):
    n = int(top.get("ngpus"))
    assert sorted(gpus) == list(range(n)), "GPUs are missing"
    for g, (_, blocks) in gpus.items():
        assert sorted(blocks) == list(range(len(blocks))) and len(blocks) <= 216, "thread blocks"
        used = set()
        for send, recv, chan, steps in blocks.values():
            assert 0 <= chan < int(top.get("nchannels")) <= 32, "channel"
            for kind, peer in (("s", send), ("r", recv)):
                assert peer != g, "a GPU sends to itself"
                if peer >= 0:
                    assert (kind, peer, chan) not in used, "two blocks on one connection"
                    used.add((kind, peer, chan))
            assert len(steps) <= 256 and all(0 < int(s["cnt"]) < 72 for s in steps), "steps"
            for s in steps:
                dep = int(s["depid"])
                if dep >= 0:
                    assert blocks[dep][3][int(s["deps"])]["hasdep"] == "1", "hasdep"


def run(top, gpus, seed):
    rng = random.Random(seed)
    n, chunks, coll = int(top.get("ngpus")), int(top.get("nchunksperloop")), top.get("coll")
    own = chunks // n
    root = next((g for g in range(n) if all(b[1] < 0 for b in gpus[g][1].values())), 0)
    data = [[g * 1000 + c for c in range(chunks)] for g in range(n)]
    if coll == "allgather":
        data = [[g * 1000 + c if g * own <= c < (g + 1) * own else None for c in range(chunks)] for g in range(n)]
    if coll == "broadcast":
        data = [[g * 1000 + c if g == root else None for c in range(chunks)] for g in range(n)]
    at = {(g, b): 0 for g in gpus for b in gpus[g][1]}
    wires = {}
    while True:
        order = [k for k in at if at[k] < len(gpus[k[0]][1][k[1]][3])]
        if not order:
            break
        rng.shuffle(order)
        moved = False
        for g, b in order[: rng.randint(1, len(order))] + order:
            send, recv, chan, steps = gpus[g][1][b]
            if at[g, b] == len(steps):
                continue
            s = steps[at[g, b]]
            dep = int(s["depid"])
            if dep >= 0 and at[g, dep] <= int(s["deps"]):
                continue
            first, count = int(s["srcoff"]), int(s["cnt"])
            part = slice(first, first + count)
            if s["type"] == "s":
                assert None not in data[g][part], "sends what it has not got"
                wires.setdefault((g, send, chan), []).append(data[g][part])
            else:
                queue = wires.get((recv, g, chan), [])
                if not queue:
                    continue
                got = queue.pop(0)
                if s["type"] == "rrc":
                    data[g][part] = [x + y for x, y in zip(data[g][part], got)]
                else:
                    data[g][part] = got
            at[g, b] += 1
            moved = True
        assert moved, "nothing can go on"
    assert not any(wires.values()), "messages that nobody took"
    for c in range(chunks):
        want = {
            "allreduce": sum(g * 1000 + c for g in range(n)),
            "allgather": c // max(own, 1) * 1000 + c,
            "broadcast": root * 1000 + c,
        }[coll]
        assert all(data[g][c] == want for g in range(n)), "chunk %d is wrong" % c
    return "ok %d %d" % (n, chunks)


def main():
    top, gpus = load(sys.argv[1])
    try:
        check(top, gpus)
        for seed in range(20):
            said = run(top, gpus, seed)
    except AssertionError as e:
        said = str(e)
    print(said)


main()

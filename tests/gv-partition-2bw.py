"""gv-partition-2bw.py LAYERS GPUS SERVER FAST SLOW MEMORY STATE BATCH: 2BW's planner, plainly.

Transcribes section 4 and appendix A of the paper as cmd/gv-partition/two_bw.h states
it, for a chain of layers, cutting by trying all cuts; every micro-batch is as fast.
Reads our table of all configurations on standard input, and says where it differs."""
import csv
import itertools
import sys

layers = [
    [float(r[c]) for c in ("forward_ms", "backward_ms", "activation_bytes", "parameter_bytes")]
    for r in csv.DictReader(open(sys.argv[1], newline=""))
]
gpus, server = int(sys.argv[2]), int(sys.argv[3])
fast, slow, memory, state = (float(a) for a in sys.argv[4:8])
batch = int(sys.argv[8])


def stages(cuts):
    """F, T, A, W of each stage, what it receives and what it sends."""
    ends = [0, *cuts, len(layers)]
    for i, j in zip(ends, ends[1:]):
        part = layers[i:j]
        yield (
            sum(x[0] for x in part) / 1e3,
            sum(x[0] + x[1] for x in part) / 1e3,
            sum(x[2] for x in part),
            sum(x[3] for x in part),
            layers[i - 1][2] if i > 0 else 0,
            layers[j - 1][2] if j < len(layers) else 0,
        )


def best_cut(d):
    every = [list(stages(c)) for c in itertools.combinations(range(1, len(layers)), d - 1)]
    least = min(max(s[1] for s in c) for c in every) * (1 + 1e-12)
    return min(
        (c for c in every if max(s[1] for s in c) <= least), key=lambda c: sum(s[5] for s in c)
    )


def configurations():
    for d in range(1, min(gpus, len(layers)) + 1):
        cut = best_cut(d)
        for w in range(1, gpus // d + 1):
            b = 1
            while b <= batch:
                for kind, recompute in ((0, 0), (1, 0), (1, 1)):
                    m = d * (batch // (w * d * b)) if kind else batch // (w * b)
                    if m == 0 or (kind and d == 1):
                        continue
                    times, bytes_ = [], []
                    for f, t, a, p, i, o in cut:
                        compute = b * (t + (f if recompute else 0))
                        move = 2 * b * (i + o) * (d > 1) / (fast if w * d <= server else slow)
                        sync = 2 * (w - 1) / w * p / (fast if w <= server else slow)
                        times.append(max(compute + move, sync / m))
                        need = (1 + state) * p
                        if not kind:
                            need += p + b * a
                        elif recompute:
                            need += 2 * p + b * a + d * b * i
                        else:
                            need += 2 * p + d * b * (a + i)
                        bytes_.append(need)
                    if memory and max(bytes_) > memory:
                        continue
                    t = max(times) if kind else sum(times)
                    yield (w, d, b, m, "pipelined" if kind else "serial",
                           "full" if recompute else "none"), (t, w * b / t, max(bytes_))
                b *= 2


want = dict(configurations())
got = {}
last = float("inf")
for r in csv.DictReader(sys.stdin):
    key = tuple(int(r[c]) for c in ("width", "depth", "micro_batch", "micro_batches"))
    got[key + (r["execution"], r["recompute"])] = tuple(
        float(r[c]) for c in ("micro_batch_s", "minibatches_per_s", "memory_bytes")
    )
    if float(r["minibatches_per_s"]) > last:
        print("not in order", key)
    last = float(r["minibatches_per_s"])
for key in sorted(set(want) ^ set(got)):
    print("only", "wanted" if key in want else "got", key)
for key in set(want) & set(got):
    for a, b in zip(want[key], got[key]):
        if abs(a - b) > 1e-9 * abs(a):
            print(key, "want", want[key], "got", got[key])
print(len(want), "configurations")

"""Is what gv-alloc --certify says true?  All in fractions, nothing of its code.

gv-alloc-certify.py POLICY CLUSTER ALLOCATION SAID: the printed shares keep every
constraint exactly; the objective is theirs, rounded against the claim; and the
best objective there is, by the simplex method in fractions, lies between it and
the bound.
"""
import csv
import re
import sys
from fractions import Fraction


def simplex(c, rows, b):
    """max c x, rows x <= b, x >= 0, with b >= 0: the value.  Bland's rule."""
    n, m = len(c), len(rows)
    t = [list(r) + [Fraction(int(i == k)) for k in range(m)] + [b[i]] for i, r in enumerate(rows)]
    z = [-v for v in c] + [Fraction(0)] * (m + 1)
    basis = [n + i for i in range(m)]
    while True:
        enter = next((j for j in range(n + m) if z[j] < 0), None)
        if enter is None:
            return z[-1]
        ratio = [(t[i][-1] / t[i][enter], basis[i], i) for i in range(m) if t[i][enter] > 0]
        if not ratio:
            return None
        _, _, leave = min(ratio)
        pivot = t[leave][enter]
        t[leave] = [v / pivot for v in t[leave]]
        for i in range(m):
            if i != leave and t[i][enter] != 0:
                f = t[i][enter]
                t[i] = [v - f * w for v, w in zip(t[i], t[leave])]
        f = z[enter]
        z = [v - f * w for v, w in zip(z, t[leave])]
        basis[leave] = enter


def number(text, otherwise=None):
    return Fraction(float(text)) if text not in ("", None) else otherwise


def read(cluster, allocation):
    gpus, price = {}, {}
    for row in csv.DictReader(open(cluster)):
        gpus[row["gpu_type"]] = Fraction(int(row["gpus"]))
        price[row["gpu_type"]] = number(row.get("usd_per_h"), Fraction(0))
    jobs, pairs = {}, []
    for row in csv.DictReader(open(allocation)):
        job = jobs.setdefault(row["job_id"], {
            "s": int(row.get("scale_factor") or 1),
            "w": number(row.get("priority_weight"), Fraction(1)),
            "n": number(row.get("steps_remaining"), number(row.get("total_steps"), Fraction(0))),
            "e": number(row.get("elapsed_s"), Fraction(0)),
            "h": number(row.get("isolated_elapsed_s"), Fraction(0)),
            "t": number(row.get("arrival_s"), Fraction(0)), "T": {}, "x": {}})
        kind, rate = row["gpu_type"], number(row["steps_per_s"])
        if row.get("with_job_id"):
            pairs.append((row["job_id"], row["with_job_id"], kind, rate,
                          number(row["with_steps_per_s"]), number(row["share"])))
            continue
        if kind in gpus and rate > 0 and job["s"] <= gpus[kind]:
            job["T"][kind] = rate
            job["x"][kind] = number(row["share"])
        elif float(row["share"]) != 0:
            sys.exit("a share where the job cannot run")
    order = {name: n for n, name in enumerate(n for n, j in jobs.items() if j["T"])}
    pairs = [(order[a], order[b], *rest) for a, b, *rest in pairs
             if a in order and b in order and rest[1] > 0 and rest[2] > 0 and
             jobs[a]["s"] <= gpus.get(rest[0], 0)]
    return gpus, price, [j for j in jobs.values() if j["T"]], pairs


def base(jobs, pairs, gpus, first):
    """Columns x_ij behind the first ones, then those of pairs; rows of time and of GPUs."""
    at = {(i, k): first + n for n, (i, k) in
          enumerate((i, k) for i, j in enumerate(jobs) for k in j["T"])}
    behind = first + len(at)
    width = behind + len(pairs)
    rows, b = [], []
    for i, job in enumerate(jobs):
        rows.append([Fraction(int(any(at[i, k] == c for k in job["T"]) or
                                  (c >= behind and i in pairs[c - behind][:2])))
                     for c in range(width)])
        b.append(Fraction(1))
    for k in gpus:
        row = [Fraction(0)] * width
        for i, job in enumerate(jobs):
            if k in job["T"]:
                row[at[i, k]] = Fraction(job["s"])
        for c, pair in enumerate(pairs):
            if pair[2] == k:
                row[behind + c] = Fraction(jobs[pair[0]]["s"])
        rows.append(row)
        b.append(gpus[k])
    return at, width, rows, b


def best_level(jobs, pairs, gpus, asks):
    """max t, thr_i >= t asks_i"""
    at, width, rows, b = base(jobs, pairs, gpus, 1)
    for i, job in enumerate(jobs):
        row = [Fraction(0)] * width
        row[0] = asks[i]
        for k, rate in job["T"].items():
            row[at[i, k]] = -rate
        for c, pair in enumerate(pairs):
            if i in pair[:2]:
                row[width - len(pairs) + c] = -pair[3 + pair[:2].index(i)]
        rows.append(row)
        b.append(Fraction(0))
    return simplex([Fraction(1)] + [Fraction(0)] * (width - 1), rows, b)


def best_sum(jobs, pairs, gpus, gain):
    at, width, rows, b = base(jobs, pairs, gpus, 0)
    cost = [Fraction(0)] * width
    for (i, k), c in at.items():
        cost[c] = gain(i, jobs[i], k, jobs[i]["T"][k])
    for c, (i, j, k, rate, other, _) in enumerate(pairs):
        cost[width - len(pairs) + c] = gain(i, jobs[i], k, rate) + gain(j, jobs[j], k, other)
    return simplex(cost, rows, b)


def main(policy, cluster, allocation, said):
    gpus, price, jobs, pairs = read(cluster, allocation)
    said = open(said).read()
    objective, bound = (Fraction(float(re.search(f" {w}=(\\S+)", said).group(1)))
                        for w in ("objective", "bound"))
    gap = Fraction(float(re.search(" gap=(\\S+)", said).group(1)))
    if "certified=yes" not in said:
        sys.exit("not certified")
    for i, job in enumerate(jobs):
        shared = [pair[5] for pair in pairs if i in pair[:2]]
        if min(job["x"].values()) < 0 or sum(job["x"].values()) + sum(shared) > 1:
            sys.exit("more than all the time")
    for k in gpus:
        if sum(j["s"] * j["x"].get(k, 0) for j in jobs) + \
                sum(jobs[q[0]]["s"] * q[5] for q in pairs if q[2] == k) > gpus[k]:
            sys.exit("more than all GPUs of " + k)
    thr = [sum(j["T"][k] * j["x"][k] for k in j["T"]) for j in jobs]
    for i, j, k, rate, other, x in pairs:
        thr[i] += rate * x
        thr[j] += other * x
    least = policy in ("makespan", "finish-time")
    total = sum(gpus.values())
    if policy == "max-min":
        asks = [j["w"] * sum(j["T"][k] * gpus[k] for k in j["T"]) / (total * j["s"]) for j in jobs]
        value = min(v / a for v, a in zip(thr, asks))
        best = best_level(jobs, pairs, gpus, asks)
    elif policy == "makespan":
        value = max(j["n"] / v for j, v in zip(jobs, thr))
        best = 1 / best_level(jobs, pairs, gpus, [j["n"] for j in jobs])
    elif policy == "finish-time":
        alone = []
        for j in jobs:
            parts = sum(gpus[k] for k in j["T"])
            q = sum(j["T"][k] * gpus[k] for k in j["T"])
            alone.append(j["h"] + j["n"] * max(len(jobs) * j["s"], parts) / q)
        value = max((j["e"] + j["n"] / v) / d for j, v, d in zip(jobs, thr, alone))

        def reaches(r):
            left = [r * d - j["e"] for j, d in zip(jobs, alone)]
            if min(left) <= 0:
                return False
            return best_level(jobs, pairs, gpus, [j["n"] / v for j, v in zip(jobs, left)]) >= 1
        if reaches(bound) and not reaches(bound * (1 - Fraction(1, 10**15))):
            sys.exit("the bound can be reached")
        if reaches(bound * (1 - Fraction(1, 10**9))):
            sys.exit("what is under the bound can be reached")
        best = value if reaches(value) else bound
    else:
        queue = sorted(range(len(jobs)), key=lambda i: (jobs[i]["t"], i))
        place = {i: n for n, i in enumerate(queue)}
        gain = {
            "max-sum": lambda i, j, k, rate: rate,
            "min-cost+per-dollar": lambda i, j, k, rate: rate * 3600 / price[k],
            "fifo": lambda i, j, k, rate: (len(jobs) - place[i]) * rate / max(j["T"].values()),
        }
        if policy == "min-cost":
            cost = sum(j["s"] * price[k] * j["x"][k] for j in jobs for k in j["T"]) / 3600
            value = sum(thr) / cost
            best = max(3600 * j["T"][k] / (j["s"] * price[k]) for j in jobs for k in j["T"])
        else:
            g = gain[policy]
            value = sum(g(i, j, k, j["T"][k]) * j["x"][k] for i, j in enumerate(jobs) for k in j["T"])
            value += sum((g(i, jobs[i], k, a) + g(j, jobs[j], k, b)) * x for i, j, k, a, b, x in pairs)
            best = best_sum(jobs, pairs, gpus, g)
    if (value > objective or best < bound) if least else (value < objective or best > bound):
        sys.exit(f"claims more than is true: {float(value)!r} {float(best)!r}")
    if abs(value - objective) > abs(value) * Fraction(1, 10**15):
        sys.exit(f"the objective is {float(value)!r}")
    if abs(best - value) / max(best, value) > gap * Fraction(11, 10) + Fraction(1, 10**18):
        sys.exit(f"the gap is wider: {float(abs(best - value) / max(best, value))!r}")


main(*sys.argv[1:])

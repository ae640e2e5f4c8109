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
    jobs = {}
    for row in csv.DictReader(open(allocation)):
        job = jobs.setdefault(row["job_id"], {
            "s": int(row.get("scale_factor") or 1),
            "w": number(row.get("priority_weight"), Fraction(1)),
            "n": number(row.get("steps_remaining"), number(row.get("total_steps"), Fraction(0))),
            "e": number(row.get("elapsed_s"), Fraction(0)),
            "h": number(row.get("isolated_elapsed_s"), Fraction(0)),
            "t": number(row.get("arrival_s"), Fraction(0)), "T": {}, "x": {}})
        kind, rate = row["gpu_type"], number(row["steps_per_s"])
        if kind in gpus and rate > 0 and job["s"] <= gpus[kind]:
            job["T"][kind] = rate
            job["x"][kind] = number(row["share"])
        elif float(row["share"]) != 0:
            sys.exit("a share where the job cannot run")
    return gpus, price, [j for j in jobs.values() if j["T"]]


def base(jobs, gpus, first):
    """Columns x_ij behind the first ones; rows of time and of GPUs."""
    at = {(i, k): first + n for n, (i, k) in
          enumerate((i, k) for i, j in enumerate(jobs) for k in j["T"])}
    width = first + len(at)
    rows, b = [], []
    for i, job in enumerate(jobs):
        rows.append([Fraction(int(any(at[i, k] == c for k in job["T"]))) for c in range(width)])
        b.append(Fraction(1))
    for k in gpus:
        row = [Fraction(0)] * width
        for i, job in enumerate(jobs):
            if k in job["T"]:
                row[at[i, k]] = Fraction(job["s"])
        rows.append(row)
        b.append(gpus[k])
    return at, width, rows, b


def best_level(jobs, gpus, asks):
    """max t, thr_i >= t asks_i"""
    at, width, rows, b = base(jobs, gpus, 1)
    for i, job in enumerate(jobs):
        row = [Fraction(0)] * width
        row[0] = asks[i]
        for k, rate in job["T"].items():
            row[at[i, k]] = -rate
        rows.append(row)
        b.append(Fraction(0))
    return simplex([Fraction(1)] + [Fraction(0)] * (width - 1), rows, b)


def best_sum(jobs, gpus, gain):
    at, width, rows, b = base(jobs, gpus, 0)
    cost = [Fraction(0)] * width
    for (i, k), c in at.items():
        cost[c] = gain(i, jobs[i], k)
    return simplex(cost, rows, b)


def main(policy, cluster, allocation, said):
    gpus, price, jobs = read(cluster, allocation)
    said = open(said).read()
    objective, bound = (Fraction(float(re.search(f" {w}=(\\S+)", said).group(1)))
                        for w in ("objective", "bound"))
    gap = Fraction(float(re.search(" gap=(\\S+)", said).group(1)))
    if "certified=yes" not in said:
        sys.exit("not certified")
    for job in jobs:
        if min(job["x"].values()) < 0 or sum(job["x"].values()) > 1:
            sys.exit("more than all the time")
    for k in gpus:
        if sum(j["s"] * j["x"].get(k, 0) for j in jobs) > gpus[k]:
            sys.exit("more than all GPUs of " + k)
    thr = [sum(j["T"][k] * j["x"][k] for k in j["T"]) for j in jobs]
    least = policy in ("makespan", "finish-time")
    total = sum(gpus.values())
    if policy == "max-min":
        asks = [j["w"] * sum(j["T"][k] * gpus[k] for k in j["T"]) / (total * j["s"]) for j in jobs]
        value = min(v / a for v, a in zip(thr, asks))
        best = best_level(jobs, gpus, asks)
    elif policy == "makespan":
        value = max(j["n"] / v for j, v in zip(jobs, thr))
        best = 1 / best_level(jobs, gpus, [j["n"] for j in jobs])
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
            return best_level(jobs, gpus, [j["n"] / v for j, v in zip(jobs, left)]) >= 1
        if reaches(bound) and not reaches(bound * (1 - Fraction(1, 10**15))):
            sys.exit("the bound can be reached")
        if reaches(bound * (1 - Fraction(1, 10**9))):
            sys.exit("what is under the bound can be reached")
        best = value if reaches(value) else bound
    else:
        queue = sorted(range(len(jobs)), key=lambda i: (jobs[i]["t"], i))
        place = {i: n for n, i in enumerate(queue)}
        gain = {
            "max-sum": lambda i, j, k: j["T"][k],
            "min-cost+per-dollar": lambda i, j, k: j["T"][k] * 3600 / price[k],
            "fifo": lambda i, j, k: (len(jobs) - place[i]) * j["T"][k] / max(j["T"].values()),
        }
        if policy == "min-cost":
            cost = sum(j["s"] * price[k] * j["x"][k] for j in jobs for k in j["T"]) / 3600
            value = sum(thr) / cost
            best = max(3600 * j["T"][k] / (j["s"] * price[k]) for j in jobs for k in j["T"])
        else:
            g = gain[policy]
            value = sum(g(i, j, k) * j["x"][k] for i, j in enumerate(jobs) for k in j["T"])
            best = best_sum(jobs, gpus, g)
    if (value > objective or best < bound) if least else (value < objective or best > bound):
        sys.exit(f"claims more than is true: {float(value)!r} {float(best)!r}")
    if abs(value - objective) > abs(value) * Fraction(1, 10**15):
        sys.exit(f"the objective is {float(value)!r}")
    if abs(best - value) / max(best, value) > gap * Fraction(11, 10) + Fraction(1, 10**18):
        sys.exit(f"the gap is wider: {float(abs(best - value) / max(best, value))!r}")


main(*sys.argv[1:])

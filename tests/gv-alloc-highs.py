"""gv-alloc-highs.py CLUSTER RATES: the max-min level by scipy's HiGHS, from the tables alone.

With --time also the seconds that the solver took."""
import csv
import sys
import time

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

cluster = {r["gpu_type"]: int(r["gpus"]) for r in csv.DictReader(open(sys.argv[1]))}
types = list(cluster)
gpus = sum(cluster.values())
jobs = {}
for r in csv.DictReader(open(sys.argv[2])):
    job = jobs.setdefault(
        r["job_id"],
        {
            "s": int(r.get("scale_factor") or 1),
            "w": float(r.get("priority_weight") or 1),
            "T": {},
        },
    )
    job["T"][r["gpu_type"]] = float(r["steps_per_s"])
rows, cols, vals, rhs = [], [], [], []


def entry(row, col, val):
    rows.append(row)
    cols.append(col)
    vals.append(val)


n, m = len(jobs), len(types)
for i, job in enumerate(jobs.values()):
    usable = {t: v for t, v in job["T"].items() if v > 0 and cluster.get(t, 0) >= job["s"]}
    # a yardstick: also of types that have too few GPUs for the job
    equal = sum(v * cluster.get(t, 0) for t, v in job["T"].items()) / gpus
    entry(m + 2 * i, n * m, 1)
    for j, t in enumerate(types):
        if t in usable:
            entry(m + 2 * i, i * m + j, -job["s"] * usable[t] / (job["w"] * equal))
        entry(m + 2 * i + 1, i * m + j, 1)
        entry(j, i * m + j, job["s"])
rhs = [cluster[t] for t in types] + [0, 1] * n
c = np.zeros(n * m + 1)
c[-1] = -1
a = coo_matrix((vals, (rows, cols)), shape=(m + 2 * n, n * m + 1)).tocsr()
start = time.monotonic()
res = linprog(
    c, A_ub=a, b_ub=rhs, method="highs-ds",
    options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
)
took = time.monotonic() - start
assert res.status == 0, res.message
print(repr(float(-res.fun)), *(["%.6f" % took] if "--time" in sys.argv else []))

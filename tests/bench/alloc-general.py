"""alloc-general.py PROGRAM.mps: a linear program (free MPS, to be maximised) by general solvers.

Prints a line each: name, objective, seconds of the solver alone; cvxpy's include what it
does before its default solver starts.  A solver that is not installed has no line."""
import sys
import time

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix


def read(path):
    rows, kind, entries, rhs, cols, section = {}, [], [], {}, {}, ""
    ranges, lo, hi, cost_row = {}, {}, {}, None
    for line in open(path):
        if line[0] == "*" or not line.strip():
            continue
        word = line.split()
        if line[0] != " ":
            section = word[0]
            continue
        if section == "ROWS":
            if word[0] == "N":
                cost_row = cost_row or word[1]
            else:
                rows[word[1]] = len(rows)
                kind.append(word[0])
            continue
        if section == "BOUNDS":
            cols.setdefault(word[2], len(cols))
            value = float(word[3]) if len(word) > 3 else 0
            if word[0] in ("UP", "FX"):
                hi[word[2]] = value
            if word[0] in ("LO", "FX"):
                lo[word[2]] = value
            continue
        pairs = word[1:] if len(word) % 2 else word
        first = word[0]
        for name, value in zip(pairs[0::2], pairs[1::2]):
            if section == "COLUMNS":
                entries.append((name, cols.setdefault(first, len(cols)), float(value)))
            elif section == "RHS":
                rhs[name] = float(value)
            elif section == "RANGES":
                ranges[name] = float(value)
    assert not ranges, "ranges are not read"
    cost = np.zeros(len(cols))
    r, c, v = [], [], []
    for name, col, value in entries:
        if name == cost_row:
            cost[col] = value
        else:
            r.append(rows[name])
            c.append(col)
            v.append(value)
    a = csr_matrix((v, (r, c)), shape=(len(rows), len(cols)))
    b = np.array([rhs.get(name, 0.0) for name in rows])
    bounds = [(lo.get(name, 0), hi.get(name)) for name in cols]
    return cost, a, b, np.array(kind), bounds


cost, a, b, kind, bounds = read(sys.argv[1])
less, more, equal = kind == "L", kind == "G", kind == "E"
sign = np.where(more, -1.0, 1.0)
unequal = less | more
a_ub = a[unequal].multiply(sign[unequal][:, None]).tocsr()
b_ub = (b * sign)[unequal]
a_eq, b_eq = a[equal], b[equal]
for name, method in (("HiGHS-simplex", "highs-ds"), ("HiGHS-interior", "highs-ipm")):
    start = time.monotonic()
    res = linprog(
        -cost, a_ub, b_ub, a_eq if equal.any() else None, b_eq if equal.any() else None,
        bounds, method=method,
    )
    took = time.monotonic() - start
    if res.status == 0:
        print(name, repr(float(-res.fun)), "%.6f" % took)
try:
    import cvxpy as cp
except ImportError:
    sys.exit()
x = cp.Variable(len(cost))
limits = [a_ub @ x <= b_ub, x >= np.array([lo for lo, hi in bounds])]
if equal.any():
    limits.append(a_eq @ x == b_eq)
upper = [j for j, (lo, hi) in enumerate(bounds) if hi is not None]
if upper:
    limits.append(x[upper] <= np.array([bounds[j][1] for j in upper]))
problem = cp.Problem(cp.Maximize(cost @ x), limits)
start = time.monotonic()
problem.solve()
took = time.monotonic() - start
if problem.status == cp.OPTIMAL:
    print("CVXPY", repr(float(problem.value)), "%.6f" % took)

"""gv-alloc-lp.py FILE...: the optima by scipy's HiGHS of programs that gv-alloc --dump-lp wrote."""
import re
import sys

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix


def terms(text):
    """{name: coefficient} of "+ 2 x - 3 y"."""
    return {
        name: float(value) * (-1 if sign == "-" else 1)
        for sign, value, name in re.findall(r"([+-]) +(\S+) +(\S+)", text)
    }


def optimum(path):
    section, cost, maximise, rows = "", {}, False, []
    for line in open(path).read().replace("\n  ", " ").split("\n"):
        if not line or line.startswith("\\"):
            continue
        if not line.startswith(" "):
            section = line
            maximise = maximise or line == "Maximize"
        elif section in ("Maximize", "Minimize"):
            cost = terms(line.split(":", 1)[1])
        elif section == "Subject To":
            body, sense, rhs = re.match(r" [^:]+: (.*) +(<=|>=|=) +(\S+)$", line).groups()
            rows.append((terms(body), sense, float(rhs)))
        else:
            raise SystemExit("not understood: " + section + ": " + line)
    names = {}
    for row, _, _ in rows:
        for name in row:
            names.setdefault(name, len(names))
    for name in cost:
        names.setdefault(name, len(names))
    sign = -1 if maximise else 1
    c = np.zeros(len(names))
    for name, value in cost.items():
        c[names[name]] = sign * value
    parts = {"<=": ([], [], [], []), "=": ([], [], [], [])}
    for row, sense, rhs in rows:
        flip = -1 if sense == ">=" else 1
        i, j, v, b = parts["=" if sense == "=" else "<="]
        for name, value in row.items():
            i.append(len(b))
            j.append(names[name])
            v.append(flip * value)
        b.append(flip * rhs)

    def matrix(part):
        i, j, v, b = part
        return (coo_matrix((v, (i, j)), shape=(len(b), len(names))).tocsr(), b) if b else (None, None)

    a_ub, b_ub = matrix(parts["<="])
    a_eq, b_eq = matrix(parts["="])
    scale = np.max(np.abs(c))
    res = linprog(
        c / scale, A_ub=a_ub, b_ub=b_ub, A_eq=a_eq, b_eq=b_eq, method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert res.status == 0, res.message
    return float(sign * res.fun * scale)


for file in sys.argv[1:]:
    print(repr(optimum(file)))

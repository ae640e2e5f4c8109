"""gv-alloc-fair.py FIRST END: random clusters, jobs and entities, answered by gv-alloc and judged by HiGHS.

Draws have nodes that jobs name, gangs, weights, minimum shares, deadlines, entities in entities with
quotas, and an allocation to stay close to.  Programs are made from the draw alone: the policies' objectives
and the sums that come second, water-filling step by step, and the least that has to move.  Each
seed of FIRST..END-1 is one draw; what differs is printed, a line each; the last line counts draws and answers.
"""
import csv
import io
import math
import random
import subprocess
import sys

import numpy as np
from scipy.optimize import linprog

EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


# ---- a draw ----
def draw_entities(r, gpus):
    """[[parent or None, weight, quota or None]]; quotas of parts fit into those of wholes."""
    ents = []
    for e in range(r.randint(1, 6) if r.random() < 0.6 else 0):
        parent = r.randrange(e) if e and r.random() < 0.6 else None
        ents.append([parent, r.choice([0.5, 1, 2, 3]), r.choice([None, None, 0.3, 0.5, 1])])
    for e in reversed(range(len(ents))):
        if ents[e][2] is not None:
            ents[e][2] = max(ents[e][2], sum(q or 0 for p, _, q in ents if p == e))
    open_whole = any(p is not None and ents[p][2] is None and q for p, _, q in ents)
    if open_whole or sum(q or 0 for p, _, q in ents if p is None) > gpus:
        ents = [[p, w, None] for p, w, _ in ents]
    return ents


class Draw:
    def __init__(self, seed):
        r = random.Random(seed)
        self.n, self.m = r.randint(1, 7), r.randint(1, 3)
        self.nodes = r.choice([0, 0, 2, 3])
        k = max(self.nodes, 1)
        self.cap = [[r.randint(0, 5) if k > 1 else r.randint(1, 5) for _ in range(k)] for _ in range(self.m)]
        for row in self.cap:
            row[0] += sum(row) == 0
        self.total = [sum(row) for row in self.cap]
        self.price = [r.choice([1, 2, 3.5]) for _ in range(self.m)]
        self.ents = draw_entities(r, sum(self.total))
        self.jobs = [self.draw_job(r, k) for _ in range(self.n)]
        self.before = [[r.choice([0, 0, 0.3, 0.5, r.random()]) for _ in range(self.m)] for _ in range(self.n)]
        self.before = [[x / max(1, sum(row)) for x in row] for row in self.before]
        self.stay = r.choice([0, 0.05, 0.3])
        self.solver = r.choice([[], [], ["--solver=glpk"], ["--solver=price"], ["--solver=interior"], ["--certify"]])

    def draw_job(self, r, k):
        rate = [0 if r.random() < 0.2 else r.choice([1, 2, 3, 5, 10, r.uniform(0.1, 20)]) for _ in range(self.m)]
        rate[0] = rate[0] if any(rate) else 4
        j = {"s": r.choice([1, 1, 1, 2, 3]), "w": r.choice([1, 1, 2, 0.5]), "rate": rate, "node": r.randrange(k)}
        j |= {"ent": r.randrange(-1, len(self.ents)) if self.ents else -1, "cost": r.choice([0, 1, 2])}
        j |= {"steps": r.randint(10, 1000), "arrival": r.choice([0, 5]), "elapsed": r.choice([0, 20])}
        j["min"] = max(rate) * r.uniform(0.02, 0.5) if r.random() < 0.25 else None
        left = j["steps"] / (max(rate) * r.uniform(0.02, 0.5))
        j["deadline"] = j["arrival"] + j["elapsed"] + left if r.random() < 0.2 else None
        j["P"] = sum(x * g for x, g in zip(rate, self.total)) / sum(self.total)
        j["f"] = j["s"] / j["P"]
        j["alone"] = r.choice([0, 0, 15])
        j["need"] = j["min"] or 0
        if j["deadline"] is not None:
            j["need"] = max(j["need"], j["steps"] / (j["deadline"] - j["arrival"] - j["elapsed"]))
        return j

    def gpus(self, i, t):
        """GPUs of type t that job i can have."""
        return self.cap[t][self.jobs[i]["node"]] if self.nodes else self.total[t]

    def write(self):
        def table(path, head, rows):
            with open(path, "w") as f:
                for row in [head.split(",")] + rows:
                    print(*("" if x is None else x for x in row), sep=",", file=f)

        own = [[f"t{t}", self.cap[t][k], self.price[t]] + ([f"n{k}"] if self.nodes else [])
               for t in range(self.m) for k in range(len(self.cap[t]))]
        table("cluster.csv", "gpu_type,gpus,usd_per_h" + (",node" if self.nodes else ""), own)
        table("entities.csv", "entity,parent,weight,quota_gpus",
              [[f"e{e}", None if p is None else f"e{p}", w, q] for e, (p, w, q) in enumerate(self.ents)])
        head = "job_id,gpu_type,steps_per_s,scale_factor,priority_weight,entity,min_steps_per_s,deadline_s"
        head += ",arrival_s,elapsed_s,isolated_elapsed_s,total_steps,move_cost"
        rows = {(i, t): [f"j{i}", f"t{t}", j["rate"][t], j["s"], j["w"], f"e{j['ent']}" if j["ent"] >= 0 else None,
                         j["min"], j["deadline"], j["arrival"], j["elapsed"], j["alone"], j["steps"], j["cost"]]
                for i, j in enumerate(self.jobs) for t in range(self.m) if j["rate"][t]}
        table("free.csv", head, list(rows.values()))
        table("before.csv", head + ",share", [row + [self.before[i][t]] for (i, t), row in rows.items()])
        named = [row + [f"n{self.jobs[i]['node']}"] for (i, t), row in rows.items()]
        table("rates.csv", head + (",node" if self.nodes else ""), named if self.nodes else list(rows.values()))


# ---- its linear programs ----
class Program:
    """Of the shares x of a draw, and one column more."""

    def __init__(self, d):
        self.d = d
        self.at = {}
        for i, j in enumerate(d.jobs):
            for t in range(d.m):
                if j["rate"][t] and d.gpus(i, t) >= j["s"]:
                    self.at[i, t] = len(self.at)
        self.can = [any((i, t) in self.at for t in range(d.m)) for i in range(d.n)]
        self.live = [i for i in range(d.n) if self.can[i]]
        self.thr = [self.row(lambda k, t, i=i: d.jobs[i]["rate"][t] * (k == i)) for i in range(d.n)]
        self.rows = [(self.row(lambda k, t, i=i: k == i), 1) for i in range(d.n)]
        for t in range(d.m):
            for node, cap in enumerate(d.cap[t] if d.nodes else [d.total[t]]):
                own = self.row(lambda k, u, t=t, node=node: d.jobs[k]["s"] * (
                    u == t and (not d.nodes or d.jobs[k]["node"] == node)))
                self.rows.append((own, cap))

    def row(self, value, last=0):
        row = np.zeros(len(self.at) + 1)
        for (i, t), k in self.at.items():
            row[k] = value(i, t)
        row[-1] = last
        return row

    def best(self, c, least, extra=()):
        """The largest c x while job i makes least[i] steps/s; None: there are no such x."""
        rows = self.rows + list(extra)
        for i, x in enumerate(least):
            if x > 0 and not self.can[i]:
                return None
            if x > 0:
                rows.append((-self.thr[i] / self.thr[i].max(), -x / self.thr[i].max()))
        res = linprog(-c, A_ub=np.array([a for a, _ in rows]), b_ub=[b for _, b in rows],
                      method="highs-ds", options=EXACT)
        return None if res.status else -res.fun

    def level(self, unit, least):
        """The largest l with thr_i >= unit[i] l for all that can run."""
        extra = [(-self.thr[i] / unit[i] + self.row(lambda k, t: 0, 1), 0) for i in self.live]
        return self.best(self.row(lambda k, t: 0, 1), least, extra)

    def broken(self, x):
        if (x < 0).any() or any(x[i][t] > 0 and (i, t) not in self.at for i, t in np.ndindex(x.shape)):
            return True
        flat = self.row(lambda i, t: x[i][t])
        return any(a @ flat > b + 1e-9 for a, b in self.rows)

    def least_moved(self, least):
        """The smallest distance from the allocation before."""
        d, n = self.d, len(self.at)
        cost, a, b, gone = np.zeros(2 * n), [], [], 0
        for row, rhs in self.rows:
            a.append(np.append(row[:-1], np.zeros(n)))
            b.append(rhs)
        for i in self.live:
            a.append(np.append(-self.thr[i][:-1], np.zeros(n)))
            b.append(-least[i] * (1 - 1e-12))
            for t in range(d.m):
                half = d.jobs[i]["cost"] * d.jobs[i]["s"] / 2
                if (i, t) not in self.at:
                    gone += half * d.before[i][t] * (d.jobs[i]["rate"][t] > 0)
                    continue
                k = self.at[i, t]
                cost[n + k] = half
                for sign in (1, -1):
                    row = np.zeros(2 * n)
                    row[k], row[n + k] = sign, -1
                    a.append(row)
                    b.append(sign * d.before[i][t])
        res = linprog(cost, A_ub=np.array(a), b_ub=b, method="highs-ds")
        return None if res.status else res.fun + gone


# ---- water-filling, step by step ----
class Filling:
    """v_i = s_i thr_i / P_i over the tree of entities: each item of a node has max(what it had, w l) for one l."""

    def __init__(self, g):
        d = g.d
        self.g, self.jobs = g, d.jobs
        self.have = [j["need"] * j["f"] if g.can[i] else 0 for i, j in enumerate(d.jobs)]
        self.most = [max([j["rate"][t] for t in range(d.m) if (i, t) in g.at], default=0) * j["f"]
                     for i, j in enumerate(d.jobs)]
        self.frozen = [not c for c in g.can]
        self.node = {e: tuple(x) for e, x in enumerate(d.ents)}
        self.items = {e: [("node", k) for k, x in enumerate(d.ents) if x[0] == e] for e in self.node}
        wholes = {e for e in self.node if self.items[e]}
        for i, j in enumerate(d.jobs):
            e = j["ent"]
            if e < 0 or e in wholes:
                own = ("own", e)  # those of no entity, or of one that has parts
                if own not in self.node:
                    self.node[own] = (e if e >= 0 else None, 1, None)
                    self.items[own] = []
                    if e >= 0:
                        self.items[e].append(("node", own))
                e = own
            self.items[e].append(("job", i))

    def inside(self, e):
        for kind, x in self.items[e]:
            yield from [x] if kind == "job" else self.inside(x)

    def depth(self, e):
        return 0 if self.node[e][0] is None else 1 + self.depth(self.node[e][0])

    def item(self, kind, x, level):
        own = [x] if kind == "job" else list(self.inside(x))
        w = self.jobs[x]["w"] if kind == "job" else self.node[x][1]
        most = sum(self.have[i] if self.frozen[i] else self.most[i] for i in own)
        return min(max(sum(self.have[i] for i in own), w * level), most)

    def spread(self, e, amount, v):
        lo, hi = 0, 1

        def taken(level):
            return sum(self.item(*it, level) for it in self.items[e])

        while taken(hi) < amount - 1e-15 and hi < 1e9:
            hi *= 2
        for _ in range(70):
            mid = (lo + hi) / 2
            lo, hi = (mid, hi) if taken(mid) < amount else (lo, mid)
        for kind, x in self.items[e]:
            if kind == "job":
                v[x] = self.item(kind, x, hi)
            else:
                self.spread(x, self.item(kind, x, hi), v)

    def at(self, roots, time):
        v = list(self.have)
        for e, speed in roots:
            self.spread(e, max(sum(self.have[i] for i in self.inside(e)), speed * time), v)
        return v

    def steps(self, v, less):
        return [x / j["f"] * (1 - less) for x, j in zip(v, self.jobs)]

    def possible(self, v):
        return self.g.best(np.zeros(len(self.g.at) + 1), self.steps(v, 1e-11)) is not None

    def stuck(self, i, tolerance):
        """Job i can only rise at the cost of what others have."""
        most = self.g.best(self.g.thr[i] * self.jobs[i]["f"], self.steps(self.have, 1e-9))
        return most is None or most < self.have[i] + tolerance * max(self.have[i], 0.01)

    def stage(self, roots, limit):
        """Until time limit, or all are frozen; then those are free again."""
        frozen, time = self.frozen, 0
        self.frozen = list(frozen)
        inside = [i for e, _ in roots for i in self.inside(e)]
        while act := [i for i in inside if not self.frozen[i] and self.have[i] < self.most[i] * (1 - 1e-9)]:
            lo, hi = time, min(limit, 2 * time + 1)
            while self.possible(v := self.at(roots, hi)):
                if hi == limit or all(v[i] >= self.most[i] * (1 - 1e-12) for i in act):
                    self.have, lo = v, None
                    break
                lo, hi = hi, min(limit, 2 * hi)
            if lo is None:
                break
            while hi - lo > 1e-11 * hi:
                mid = (lo + hi) / 2
                lo, hi = (mid, hi) if self.possible(self.at(roots, mid)) else (lo, mid)
            time, self.have = lo, self.at(roots, lo)
            tolerance, now = 1e-6, []
            while not now:
                now = [i for i in act if self.stuck(i, tolerance)]
                tolerance *= 10
            for i in now:
                self.frozen[i] = True
        self.frozen = frozen

    def levels(self):
        quotas = [e for e in self.node if self.node[e][2]]
        for depth in sorted({self.depth(e) for e in quotas}, reverse=True):
            self.stage([(e, self.node[e][2]) for e in quotas if self.depth(e) == depth], 1)
        self.stage([(e, x[1]) for e, x in self.node.items() if x[0] is None], math.inf)
        return self.have


# ---- gv-alloc's answers ----
class Judge:
    def __init__(self, seed):
        self.seed, self.answers, self.wrong = seed, 0, 0
        self.d = Draw(seed)
        self.d.write()
        self.g = Program(self.d)
        self.need = [j["need"] for j in self.d.jobs]

    def same(self, what, got, want, tolerance=1e-7):
        if not abs(got - want) <= tolerance * max(abs(want), 0.05):
            self.wrong += 1
            print(f"seed {self.seed}: {what}: {got:.10g} instead of {want:.10g}", flush=True)

    def ask(self, policy, *options, status=0):
        """(shares, throughputs, words of -v, the table), None when the status is another or they cannot be."""
        own = ["--entities=entities.csv"] if policy == "water-filling" and self.d.ents else []
        p = subprocess.run(["gv-alloc", "-qv", "-p", policy, "-c", "cluster.csv", *own, *options],
                           capture_output=True, text=True, timeout=60)
        self.answers += 1
        self.same(f"{policy} {options}: status {p.stderr}", p.returncode, status)
        if p.returncode or status:
            return None
        x, named = np.zeros((self.d.n, self.d.m)), {}
        for row in csv.DictReader(io.StringIO(p.stdout)):
            x[int(row["job_id"][1:]), int(row["gpu_type"][1:])] = float(row["share"])
            named[int(row["job_id"][1:])] = int((row.get("node") or "n0")[1:])
        if self.d.nodes:
            for i, node in named.items():
                self.d.jobs[i]["node"] = node
            self.g = Program(self.d)
        self.same(f"{policy} {options}: not possible", self.g.broken(x), False)
        thr = [sum(x[i] * self.d.jobs[i]["rate"]) for i in range(self.d.n)]
        for i in range(self.d.n):
            self.same(f"{policy} {options}: need of j{i}", min(thr[i], self.need[i]), self.need[i])
        words = dict(w.split("=", 1) for w in p.stderr.split() if "=" in w)
        return x, thr, words, p.stdout

    def times_alone(self):
        """In a cluster of their own, the n-th part of this one, whose nodes do not count."""
        d, jobs = self.d, len(self.g.live)
        for j in d.jobs:
            x = [d.total[t] / jobs / j["s"] if j["rate"][t] and d.total[t] >= j["s"] else 0 for t in range(d.m)]
            own = sum(a * b for a, b in zip(x, j["rate"])) / max(1, sum(x))
            yield j["alone"] + j["steps"] / own if own else math.inf

    def judge_ratio(self, thr, said):
        """finish-time: what is said is reached, and nothing a little less can be."""
        g, jobs, alone = self.g, self.d.jobs, list(self.times_alone())
        ratio = max((jobs[i]["elapsed"] + jobs[i]["steps"] / thr[i]) / alone[i] for i in g.live)
        self.same("finish-time: as said", float(said), ratio)
        left = [ratio * (1 - 1e-6) * a - j["elapsed"] for a, j in zip(alone, jobs)]
        if all(left[i] > 0 for i in g.live):
            unit = [j["steps"] / x if x > 0 else 0 for x, j in zip(left, jobs)]
            best = g.level(unit, self.need)
            self.same("finish-time: less is possible", max(best or 0, 1), 1)

    def judge(self, policy, thr, x):
        """What a policy aims for, of the draw as its jobs stand on nodes now."""
        d, g, jobs = self.d, self.g, self.d.jobs
        level = [t * j["f"] for t, j in zip(thr, jobs)]
        if policy in ("max-min", "makespan"):
            unit = [j["w"] / j["f"] if policy == "max-min" else j["steps"] for j in jobs]
            best = g.level(unit, self.need)
            self.same(policy, min(thr[i] / unit[i] for i in g.live), best)
            least = [max(self.need[i], unit[i] * best * (1 - 1e-11)) * g.can[i] for i in range(d.n)]
            second = g.best(sum(g.thr[i] * jobs[i]["f"] for i in g.live), least)
            self.same(policy + ": second sum", sum(level[i] for i in g.live), second, 1e-6)
        elif policy == "max-sum":
            self.same(policy, sum(thr), g.best(sum(g.thr), self.need))
        elif policy == "min-cost+per-dollar":
            value = g.row(lambda i, t: jobs[i]["rate"][t] / d.price[t])
            self.same(policy, value @ g.row(lambda i, t: x[i][t]), g.best(value, self.need))
        elif policy == "water-filling":
            for i, v in enumerate(Filling(g).levels()):
                self.same(f"{policy}: level of j{i}", level[i], v, 1e-4)

    def staying(self, policy):
        """--previous and --stay: nobody slower than allowed, as little moved as can be, and said so."""
        d, solver = self.d, [o for o in self.d.solver if o != "--certify"]
        best = self.ask(policy, *solver, "rates.csv")
        got = self.ask(policy, *solver, "--previous=before.csv", f"--stay={d.stay}", "rates.csv")
        if best is None or got is None:
            return
        least = [max((1 - d.stay) * t, need) for t, need in zip(best[1], self.need)]
        for i in self.g.live:
            self.same(f"{policy}: what j{i} keeps", min(got[1][i], least[i]), least[i])
        moved = sum(d.jobs[i]["cost"] * d.jobs[i]["s"] * abs(got[0][i][t] - d.before[i][t]) / 2
                    for i in self.g.live for t in range(d.m) if d.jobs[i]["rate"][t])
        self.same(f"{policy}: moved, as said", float(got[2]["moved"]), moved, 1e-4)
        wanted = self.g.least_moved(least)
        if wanted is not None:
            self.same(f"{policy}: moved", moved, wanted, 1e-5)
        slower = max(1 - b / a if a else 0 for a, b in zip(best[1], got[1]))
        self.same(f"{policy}: slower, as said", float(got[2]["slower"]), slower, 0.05)

    def all(self):
        possible = self.g.best(np.zeros(len(self.g.at) + 1), self.need) is not None
        for policy in ("water-filling", "max-min", "makespan", "finish-time", "max-sum", "min-cost+per-dollar", "fifo"):
            got = self.ask(policy, *self.d.solver, "rates.csv", status=0 if possible else 1)
            if got is not None and self.g.live:
                self.judge(policy, got[1], got[0])
                if policy == "finish-time":
                    self.judge_ratio(got[1], got[2]["objective"])
                if not self.d.nodes and policy in ("water-filling", "max-min", "makespan", "max-sum"):
                    self.staying(policy)
        if self.d.nodes and not any(self.need):
            for policy in ("water-filling", "max-min", "max-sum", "finish-time"):
                got = self.ask(policy, "--nodes", "free.csv")
                if got is not None and self.g.live:
                    self.judge(policy, got[1], got[0])
                    if policy == "finish-time":
                        self.judge_ratio(got[1], got[2]["objective"])


judges = []
for s in range(int(sys.argv[1]), int(sys.argv[2])):
    judges.append(Judge(s))
    judges[-1].all()
print(f"{len(judges)} draws, {sum(j.answers for j in judges)} answers, {sum(j.wrong for j in judges)} wrong")

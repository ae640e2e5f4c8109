"""Makes random logs of events and says what gv-report must say of them.

gv-report.py SEED DIR: writes DIR/events.csv and DIR/{summary,type,entity,job,share}.csv.
The answers are computed another way than gv-report's: from lists of intervals,
with exact fractions.
"""
import csv
import random
import sys
from fractions import Fraction as F

seed, where = int(sys.argv[1]), sys.argv[2]
rnd = random.Random(seed)
COLUMNS = "time_s event job_id gpu_type node gpus steps round share reason with_job_id".split()

# ---- a random history ----
types = ["v100", "p100", "k80"][: rnd.randint(1, 3)]
nodes = ["", "n1", "n2"][: rnd.randint(1, 3)]
events = []
now = F(0)


def emit(event, job="", **more):
    events.append(dict(dict.fromkeys(COLUMNS, ""), time_s=now, event=event, job_id=job, **more))


def pools():
    for t in types:
        for n in nodes:
            if rnd.random() < 0.8:
                emit("pool", gpu_type=t, node=n, gpus=";".join(map(str, range(rnd.randint(1, 9)))))


pools()
alive, steps, seen, n_jobs = {}, {}, set(), 0
for _ in range(rnd.choice([3, 30, 300])):
    if rnd.random() < 0.8:
        now += F(rnd.randint(0, 4000), 16)
    what = rnd.random()
    if what < 0.2 or not alive:
        name = "job %d" % n_jobs
        n_jobs += 1
        alive[name], steps[name] = None, 0
        emit("arrive", name, steps=rnd.choice(["", 1000]), reason=rnd.choice(["", "red", "blue"]))
        continue
    if what < 0.23:
        for name in alive:
            alive[name] = None
        now += rnd.randint(0, 50)
        emit("restart")
        if rnd.random() < 0.5:
            pools()
        continue
    name = rnd.choice(list(alive))
    if what < 0.5:
        # also to jobs that have left: nothing is promised to them any more
        one, other = rnd.randrange(n_jobs), rnd.randrange(n_jobs)
        emit("allocate", "job %d" % one, gpu_type=rnd.choice(types), share=F(rnd.randint(0, 64), 64),
             with_job_id="job %d" % other if one != other and rnd.random() < 0.4 else "")
        continue
    if rnd.random() < 0.3:
        emit("checkpoint", name, steps=steps[name])
        continue
    if alive[name] is None:
        if what < 0.55:
            emit("drop", name)
            del alive[name]
            continue
        if rnd.random() < 0.2:
            steps[name] = max(0, steps[name] - rnd.randint(0, 20))
        alive[name] = rnd.choice(types)
        emit("resume" if name in seen else "start", name, gpu_type=alive[name], node=rnd.choice(nodes),
             gpus=";".join(map(str, range(rnd.choice([1, 1, 2, 4])))), steps=rnd.choice(["", steps[name]]))
        seen.add(name)
        continue
    steps[name] += rnd.randint(0, 100)
    event = rnd.choice(["preempt", "preempt", "finish", "fail", "drop"])
    emit(event, name, steps=rnd.choice(["", steps[name]]))
    if event in ("finish", "drop"):
        del alive[name]
    else:
        alive[name] = None
ended = rnd.random() < 0.5
if ended:
    emit("end")


def text(v):
    return repr(float(v)) if isinstance(v, F) else str(v)


with open(where + "/events.csv", "w", newline="") as f:
    w = csv.writer(f, lineterminator="\n")
    w.writerow(COLUMNS)
    w.writerows([text(e[c]) for c in COLUMNS] for e in events)

# ---- what is to be said of it ----
last = max(e["time_s"] for e in events)
order = []
for e in events:
    if e["job_id"] and e["job_id"] not in order:
        order.append(e["job_id"])
type_order = []
for e in events:
    if e["gpu_type"] and e["gpu_type"] not in type_order:
        type_order.append(e["gpu_type"])


def size(e):
    return len(e["gpus"].split(";")) if e["gpus"] else 0


def of(job):
    return [(i, e) for i, e in enumerate(events) if e["job_id"] == job]


def runs(job):
    """(from, to, event that began it) of every run, by looking ahead from each start."""
    found = []
    for i, e in of(job):
        if e["event"] not in ("start", "resume"):
            continue
        end = last
        for k in range(i + 1, len(events)):
            if events[k]["event"] == "restart":
                end = events[k - 1]["time_s"]
                break
            if events[k]["job_id"] == job and events[k]["event"] in ("preempt", "finish", "fail", "drop"):
                end = events[k]["time_s"]
                break
        found.append((e["time_s"], end, e))
    return found


LEAVES = ("finish", "drop")


def busy_time(t):
    """GPU-seconds in which somebody had each GPU of the type, by sweeping over each."""
    used = {}
    for job in order:
        for begin, end, e in runs(job):
            for gpu in set(e["gpus"].split(";")) if e["gpu_type"] == t else ():
                used.setdefault((e["node"], gpu), []).append((begin, end))
    total = F(0)
    for spans in used.values():
        marks = sorted({x for span in spans for x in span})
        total += sum(b - a for a, b in zip(marks, marks[1:]) if any(s[0] <= a and b <= s[1] for s in spans))
    return total


def promised(job, t, begin, end):
    """Integral of the shares, alone and with others: each event holds until the next of its kind."""
    told = {}
    for e in events:
        if e["event"] == "allocate" and e["gpu_type"] == t and job in (e["job_id"], e["with_job_id"]):
            told.setdefault(e["job_id"] if e["with_job_id"] == job else e["with_job_id"], []).append(e)
    total = F(0)
    for mate, mine in told.items():  # alone, mate is ""
        both = min([end] + [e["time_s"] for e in events if e["job_id"] == mate != "" and e["event"] in LEAVES])
        for e, until in zip(mine, [x["time_s"] for x in mine[1:]] + [both]):
            total += e["share"] * max(F(0), min(until, both) - max(e["time_s"], begin))
    return total


def observed(job, t):
    """Steps done on the type, the time they took, and (once for all types) the steps lost."""
    have, done, took, lost, known, on, mark = 0, 0, F(0), 0, False, None, None
    for i, e in enumerate(events):
        if e["event"] == "restart":
            on = None
        if e["job_id"] != job:
            continue
        begins = e["event"] in ("start", "resume")
        if e["steps"] != "" and e["event"] not in ("arrive", "allocate"):
            if e["event"] == "checkpoint" and e["steps"] < have:
                continue  # it may have done more than is safe
            if e["steps"] < have:
                lost += have - e["steps"]
            elif t is not None and on == t and not begins:
                done, took, known = done + e["steps"] - have, took + e["time_s"] - mark, True
            have = e["steps"]
            mark = e["time_s"]
        if begins:
            on, mark = e["gpu_type"], e["time_s"]
        elif e["event"] in ("preempt", "finish", "fail", "drop"):
            on = None
    return (done if known else None), took, lost


def ratio(a, b):
    return None if a is None or b is None or b == 0 else F(a) / F(b)


def mean(v):
    return sum(v) / F(len(v)) if v else None


jobs, shares = [], []
for name in order:
    mine = [e for _, e in of(name)]
    kinds = [e["event"] for e in mine]
    arrival = mine[0]["time_s"]
    left = [e["time_s"] for e in mine if e["event"] in ("finish", "drop")]
    end = left[0] if left else last
    active = end - arrival
    all_runs = runs(name)
    reported = []
    for e in mine[1:]:
        if e["steps"] != "" and not (e["event"] == "checkpoint" and reported and e["steps"] < reported[-1]):
            reported.append(e["steps"])
    current = "waiting"
    for e in events:
        if e["event"] == "restart" and current == "running":
            current = "preempted"
        if e["job_id"] == name:
            current = {"start": "running", "resume": "running", "preempt": "preempted", "fail": "failed",
                       "finish": "finished", "drop": "dropped"}.get(e["event"], current)
    finished = current == "finished"
    share_rows = []
    for t in type_order:
        here = [r for r in all_runs if r[2]["gpu_type"] == t]
        told = [e for e in events if e["event"] == "allocate" and e["gpu_type"] == t
                and name in (e["job_id"], e["with_job_id"])]
        if not here and not told:
            continue
        run_s = sum((b - a for a, b, _ in here), F(0))
        done, took, _ = observed(name, t)
        p, r = ratio(promised(name, t, arrival, end), active), ratio(run_s, active)
        share_rows.append(dict(job_id=name, gpu_type=t, promised_share=p, received_share=r,
                               share_difference=None if p is None else r - p, running_s=run_s,
                               gpu_s=sum((size(e) * (b - a) for a, b, e in here), F(0)),
                               steps=done, steps_per_s=ratio(done, took) if done is not None else None))
    shares += share_rows
    p = ratio(sum((promised(name, t, arrival, end) for t in type_order), F(0)), active)
    run_s = sum((b - a for a, b, _ in all_runs), F(0))
    r = ratio(run_s, active)
    jobs.append(dict(
        job_id=name, entity=mine[0]["reason"] or None, state=current, arrival_s=arrival,
        start_s=all_runs[0][0] if all_runs else None, finish_s=end if finished else None,
        completion_s=active if finished else None,
        queueing_s=all_runs[0][0] - arrival if all_runs else None, running_s=run_s,
        gpus=max([size(e) for _, _, e in all_runs], default=0),
        gpu_s=sum((size(e) * (b - a) for a, b, e in all_runs), F(0)),
        steps=reported[-1] if reported else None,
        total_steps=mine[0]["steps"] if mine[0]["steps"] != "" else None,
        steps_lost=observed(name, None)[2], launches=len(all_runs), preemptions=kinds.count("preempt"),
        failures=kinds.count("fail"), checkpoints=kinds.count("checkpoint"), promised_share=p,
        received_share=r, share_difference=None if p is None else r - p))

kinds = []
told = any(e["event"] == "pool" for e in events)
for t in type_order:
    have, available, gpus = {}, F(0), 0
    marks = [(e["time_s"], e) for e in events if e["event"] == "pool" and e["gpu_type"] == t]
    for (at, e), until in zip(marks, [m[0] for m in marks[1:]] + [last]):
        have[e["node"]] = size(e)
        gpus = sum(have.values())
        available += gpus * (until - at)
    busy = busy_time(t)
    kinds.append(dict(gpu_type=t, gpus=gpus if told else None, available_gpu_s=available if told else None,
                      busy_gpu_s=busy, busy_share=ratio(busy, available),
                      launches=sum(r[2]["gpu_type"] == t for j in order for r in runs(j))))

entities = []
for name in dict.fromkeys(j["entity"] for j in jobs):
    mine = [j for j in jobs if j["entity"] == name]
    entities.append(dict(
        entity=name, jobs=len(mine), finished=sum(j["state"] == "finished" for j in mine),
        gpu_s=sum(j["gpu_s"] for j in mine),
        completion_mean_s=mean([j["completion_s"] for j in mine if j["completion_s"] is not None]),
        queueing_mean_s=mean([j["queueing_s"] for j in mine if j["queueing_s"] is not None]),
        promised_share=mean([j["promised_share"] for j in mine if j["promised_share"] is not None]),
        received_share=mean([j["received_share"] for j in mine if j["received_share"] is not None])))

states = ["waiting", "running", "preempted", "failed", "finished", "dropped"]
completion = sorted(j["completion_s"] for j in jobs if j["completion_s"] is not None)
queueing = [j["queueing_s"] for j in jobs if j["queueing_s"] is not None]
ratios = [ratio(j["received_share"], j["promised_share"]) for j in jobs]
ratios = [r for r in ratios if r is not None]
available = sum(k["available_gpu_s"] or 0 for k in kinds)
all_left = all(j["state"] in ("finished", "dropped") for j in jobs)
lefts = [e["time_s"] for e in events if e["event"] in ("finish", "drop")]
n = len(completion)


def percentile(values, percent):
    """The least of them that so many percent are not above."""
    return sorted(values)[-(-percent * len(values) // 100) - 1] if values else None


summary = dict(
    jobs=len(jobs), **{s: sum(j["state"] == s for j in jobs) for s in states}, ended=int(ended), elapsed_s=last,
    makespan_s=max(lefts) - min(j["arrival_s"] for j in jobs) if all_left else None,
    completion_mean_s=mean(completion),
    completion_median_s=(completion[(n - 1) // 2] + completion[n // 2]) / 2 if n else None,
    completion_max_s=completion[-1] if n else None, queueing_mean_s=mean(queueing),
    queueing_max_s=max(queueing, default=None), gpus=sum(k["gpus"] for k in kinds) if told else None,
    available_gpu_s=available if told else None, busy_gpu_s=sum(k["busy_gpu_s"] for k in kinds),
    busy_share=ratio(sum(k["busy_gpu_s"] for k in kinds), available),
    **{c: sum(j[c] for j in jobs) for c in ("launches", "preemptions", "failures", "checkpoints")},
    restarts=sum(e["event"] == "restart" for e in events), steps_lost=sum(j["steps_lost"] for j in jobs),
    jain_index=ratio(sum(ratios) ** 2, len(ratios) * sum(r * r for r in ratios)) if ratios else None,
    least_share_ratio=min(ratios, default=None),
    largest_share_difference=max((abs(s["share_difference"]) for s in shares
                                  if s["share_difference"] is not None), default=None),
    completion_p95_s=percentile(completion, 95), completion_p99_s=percentile(completion, 99),
    queueing_p95_s=percentile(queueing, 95), queueing_p99_s=percentile(queueing, 99))

for part, rows in (("summary", [summary]), ("type", kinds), ("entity", entities), ("job", jobs), ("share", shares)):
    with open("%s/%s.csv" % (where, part), "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        if rows:
            w.writerow(rows[0])
        w.writerows(["" if v is None else text(v) for v in row.values()] for row in rows)

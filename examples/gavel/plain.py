"""plain.py CLUSTER max-min|finish-time: Gavel's published programs and nothing beside them.

	gv-sim -c cluster.csv -t throughputs.csv -p 'python3 plain.py cluster.csv max-min' jobs.csv

They fix the level of the least served, or the largest finish time, and leave open what
the others get: it is whatever the solver ends at.  That is a corner with HiGHS (of
scipy), and the middle of all that are equally good with ECOS, the solver of the published
results, which is taken where Python has it.  gv-alloc gives away what is left.
"""
import csv
import sys

import numpy
import scipy.optimize
import scipy.sparse

from stream import read_gpus, tables

try:
    import ecos
except ImportError:
    ecos = None


def matrix(values, rows, columns, shape):
    return scipy.sparse.csr_matrix((numpy.ravel(values), (rows, columns)), shape=shape)


def base(rate, gang, gpus, more):
    """Rows and limits of shares [job, type] in a program with so many more variables."""
    jobs, types = rate.shape
    n = jobs * types
    at, job, kind = numpy.arange(n), numpy.repeat(numpy.arange(jobs), types), numpy.tile(numpy.arange(types), jobs)
    rows = scipy.sparse.vstack([
        matrix(-numpy.ones(n), at, at, (n, n + more)),
        matrix(numpy.repeat(gang, types), kind, at, (types, n + more)),
        matrix(numpy.ones(n), job, at, (jobs, n + more))])
    return rows, numpy.concatenate([numpy.zeros(n), gpus, numpy.ones(jobs)])


def fair(rate, gang, gpus, need):
    """Shares with the largest t such that all throughputs are at least t need."""
    jobs, types = rate.shape
    n = jobs * types
    rows, limits = base(rate, gang, gpus, 1)
    job = numpy.repeat(numpy.arange(jobs), types)
    levels = matrix(-(rate / need[:, None]), job, numpy.arange(n), (jobs, n + 1)) + \
        matrix(numpy.ones(jobs), numpy.arange(jobs), numpy.full(jobs, n), (jobs, n + 1))
    rows, limits = scipy.sparse.vstack([rows, levels]), numpy.append(limits, numpy.zeros(jobs))
    cost = numpy.append(numpy.zeros(n), -1.0)
    if ecos:
        cone = {"l": len(limits), "q": []}
        x = ecos.solve(cost, scipy.sparse.csc_matrix(rows), limits, cone, verbose=False)["x"]
    else:
        x = scipy.optimize.linprog(cost, rows, limits, bounds=(None, None), method="highs-ds").x
    return x[:n].reshape(jobs, types)


def least_ratio(rate, gang, gpus, elapsed, left, alone):
    """As published: the least r, elapsed + left u <= r alone and u throughput >= 1, a cone."""
    jobs, types = rate.shape
    n = jobs * types
    width, job, every = n + jobs + 1, numpy.repeat(numpy.arange(jobs), types), numpy.arange(jobs)
    hour = 3600.0
    done = rate * hour / left[:, None]  # per hour
    rows, limits = base(rate, gang, gpus, jobs + 1)
    ratios = matrix(hour / alone, every, n + every, (jobs, width)) - \
        matrix(numpy.ones(jobs), every, numpy.full(jobs, width - 1), (jobs, width))
    sums = matrix(-done, 3 * job, numpy.arange(n), (3 * jobs, width)) + \
        matrix(-numpy.ones(jobs), 3 * every, n + every, (3 * jobs, width))
    differences = matrix(done, 3 * job + 2, numpy.arange(n), (3 * jobs, width)) + \
        matrix(-numpy.ones(jobs), 3 * every + 2, n + every, (3 * jobs, width))
    product = numpy.tile([0.0, 2.0, 0.0], jobs)  # |2, u - thr| <= u + thr
    answer = ecos.solve(
        numpy.append(numpy.zeros(width - 1), 1.0),
        scipy.sparse.csc_matrix(scipy.sparse.vstack([rows, ratios, sums + differences])),
        numpy.concatenate([limits, -elapsed / alone, product]),
        {"l": len(limits) + jobs, "q": [3] * jobs}, verbose=False)
    return answer["x"][:n].reshape(jobs, types) if answer["info"]["exitFlag"] in (0, 10) else None


def max_min(jobs, rate, gang, gpus):
    equal = rate @ gpus / gpus.sum()
    return fair(rate, gang, gpus, equal * jobs["priority_weight"] / gang)


def finish_time(jobs, rate, gang, gpus):
    isolated = gpus / (len(gang) * gang[:, None])
    isolated /= numpy.maximum(1, isolated.sum(1))[:, None]
    left, elapsed = jobs["steps_remaining"], jobs["elapsed_s"]
    alone = jobs["isolated_elapsed_s"] + left / (rate * isolated).sum(1)
    if ecos:  # where that fails, isolated, as published
        shares = least_ratio(rate, gang, gpus, elapsed, left, alone)
        return isolated if shares is None else shares
    shares, least = isolated, numpy.inf
    while True:  # need() for the largest ratio so far: what comes of it is no larger
        ratio = ((elapsed + left / (rate * shares).sum(1)) / alone).max()
        if not ratio < least * (1 - 1e-5):
            return best
        best, least = shares, ratio
        shares = fair(rate, gang, gpus, left / (least * alone - elapsed))


def column(rows, name, otherwise):
    return numpy.array([float(row.get(name) or otherwise) for row in rows])


def answer(lines, gpus, policy):
    reader = csv.DictReader(lines)
    rows = [row for row in reader if row["gpu_type"] in gpus]
    first, types = {}, sorted(gpus)
    for row in rows:
        first.setdefault(row["job_id"], row)
    number = {name: i for i, name in enumerate(first)}
    rate = numpy.zeros((len(first), len(types)))
    for row in rows:
        rate[number[row["job_id"]], types.index(row["gpu_type"])] = float(row["steps_per_s"])
    for row in first.values():
        row["steps_remaining"] = row.get("steps_remaining") or row["total_steps"]
    jobs = {name: column(first.values(), name, otherwise) for name, otherwise in
            (("priority_weight", 1), ("steps_remaining", 1), ("elapsed_s", 0), ("isolated_elapsed_s", 0))}
    gang = column(first.values(), "scale_factor", 1)
    capacity = numpy.array([float(gpus[name]) for name in types])
    shares = policy(jobs, rate, gang, capacity).clip(0, 1)
    shares /= numpy.maximum(1, shares.sum(1))[:, None]  # within limits, after rounding
    shares /= numpy.maximum(1, gang @ shares / capacity)
    out = csv.DictWriter(sys.stdout, reader.fieldnames + ["share"], extrasaction="ignore", lineterminator="\n")
    out.writeheader()
    for row in rows:
        out.writerow({**row, "share": shares[number[row["job_id"]], types.index(row["gpu_type"])]})
    print(flush=True)


if __name__ == "__main__":
    cluster = read_gpus(sys.argv[1])
    wanted = {"max-min": max_min, "finish-time": finish_time}[sys.argv[2]]
    for table in tables(sys.stdin):
        answer(table, cluster, wanted)

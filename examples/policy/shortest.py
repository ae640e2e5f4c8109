"""shortest.py CLUSTER: whoever needs least time goes first, on its fastest GPUs.

	gv-run -c cluster.csv -p 'python3 shortest.py cluster.csv' rates.csv

A policy that is started once: it answers each table when the empty line behind it
comes, and ends its answer with an empty line, which says that it can take another.
"""
import csv
import sys


def read_gpus(path):
    gpus = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            gpus[row["gpu_type"]] = gpus.get(row["gpu_type"], 0) + int(row["gpus"])
    return gpus


def seconds_left(row):
    steps = row.get("steps_remaining") or row.get("total_steps") or "inf"
    return float(steps) / float(row["steps_per_s"])


def shares(rows, gpus):
    """The share of each row: 1 where the job runs, or 0."""
    free = dict(gpus)
    given = {}
    runs = [row for row in rows if row["gpu_type"] in free and float(row["steps_per_s"] or 0) > 0]
    for row in sorted(runs, key=seconds_left):  # stable: ties in the order of rows
        gang = int(row.get("scale_factor") or 1)
        if row["job_id"] not in given and gang <= free[row["gpu_type"]]:
            free[row["gpu_type"]] -= gang
            given[row["job_id"]] = row
    return [1 if given.get(row["job_id"]) is row else 0 for row in rows]


def answer(lines, gpus):
    reader = csv.DictReader(lines)
    rows = list(reader)
    out = csv.DictWriter(sys.stdout, reader.fieldnames + ["share"], lineterminator="\n")
    out.writeheader()
    for row, share in zip(rows, shares(rows, gpus)):
        out.writerow({**row, "share": share})
    print(flush=True)  # the empty line; and nothing stays in a buffer


def tables(stream):
    """The tables of a stream, as lists of lines; a quoted cell may hold empty lines."""
    lines, quotes = [], 0
    for line in stream:
        if line.strip("\r\n") or quotes % 2 == 1:
            lines.append(line)
            quotes += line.count('"')
        elif lines:
            yield lines
            lines, quotes = [], 0
    if lines:
        yield lines


if __name__ == "__main__":
    gpus = read_gpus(sys.argv[1])
    for table in tables(sys.stdin):
        answer(table, gpus)

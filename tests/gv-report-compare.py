"""gv-report-compare.py N: for the logs of gv-report.py 1 to N, does gv-report say
what is right?  Numbers to 1e-9, and exactly between CSV, TSV and JSON."""
import csv
import io
import json
import os
import runpy
import subprocess
import sys

bad = 0


def complain(*what):
    global bad
    bad += 1
    if bad < 20:
        print("log", seed, *what)


def report(*options):
    p = subprocess.run(["gv-report", *options, "events.csv"], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, encoding="utf-8", check=False)
    if p.returncode != 0 or p.stderr:
        complain(options, "status", p.returncode, p.stderr)
    return p.stdout


def near(a, b):
    return abs(a - b) <= 1e-9 * max(1, abs(a), abs(b))


make = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gv-report.py")
for seed in range(1, int(sys.argv[1]) + 1):
    sys.argv[1:] = [str(seed), "."]
    runpy.run_path(make)
    everything = json.loads(report("--json"))
    for part, key in dict(summary="summary", type="types", entity="entities", job="jobs", share="shares").items():
        want = list(csv.reader(open(part + ".csv")))
        got = list(csv.reader(io.StringIO(report("--format=csv", "--by", part))))
        tsv = [line.split("\t") for line in report("--tsv", "--by", part).splitlines()]
        if tsv != got:
            complain(part, "TSV is not CSV")
        objects = everything[key] if part != "summary" else [everything[key]]
        if len(objects) != len(got) - 1:
            complain(part, "JSON has", len(objects), "rows")
        for o, row in zip(objects, got[1:]):
            if list(o) != got[0]:
                complain(part, "JSON has other names")
            for v, cell in zip(o.values(), row):
                if not (cell == "" if v is None else cell == v if isinstance(v, str) else float(cell) == v):
                    complain(part, "JSON", v, "CSV", cell)
        if not want:
            want = [got[0]]
        if len(want) != len(got) or want[0] != got[0]:
            complain(part, "rows", len(got), "not", len(want), set(want[0]) ^ set(got[0]))
            continue
        for w, g in zip(want[1:], got[1:]):
            for name, a, b in zip(want[0], w, g):
                try:
                    same = near(float(a), float(b))
                except ValueError:
                    same = a == b
                if not same:
                    complain(part, w[:2], name, "is", b, "not", a)
    jobs = sum(j["gpu_s"] for j in everything["jobs"])
    types = sum(t["busy_gpu_s"] for t in everything["types"])
    # two jobs on a GPU both have its time; it was busy once
    if not ((jobs > types or near(jobs, types)) and near(jobs, sum(s["gpu_s"] for s in everything["shares"])) and
            near(types, everything["summary"]["busy_gpu_s"])):
        complain("GPU time is not conserved", jobs, types)
sys.exit(bad > 0)

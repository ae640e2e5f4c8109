"""gandiva.py CLUSTER PAIRS SEED: Gandiva's packing, tried out as Gavel's published program does.

	gv-sim -c cluster.csv -t throughputs.csv -p 'python3 gandiva.py cluster.csv pairs.csv 0' jobs.csv

When jobs want more GPUs than there are, those without a partner are put together at random,
two of equal scale; who is left stays alone.  Whether a pair can run is only seen at the next
question: until then one that cannot has its part of the GPUs and makes nothing of it.  Good
pairs stay until one of them ends; everybody else is drawn anew.  gv-alloc's gandiva looks
before it puts two together, and wastes nothing.
"""
import csv
import random
import sys

from stream import read_gpus, tables


def read_pairs(path):
    """Rates by (scale, type, kind of a, kind of b), both ways round."""
    pairs = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            a, b = float(row["steps_per_s_a"]), float(row["steps_per_s_b"])
            where = (int(row["scale_factor"]), row["gpu_type"])
            pairs[where + (row["job_a"], row["job_b"])] = a, b
            pairs[where + (row["job_b"], row["job_a"])] = b, a
    return pairs


class Gandiva:
    def __init__(self, gpus, pairs, seed):
        self.gpus, self.pairs, self.random = gpus, pairs, random.Random(seed)
        self.partner = {}  # of a job, in this question and the next

    def together(self, jobs, a, b, gpu_type):
        scale = jobs[a]["scale"]
        return self.pairs.get((scale, gpu_type, jobs[a]["kind"], jobs[b]["kind"]), (0.0, 0.0))

    def good(self, jobs, a, b):
        """Seen to run on all types, and over them not much slower than alone."""
        total = 0.0
        for gpu_type in self.gpus:
            both = self.together(jobs, a, b, gpu_type)
            if min(both) <= 0:
                return False
            total += both[0] / jobs[a]["rate"][gpu_type] + both[1] / jobs[b]["rate"][gpu_type]
        return total >= 1

    def put_together(self, jobs):
        self.partner = {a: b for a, b in self.partner.items() if a in jobs and b in jobs and self.good(jobs, a, b)}
        free = [a for a in jobs if a not in self.partner]
        for _ in range(len(free)):
            if len(free) < 2:
                break
            a, b = self.random.sample(free, 2)
            if jobs[a]["scale"] == jobs[b]["scale"]:
                self.partner[a], self.partner[b] = b, a
                free.remove(a)
                free.remove(b)

    def shares(self, jobs):
        """Rows: a job, its partner or None, GPU type, the rates of both, share."""
        apart = sum(job["scale"] for job in jobs.values()) <= sum(self.gpus.values())
        if apart:
            partner = {}
        else:
            self.put_together(jobs)
            partner = self.partner
        n, seen = len(jobs) - len(partner) / 2, set()
        for a, job in jobs.items():
            b = partner.get(a)
            seen.add(a)
            if b in seen:
                continue
            part = {name: count / n / job["scale"] for name, count in self.gpus.items()}
            over = max(1.0, sum(part.values())) * (1 + 1e-9)  # sums round
            for name, x in part.items():
                rates = (job["rate"][name], 0.0) if b is None else self.together(jobs, a, b, name)
                if rates[0] > 0 and (b is None or rates[1] > 0):
                    yield a, b, name, rates, x / over


def answer(lines, policy):
    jobs = {}
    for row in csv.DictReader(lines):
        job = jobs.setdefault(row["job_id"], {
            "kind": row["job_type"], "scale": int(row.get("scale_factor") or 1), "rate": {}})
        if row["gpu_type"] in policy.gpus:
            job["rate"][row["gpu_type"]] = float(row["steps_per_s"])
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["job_id", "gpu_type", "steps_per_s", "with_job_id", "with_steps_per_s", "share"])
    alone = {(a, name): 0 for a, job in jobs.items() for name in job["rate"]}  # 0: of what is left over
    for a, b, name, rates, x in policy.shares(jobs):
        if b is None:
            alone[a, name] = x
        else:
            out.writerow([a, name, rates[0], b, rates[1], x])
    out.writerows([a, name, jobs[a]["rate"][name], "", "", x] for (a, name), x in alone.items())
    print(flush=True)


if __name__ == "__main__":
    packing = Gandiva(read_gpus(sys.argv[1]), read_pairs(sys.argv[2]), int(sys.argv[3]))
    for table in tables(sys.stdin):
        answer(table, packing)

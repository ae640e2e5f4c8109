# Stage times beside their plan: stages.py ROW..., a row MODEL:SAMPLES:CUT, of micro-batches of
# so many samples, cut in two where CUT of the time is before it.  Each row is profiled, as the two
# stages of its plan with one process beside it, and trained at the same time, in turns of
# TURN seconds: while one goes on the other stands still, so what the machine does meanwhile hits
# both.  So are two trainings, for how far the machine itself repeats what it did.  Prints for each
# stage what a micro-batch took, the plan's time over it and that of the other training over it,
# the middle ones of REPEATS.
import csv
import math
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

TURN, SECONDS, REPEATS, MICRO_BATCHES = 0.08, float(os.environ.get("SECONDS", "3")), 3, 8
IMAGES = ("16x16x1", 10, ["--data=digits:{}"])
TEXT = ("64x1", 256, ["--data=sentences:{}", "--context=64"])
FORMS = {
    "dcgan-small": ("16x16x1", 256, ["--data=digits:{}", "--scale=unit", "--autoencode"]),
    "lstm-small": ("16x1x16", 10, ["--data=digits:{}", "--shape=16x1x16"]),
    "gnmt-small": ("24x1", 256, ["--data=sentences:{}", "--context=24"]),
    "gpt-tiny": TEXT, "gpt-small": TEXT,
}  # shape, classes, data; others: IMAGES


def profile_command(model, samples, out, seconds, plan=None):
    shape, classes, _ = FORMS.get(model, IMAGES)
    return ["gv-profile", "layers", "-q", "--beside=1", "--stages=2",
            f"--micro-batches={MICRO_BATCHES}", "--warmup=0.2s", f"--window={seconds}s",
            f"--batch={samples}", f"--shape={shape}", f"--classes={classes}", "-o", out,
            plan or (f"{model}.tsv" if os.path.exists(f"{model}.tsv") else model)]


def rows_of(name):
    """The rows of the first table of a file."""
    with open(name) as f:
        return list(csv.DictReader(f.read().split("\n\n")[0].splitlines()))


def passes_ms(rows):
    return sum(float(r["forward_ms"]) + float(r["backward_ms"]) for r in rows)


def cut_in_two(source, plan, cut):
    """Writes a plan of two stages; how many rows the first one has."""
    rows, whole, first = rows_of(source), passes_ms(rows_of(source)), 1
    while first < len(rows) - 2 and passes_ms(rows[:first + 1]) <= cut * whole:
        first += 1
    with open(source) as f:
        tables = f.read().split("\n\n")
    lines = tables[0].splitlines()
    lines = [lines[0] + ",stage,replicas"] + [
        f"{line},{int(i >= first)},1" for i, line in enumerate(lines[1:])]
    with open(plan, "w") as f:
        f.write("\n\n".join(["\n".join(lines) + "\n"] + tables[1:]))
    return first


def train(model, samples, steps, out="stages.csv"):
    """Both workers."""
    data = FORMS.get(model, IMAGES)[2]
    batch = samples * MICRO_BATCHES
    command = ["gv-train", "-q", "--threads=1", f"--steps={steps}", f"--batch={batch}",
               f"--micro-batches={MICRO_BATCHES}", "--schedule=flush", f"--stages={out}",
               *(a.format(min(4096, max(batch, 256))) for a in data), "plan.csv"]
    port = str(random.randint(20000, 40000))
    return [subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True,
                             env=dict(os.environ, RANK=rank, WORLD_SIZE="2",
                                      MASTER_ADDR="127.0.0.1", MASTER_PORT=port))
            for rank in "01"]


def steps_for(model, samples, seconds):
    began = time.time()
    ended(train(model, samples, 3))
    middle = time.time()
    ended(train(model, samples, 23))
    step = (time.time() - middle - (middle - began)) / 20
    return max(8, min(100000, int(seconds / max(step, 1e-5))))


def ended(processes):
    for p in processes:
        if p.wait() != 0:
            sys.exit(f"stages: {p.args[0]} fails")


def goes(processes):
    return any(p.poll() is None for p in processes)


def tell(processes, what):
    for p in processes:
        if p.poll() is None:
            try:
                os.killpg(p.pid, what)
            except ProcessLookupError:
                pass


def take_turns(some, others):
    time.sleep(0.3)  # until all have begun
    while goes(some) and goes(others):
        tell(others, signal.SIGSTOP)
        tell(some, signal.SIGCONT)
        time.sleep(TURN)
        some, others = others, some
    for p in (some, others):
        tell(p, signal.SIGCONT)
        ended(p)


def measure(model, samples, first, steps):
    """Of each stage what a micro-batch took, the plan's time over it, and the same again over it."""
    command = profile_command(model, samples, "beside.csv", SECONDS, "plan.csv")
    take_turns(train(model, samples, steps), [subprocess.Popen(command, start_new_session=True)])
    rows, stages = rows_of("beside.csv"), rows_of("stages.csv")
    take_turns(train(model, samples, steps, "one.csv"), train(model, samples, steps, "other.csv"))
    for stage, of, one, other in zip(stages, (rows[:first], rows[first:]), rows_of("one.csv"),
                                     rows_of("other.csv")):
        took = passes_ms([stage])
        yield took, passes_ms(of) / took, passes_ms([other]) / passes_ms([one])


def is_near(ratio):
    return abs(math.log(ratio)) <= math.log(1.05)


def main():
    near, near_again, all_of = 0, 0, 0
    os.chdir(tempfile.mkdtemp())
    with open("wide.tsv", "w") as f:
        f.write("id\top\tout\tact\n" + "".join(f"{i}\tlinear\t1024\trelu\n" for i in range(1, 8)) +
                "8\tlinear\t\t\n9\txent\t\t\n")
    print("| model | samples | rows " +
          "".join(f"| stage {k} ms | plan/took | again/took " for k in (0, 1)) + "|\n" +
          "| --- " * 9 + "|", flush=True)
    for row in sys.argv[1:]:
        model, samples, cut = row.split(":")
        ended([subprocess.Popen(profile_command(model, samples, "plain.csv", 0.3))])
        first = cut_in_two("plain.csv", "plan.csv", float(cut))
        steps = steps_for(model, int(samples), SECONDS / 2)
        seen = [list(measure(model, int(samples), first, steps)) for _ in range(REPEATS)]
        cells = []
        for stage in (0, 1):
            took, ratio, again = (statistics.median(s[stage][k] for s in seen) for k in range(3))
            cells.append(f"{took:.4g} | {ratio:.3f} | {again:.3f}")
            if took >= 1:
                near += is_near(ratio)
                near_again += is_near(again)
                all_of += 1
        print(f"| {model} | {samples} | {first} | {cells[0]} | {cells[1]} |", flush=True)
    print(f"stages of 1 ms or more within 5 % of their plan: {near} of {all_of}, "
          f"of the same training again: {near_again} of {all_of}")


main()

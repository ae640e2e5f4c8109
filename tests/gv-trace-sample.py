"""The published sampling of jobs with Python's own random numbers, for gv-trace.t.

gv-trace-sample.py SEED N [WEIGHTED]: N jobs of two types, as
gv-trace generate --rate=5.5 --scale-factors=1:0.7,2:0.1,4:0.2 --priorities=5:0.2
--slo=1.2:0.33,2:0.34,10:0.33 '--entities=a b:0.25,c:0.25' draws them.

gv-trace-sample.py SEED N testbed: as gv-trace generate --sampling=testbed
--rate=5.5 --scale-factors=1:0.7,2:0.1,4:0.2 does.
"""

import math
import random
import sys

seed, n, weighted = int(sys.argv[1]), int(sys.argv[2]), len(sys.argv) > 3
types = ["small", "large"]
speed = {("small", 1): 10.0, ("large", 1): 10 / 3, ("large", 2): 6.5, ("large", 4): 12.25}
jobs, arrivals, slos, owners = (random.Random(seed + k) for k in (2, 3, 6, 7))
arrival = 0.0


def text(v):
    """As gv writes numbers: whole ones without a point."""
    return repr(int(v)) if v == int(v) and abs(v) < 1e15 else repr(v)


def among(u, pairs, rest):
    """The value in whose part of [0, 1) u lies."""
    total = 0
    for value, p in pairs:
        total += p
        if u < total:
            return value
    return rest


def draw_duration():
    """80 % from half an hour to 17 h, 20 % up to a week."""
    if jobs.random() >= 0.8:
        return 60 * (10 ** jobs.uniform(3, 4))
    return 60 * (10 ** jobs.uniform(1.5, 3))


def draw_type(scale):
    """One that runs with so many GPUs."""
    while True:
        kind = jobs.choices(types, [1, 2.5])[0] if weighted else jobs.choice(types)
        if (kind, scale) in speed:
            return kind


def testbed():
    """The rule for the testbed: a stream of its own for all that is drawn."""
    kinds, waits, hours, scales = (random.Random(seed + k) for k in range(4))
    when = 0.0
    print("job_id,arrival_s,job_type,scale_factor,total_steps,duration_s")
    for i in range(n):
        kind = kinds.choice(types)
        gpus = among(scales.uniform(0, 1), [(1, 0.7), (2, 0.1)], 4) if kind == "large" else 1
        seconds = hours.choice([1, 2, 3, 4]) * 3600
        if i > 0:
            when += -math.log(1.0 - waits.random()) * (3600 / 5.5)
        print(i, int(when), kind, gpus, max(1, int(speed[kind, gpus] * seconds)), seconds, sep=",")


if sys.argv[3:] == ["testbed"]:
    testbed()
    sys.exit()
print("job_id,arrival_s,job_type,scale_factor,total_steps,duration_s,priority_weight,slo_factor,entity")
for i in range(n):
    gpus = among(jobs.uniform(0, 1), [(1, 0.7), (2, 0.1)], 4)
    duration = draw_duration()
    job_type = draw_type(gpus)
    weight = among(jobs.uniform(0, 1), [(5, 0.2)], 1)
    slo = among(slos.uniform(0, 1), [("1.2", 0.33), ("2", 0.34)], "10")
    owner = among(owners.random(), [("a b", 0.25), ("c", 0.5 - 0.25)], "")
    if i > 0:
        arrival += -math.log(1.0 - arrivals.random()) * (3600 / 5.5)
    steps = duration * speed[job_type, gpus]
    print(i, text(arrival), job_type, gpus, text(steps), text(duration), weight, slo, owner, sep=",")

#!/bin/sh
# gv-alloc --certify: what is said to be proved is true, recomputed in fractions.
. "${0%/*}/lib.sh"

if [ -z "$GV_PYTHON" ]; then
	skip "no python3"
	done_testing
	exit
fi
cat >cluster.csv <<EOF
gpu_type,gpus,usd_per_h
v100,3,2.48
p100,4,1.46
k80,7,0.45
EOF
# tables of random jobs: FILE SEED JOBS
draw() {
	"$GV_PYTHON" - "$@" <<'EOF'
import random, sys
path, seed, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
r = random.Random(seed)
with open(path, "w") as f:
    f.write("job_id,gpu_type,steps_per_s,scale_factor,priority_weight,total_steps,elapsed_s,isolated_elapsed_s,arrival_s\n")
    for i in range(n):
        s, w = r.choice([1, 1, 2, 3]), r.choice([1, 1, 5, .3])
        own = f"{s},{w},{r.uniform(1, 1000):.6g},{r.choice([0, r.uniform(0, 50)]):.6g},{r.uniform(0, 20):.6g},{r.randint(0, 3)}"
        for kind, speed in (("v100", 5), ("p100", 3), ("k80", 1)):
            rate = 0 if r.random() < .2 and kind != "k80" else speed * r.uniform(.1, 9)
            f.write(f"j{i},{kind},{rate!r},{own}\n")
EOF
}
for seed in 1 2; do
	draw rates.csv $seed 6
	for policy in max-min makespan finish-time max-sum min-cost min-cost+per-dollar fifo; do
		run gv-alloc -v --certify -p $policy -c cluster.csv rates.csv
		cp out shares.csv && cp err said
		run "$GV_PYTHON" "$src/tests/gv-alloc-certify.py" $policy cluster.csv shares.csv said
		silent "$policy, jobs $seed: the theorem is true"
	done
done
# two jobs on the same GPUs
draw plain.csv 5 5
"$GV_PYTHON" - plain.csv >pairs.csv <<'EOF'
import csv, random, sys
r = random.Random(3)
rows = list(csv.DictReader(open(sys.argv[1])))
print(",".join(rows[0]) + ",with_job_id,with_steps_per_s")
for row in rows:
    row["scale_factor"] = "1"
    print(",".join(row.values()) + ",,")
for a in rows:
    for b in rows:
        if (a["job_id"] < b["job_id"] and a["gpu_type"] == b["gpu_type"] and
                r.random() < .8):
            part = [float(q["steps_per_s"]) * r.uniform(.6, .95) for q in (a, b)]
            a2 = dict(a, steps_per_s=repr(part[0]))
            print(",".join(a2.values()) + f",{b['job_id']},{part[1]!r}")
EOF
printf 'gpu_type,gpus,usd_per_h\nv100,1,2.48\np100,1,1.46\nk80,1,0.45\n' >small.csv
for policy in max-min makespan finish-time max-sum min-cost+per-dollar fifo; do
	run gv-alloc -v --certify -p $policy -c small.csv pairs.csv
	cp out shares.csv && cp err said
	run "$GV_PYTHON" "$src/tests/gv-alloc-certify.py" $policy small.csv shares.csv said
	silent "$policy, with pairs: the theorem is true"
done
ok "there were pairs" awk -F, 'NR > 1 && $10 != "" && $(NF - 1) > 0 { n++ } END { exit n < 2 }' shares.csv
# a spoilt answer does not pass: this test can fail
sed '2s/.*/j0,v100,5,1,1,1,0,0,0,,,1,fifo/' shares.csv >spoilt.csv
run "$GV_PYTHON" "$src/tests/gv-alloc-certify.py" fifo small.csv spoilt.csv said
is_status 1 "a share that was changed is found"

# many jobs that all differ: no linear program of all of them is solved
draw many.csv 9 5000
printf 'gpu_type,gpus,usd_per_h\nv100,800,2.48\np100,900,1.46\nk80,1200,.45\n' >large.csv
for policy in max-min makespan finish-time max-sum min-cost fifo; do
	run gv-alloc -q -v --certify -p $policy -c large.csv -o /dev/null many.csv
	ok "$policy: 5000 jobs, a gap below 1e-11" awk '/certified=yes/ {
		sub(/.*gap=/, ""); sub(/ .*/, ""); exit !($0 + 0 < 1e-11) }' err
done

# deadlines: needs are met but for rounding, and the bound is of those that meet them
cat >slo.csv <<EOF
job_id,gpu_type,steps_per_s,total_steps,deadline_s
a,v100,10,1000,
b,v100,4,100,100
EOF
printf 'gpu_type,gpus,usd_per_h\nv100,1,3.6\n' >one.csv
run gv-alloc -v --certify -p max-sum -c one.csv slo.csv
err_has "objective=8.5 bound=8.5 gap=0 certified=yes" "a sum with a deadline"
run gv-alloc -v --certify -p min-cost -c one.csv slo.csv
err_has "certified=yes" "a ratio with a deadline"
run gv-alloc -v --certify -p makespan -c one.csv -o /dev/null slo.csv
err_has "certified=yes" "a makespan"
printf 'job_id,gpu_type,steps_per_s,total_steps\na,v100,3,0\n' >done.csv
for policy in makespan finish-time; do
	run gv-alloc -v --certify -p $policy -c one.csv -o /dev/null done.csv
	err_has "objective=0 bound=0 gap=0 certified=yes" "$policy of nothing"
done

# a gang that does not fit on b counts there, too: P = 10 of all, and 6/11 for each
printf 'gpu_type,gpus\na,4\nb,2\n' >pools.csv
{
	echo job_id,scale_factor,gpu_type,steps_per_s
	for job in g,4 1,1 2,1 3,1 4,1 5,1 6,1 7,1 8,1 9,1 10,1; do
		printf '%s,a,10\n%s,b,10\n' $job $job
	done
} >gang.csv
run gv-alloc -v --certify -p max-min -c pools.csv -o /dev/null gang.csv
err_has "objective=0.54545454545454" "rates on types too small for the gang are in what is proved"
err_has "bound=0.5454545454545" "and in the bound"

# a minimum leaves the others 8e-9 of a GPU: a rounding of its multiplier would be a hundred-millionth of that
printf 'gpu_type,gpus\nt0,1\n' >thin.csv
cat >left.csv <<'EOF'
job_id,gpu_type,steps_per_s,priority_weight,steps_remaining,min_steps_per_s
j2,t0,25.4,760000,30,
j4,t0,6.62e-07,663000,9,
j5,t0,1.64,1,20,1.6399999869016415
j6,t0,.0023,1,500,
j7,t0,8.8,.000141,3,
EOF
for policy in max-min makespan; do
	run gv-alloc -v --certify -p $policy -c thin.csv -o /dev/null left.csv
	is_status 0 "$policy: what next to nothing is left of is proved"
	err_has "certified=yes" "$policy: and it is said"
done

# of finish times the multipliers that say most are those of a step before the last
printf 'gpu_type,gpus\nt0,8\nt1,4\nt2,21\n' >times.csv
cat >passed.csv <<'EOF'
job_id,gpu_type,steps_per_s,scale_factor,min_steps_per_s,elapsed_s,isolated_elapsed_s,steps_remaining
j0,t0,2.91e-05,1,.226,1.9,177,9.87
j0,t1,5.12e-05,1,.226,1.9,177,9.87
j0,t2,.71,1,.226,1.9,177,9.87
j1,t0,6850000,1,360000,58.3,0,2.8
j1,t1,6660000,1,360000,58.3,0,2.8
j1,t2,3220,1,360000,58.3,0,2.8
j2,t1,16.7,4,,0,0,435
j2,t2,.188,4,,0,0,435
j3,t0,1.7,1,,0,0,258
j3,t1,1.7,1,,0,0,258
j3,t2,1.7,1,,0,0,258
EOF
run gv-alloc -v --certify -p finish-time -c times.csv -o /dev/null passed.csv
is_status 0 "a ratio of what has passed is proved"
err_has "certified=yes" "and it is said"
# what is printed keeps the constraints, as decimals, also where GLPK proves it
cat >decimals.py <<'EOF'
import csv, io, random, subprocess, sys
from fractions import Fraction
policy, over = sys.argv[1], 0
for seed in range(60):
    r = random.Random(seed)
    gpus = {f"t{k}": r.choice([1, 1, 2, 3, 4, 6, 7, 12, 23, 37]) for k in range(r.choice([1, 2, 3, 4, 5, 9]))}
    with open("drawn.csv", "w") as f:
        f.write("gpu_type,gpus\n" + "".join(f"{k},{n}\n" for k, n in gpus.items()))
    size = [r.choice([1, 1, 1, 2, 3]) for _ in range(r.choice([2, 3, 5, 10, 30]))]
    weight = [r.choice([1, 1, 3, .7]) for _ in size]
    rows = "".join(f"j{i},{k},{r.uniform(1, 90)!r},{s},{weight[i]},100,e{i % 3}\n"
        for i, s in enumerate(size) for k in gpus if r.random() < .85)
    out = subprocess.run(["gv-alloc", "-q", "--certify", "-p", policy, "-c", "drawn.csv"], text=True, check=True,
        input="job_id,gpu_type,steps_per_s,scale_factor,priority_weight,total_steps,entity\n" + rows, stdout=subprocess.PIPE).stdout
    time, used = {}, {}
    for row in csv.DictReader(io.StringIO(out)):
        x, job, kind = Fraction(row["share"]), row["job_id"], row["gpu_type"]
        time[job] = time.get(job, 0) + x
        used[kind] = used.get(kind, 0) + x * int(row["scale_factor"])
    over += any(t > 1 for t in time.values()) or any(used[k] > gpus[k] for k in used)
if over:
    sys.exit(f"{over} of 60 tables: shares that are too large as printed")
EOF
for policy in water-filling max-min isolated gandiva; do
	run "$GV_PYTHON" decimals.py $policy
	silent "$policy: shares as printed"
done
done_testing

#!/bin/sh
# gv-alloc --space-sharing: two jobs on the same GPUs.
. "${0%/*}/lib.sh"

data=$shared/data/gavel
alloc() { run gv-alloc "$@" -c cluster.csv; }
# word NAME: the value of a word of the last -v line in err
word() { tail -n 1 err | tr ' ' '\n' | sed -n "s/^$1=//p"; }
# near NAME A B: equal to 1e-9 of themselves
near() {
	ran="$1: $2 and $3"
	if awk -v a="$2" -v b="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; m = a < 0 ? -a : a; exit !(m > 0 && d <= 1e-9 * m) }'; then
		pass "$1"
	else
		fail "$1 ($2, $3)"
	fi
}

# ---- two jobs, one GPU: together each has .8 of its speed, in turns .5 ----
printf 'gpu_type,gpus\nv100,1\n' >cluster.csv
printf 'job_id,job_type,gpu_type,steps_per_s,note\na,x,v100,10,A\nb,y,v100,1,B\n' >rates.csv
printf 'job_a,job_b,scale_factor,gpu_type,steps_per_s_a,steps_per_s_b\nx,y,1,v100,8,0.8\n' >pairs.csv
alloc -v -p max-min --space-sharing=pairs.csv rates.csv
err_has "gv-alloc: policy=max-min jobs=2 classes=2 types=1 pairs=1 shared=1 objective=0.8 bound=" "two jobs on a GPU: objective"
is_out "two jobs on a GPU: all the time" <<'E'
job_id,job_type,gpu_type,steps_per_s,note,with_job_id,with_steps_per_s,share,policy
a,x,v100,10,A,,,0,max-min --space-sharing=pairs.csv
b,y,v100,1,B,,,0,max-min --space-sharing=pairs.csv
a,x,v100,8,A,b,0.8,1,max-min --space-sharing=pairs.csv
E
sed 's/ --[^,]*$//' out >first.csv
alloc -p max-min first.csv
silent "the answer as a question: nothing said"
same_file first.csv out "the answer as a question: the same answer"
printf 'job_a,job_b,scale_factor,gpu_type,steps_per_s_a,steps_per_s_b\ny,x,1,v100,0.8,8\n' >turned.csv
alloc -p max-min --space-sharing=turned.csv rates.csv
sed 's/ --[^,]*$//' out >got
same_file first.csv got "either order of a pair"
printf 'job_id,job_type,gpu_type,steps_per_s,note\nb,y,v100,1,B\na,x,v100,10,A\n' >rates2.csv
alloc -p max-min --space-sharing=pairs.csv rates2.csv
sed 's/ --[^,]*$//' out | sort >got
sort first.csv >want
same_file want got "either order of jobs"
printf 'job_id,gpu_type,steps_per_s,with_job_id,with_steps_per_s\nb,v100,0.8,a,8\na,v100,10,,\nb,v100,1,,\n' >own.csv
alloc -p max-min own.csv
is_out "a row of two jobs keeps its place" <<'E'
job_id,gpu_type,steps_per_s,with_job_id,with_steps_per_s,share,policy
b,v100,0.8,a,8,1,max-min
a,v100,10,,,0,max-min
b,v100,1,,,0,max-min
E
alloc -p max-min --space-sharing=pairs.csv own.csv
out_has "b,v100,0.8,a,8,1,max-min" "a row of two jobs with a table of pairs: keeps its place"
ok "a row of two jobs with a table of pairs: once" [ "$(grep -c . out)" -eq 4 ]

# ---- who is done shares with nobody, in the program of --dump-lp, too ----
printf 'job_id,gpu_type,steps_per_s,total_steps,with_job_id,with_steps_per_s\na,v100,2,10,,\nb,v100,2,0,,\na,v100,5,10,b,5\n' >done.csv
alloc -v -p makespan --dump-lp=p.lp -o none.csv done.csv
err_has " objective=5 " "makespan: nobody shares with who is done"
for policy in makespan finish-time; do
	alloc -p $policy --certify -o none.csv done.csv
	silent "$policy: nor in the proof"
done
if have glpsol; then
	glpsol --lp p.lp -w sol >out
	ok "makespan: nor in the program" grep -q '^s bas .* 0\.2$' sol
else
	skip "no glpsol"
fi
# ---- which row counts ----
# level ROWS...: the level of a and b with these pairs
level() {
	{ echo job_a,job_b,scale_factor,gpu_type,steps_per_s_a,steps_per_s_b && printf '%s\n' "$@"; } >p.csv
	alloc -q -v -p max-min --space-sharing=p.csv -o none.csv rates.csv
	word objective
}
ran="pairs of jobs and of types"
is() { if [ "$2" = "$3" ]; then pass "$1"; else fail "$1: $2, not $3"; fi; }
is "types" "$(level x,y,1,v100,6,0.6)" 0.6
is "jobs before types" "$(level x,y,1,v100,6,0.6 a,b,1,v100,7,0.7)" 0.7
is "a job and a type before types" "$(level x,y,1,v100,6,0.6 y,a,1,v100,0.9,9)" 0.9
is "jobs before a job and a type" "$(level x,b,1,v100,6,0.6 b,a,1,v100,0.7,7)" 0.7
is "another scale" "$(level x,y,2,v100,6,0.6)" 0.5
is "another type of GPU" "$(level x,y,1,k80,6,0.6)" 0.5
is "one of them stands still" "$(level x,y,1,v100,10,0)" 0.5
is "jobs that cannot, before types that can" "$(level x,y,1,v100,6,0.6 a,b,1,v100,0,0.7)" 0.5
is "others" "$(level z,y,1,v100,6,0.6 x,x,1,v100,9,9)" 0.5
printf 'job_id,job_type,gpu_type,steps_per_s\nx,y,v100,10\nb,x,v100,1\n' >rates3.csv
printf 'job_a,job_b,scale_factor,gpu_type,steps_per_s_a,steps_per_s_b\nx,x,1,v100,9,9\ny,x,1,v100,8,.8\n' >p.csv
alloc -q -v -p max-min --space-sharing=p.csv -o none.csv rates3.csv
is "a name that is of a job and of a type is the job's" "$(word objective)" 0.5

# two alike: the mean of both rates; one alone cannot share with itself
printf 'job_id,job_type,gpu_type,steps_per_s\na,x,v100,1\nb,x,v100,1\n' >alike.csv
printf 'job_a,job_b,scale_factor,gpu_type,steps_per_s_a,steps_per_s_b\nx,x,1,v100,.7,.9\n' >p.csv
alloc -p max-min --space-sharing=p.csv alike.csv
is_out "two alike" <<'E'
job_id,job_type,gpu_type,steps_per_s,with_job_id,with_steps_per_s,share,policy
a,x,v100,1,,,0,max-min --space-sharing=p.csv
b,x,v100,1,,,0,max-min --space-sharing=p.csv
a,x,v100,0.8,b,0.8,1,max-min --space-sharing=p.csv
E
head -n 2 alike.csv >alone.csv
alloc -q -v -p max-min --space-sharing=p.csv -o none.csv alone.csv
is "one alone" "$(word objective)" 1
# gangs: 2 of 4 GPUs each, together on 2
printf 'gpu_type,gpus\nv100,2\nk80,1\n' >cluster.csv
printf 'job_id,job_type,scale_factor,gpu_type,steps_per_s\na,x,2,v100,1\nb,x,2,v100,1\nc,x,1,k80,1\n' >gangs.csv
printf 'job_a,job_b,scale_factor,gpu_type,steps_per_s_a,steps_per_s_b\nx,x,2,v100,.9,.9\nx,x,2,k80,9,9\n' >p.csv
alloc -q -v -p makespan --space-sharing=p.csv -o none.csv gangs.csv
err_has 'missing column "total_steps"' "makespan asks for steps"
alloc -p max-min --space-sharing=p.csv gangs.csv
out_has "a,x,2,v100,0.9,b,0.9,1,max-min" "gangs share as a whole"
ok "gangs do not share where they do not fit" sh -c '! grep -q "k80,9" out'

# ---- deadlines that can be met only together ----
printf 'gpu_type,gpus,usd_per_h\nv100,1,3.6\n' >cluster.csv
printf 'job_id,job_type,gpu_type,steps_per_s,total_steps,deadline_s\na,x,v100,10,70,10\nb,y,v100,1,7,10\n' >slo.csv
alloc -p max-sum slo.csv
is_status 1 "a deadline that needs sharing: not met without"
for policy in max-sum min-cost min-cost+per-dollar; do
	alloc -q -v -p $policy --space-sharing=pairs.csv slo.csv
	is_status 0 "$policy: deadlines met together"
	ok "$policy: with a proof" awk -v gap="$(word gap)" 'BEGIN { exit !(gap != "" && gap <= 1e-9) }'
done
# 8.8 steps together for $ 0.001 a second; alone 10 are cheaper
alloc -q -v -p min-cost --space-sharing=pairs.csv -o none.csv rates.csv
near "min-cost: the cheapest alone" "$(word objective)" 10000
printf 'job_a,job_b,scale_factor,gpu_type,steps_per_s_a,steps_per_s_b\nx,y,1,v100,9.8,.8\n' >p.csv
alloc -q -v -p min-cost --space-sharing=p.csv -o none.csv rates.csv
near "min-cost: a shared GPU is paid once" "$(word objective)" 10600

# ---- an empty table changes nothing ----
head -n 1 pairs.csv >empty.csv
printf 'gpu_type,gpus,usd_per_h\nv100,2,3\np100,3,2\nk80,4,1\n' >cluster.csv
awk -F, 'BEGIN {
	print "job_id,job_type,gpu_type,steps_per_s,total_steps,priority_weight"
	split("v100 p100 k80", type, " ")
	for (i = 1; i <= 20; i++)
		for (j = 1; j <= 3; j++)
			printf "j%d,t%d,%s,%.3f,%d,%d\n", i, i % 5, type[j], 1 + (i % 5) * j / 3 + (5 - i % 5) / j, 100 + i % 7 * 10, 1 + i % 2
}' >twenty.csv
awk -F, 'BEGIN {
	print "job_a,job_b,scale_factor,gpu_type,steps_per_s_a,steps_per_s_b"
	split("v100 p100 k80", type, " ")
	for (i = 0; i < 5; i++)
		for (k = i; k < 5; k++)
			for (j = 1; j <= 3; j++)
				printf "t%d,t%d,1,%s,%.3f,%.3f\n", i, k, type[j],
					.7 * (1 + i * j / 3 + (5 - i) / j), .6 * (1 + k * j / 3 + (5 - k) / j)
}' >twenty-pairs.csv
for policy in max-min makespan finish-time max-sum min-cost min-cost+per-dollar fifo fifo-greedy; do
	alloc -q -v -p $policy -o without.csv twenty.csv
	without=$(word objective)
	alloc -q -p $policy --space-sharing=empty.csv -o with.csv twenty.csv
	sed 's/ --[^,]*$//' with.csv | cut -d, -f1-6,9- >got
	same_file without.csv got "$policy: an empty table changes nothing"
	alloc -q -v -p $policy --space-sharing=twenty-pairs.csv -o with.csv twenty.csv
	case $policy in
	makespan | finish-time) order='a <= b' ;;
	fifo-greedy) order=1 ;; # who is joined loses
	*) order='a >= b' ;;
	esac
	ran="$policy: $(word objective) with pairs, $without without"
	ok "$policy: sharing is never worse" awk -v a="$(word objective)" -v b="$without" "BEGIN { exit !($order) }"
	# time of every job, with its pairs; GPUs of every type, a pair's once
	ok "$policy: the constraints" awk -F, 'NR > 1 {
		time[$1] += $9; if ($7 != "") time[$7] += $9
		used[$3] += $9
	} END {
		for (i in time) if (time[i] > 1 + 1e-12) exit 1
		exit !(used["v100"] <= 2 * (1 + 1e-12) && used["p100"] <= 3 * (1 + 1e-12) && used["k80"] <= 4 * (1 + 1e-12))
	}' with.csv
	# equal jobs have equal throughputs (all of a type and weight; makespan: and of equal steps)
	case $policy in
	max-min | max-sum | min-cost | min-cost+per-dollar)
		ok "$policy: equal jobs have equal throughputs" awk -F, 'NR > 1 {
			steps[$1] += $4 * $9; kind[$1] = $2 " " $6
			if ($7 != "") steps[$7] += $8 * $9
		} END {
			for (i in kind) { k = kind[i]; n[k]++; sum[k] += steps[i] }
			for (i in kind) { d = steps[i] - sum[kind[i]] / n[kind[i]]; if (d > 1e-9 || d < -1e-9) exit 1 }
		}' with.csv
		;;
	esac
	[ $policy = fifo-greedy ] && continue
	ours=$(word objective)
	alloc -q -v -p $policy --solver=glpk --space-sharing=twenty-pairs.csv -o none.csv twenty.csv
	near "$policy: --solver=glpk" "$(word objective)" "$ours"
	alloc -q -v -p $policy --certify --space-sharing=twenty-pairs.csv -o none.csv twenty.csv
	err_has "certified=yes" "$policy: certified"
	{ head -n 1 twenty.csv && tail -n +2 twenty.csv | sort -t, -k3,3 -k4,4n; } >shuffled.csv
	[ $policy = fifo ] && continue
	alloc -q -p $policy --space-sharing=twenty-pairs.csv -o other.csv shuffled.csv
	sort with.csv >want
	sort other.csv >got
	same_file want got "$policy: the order of rows does not matter"
	if have glpsol && [ $policy != finish-time ]; then
		alloc -q -p $policy --space-sharing=twenty-pairs.csv --dump-lp=p.lp -o none.csv twenty.csv
		glpsol --lp p.lp --exact -w sol >/dev/null 2>err
		theirs=$(awk '$1 == "s" { print $NF }' sol)
		[ $policy = makespan ] && theirs=$(awk -v t="$theirs" 'BEGIN { printf "%.17g\n", 1 / t }')
		near "$policy: glpsol" "$theirs" "$ours"
	fi
done
alloc -q -v -p max-min --agnostic --space-sharing=twenty-pairs.csv -o none.csv twenty.csv
ok "agnostic" awk -v gap="$(word gap)" 'BEGIN { exit !(gap != "" && gap <= 1e-9) }'

# ---- fifo-greedy: who finds no GPU joins the best partner, or all behind wait ----
printf 'gpu_type,gpus\nv100,1\nk80,1\n' >cluster.csv
awk 'BEGIN {
	print "job_id,job_type,gpu_type,steps_per_s"
	split("a b c d e", job, " ")
	for (i = 1; i <= 5; i++) printf "%s,%s,v100,2\n%s,%s,k80,1\n", job[i], job[i], job[i], job[i]
}' >five.csv
cat >p.csv <<'E'
job_a,job_b,scale_factor,gpu_type,steps_per_s_a,steps_per_s_b
c,a,1,v100,1.6,1.6
b,c,1,k80,0.9,0.8
a,d,1,v100,1.5,1.5
b,d,1,k80,0.75,0.75
d,c,1,k80,1,1
E
alloc -p fifo-greedy --space-sharing=p.csv five.csv
is_out "fifo-greedy: c joins b, where they lose least; d would, but for a sum of just 1.5; e waits" <<'E'
job_id,job_type,gpu_type,steps_per_s,with_job_id,with_steps_per_s,share,policy
a,a,v100,2,,,1,fifo-greedy --space-sharing=p.csv
a,a,k80,1,,,0,fifo-greedy --space-sharing=p.csv
b,b,v100,2,,,0,fifo-greedy --space-sharing=p.csv
b,b,k80,1,,,0,fifo-greedy --space-sharing=p.csv
c,c,v100,2,,,0,fifo-greedy --space-sharing=p.csv
c,c,k80,1,,,0,fifo-greedy --space-sharing=p.csv
d,d,v100,2,,,0,fifo-greedy --space-sharing=p.csv
d,d,k80,1,,,0,fifo-greedy --space-sharing=p.csv
e,e,v100,2,,,0,fifo-greedy --space-sharing=p.csv
e,e,k80,1,,,0,fifo-greedy --space-sharing=p.csv
b,b,k80,0.9,c,0.8,1,fifo-greedy --space-sharing=p.csv
E
sed -i s/1.5,1.5/1.5,1.6/ p.csv
alloc -q -v -p fifo-greedy --space-sharing=p.csv -o joined.csv five.csv
ok "fifo-greedy: d joins a" grep -q '^a,a,v100,1.5,d,1.6,1,' joined.csv
# weights 5 4 3 2 by rates over the fastest one
near "fifo-greedy: objective" "$(word objective)" "$(awk 'BEGIN { printf "%.17g\n", (5 * 1.5 + 4 * .9 + 3 * .8 + 2 * 1.6) / 2 }')"

# ---- gandiva ----
printf 'gpu_type,gpus\nv100,2\np100,3\nk80,4\n' >cluster.csv
# combinations FILE: every job is in one, whose shares are N / M each; prints them
combinations() {
	awk -F, -v m="$2" 'NR > 1 && $9 > 0 {
		split("", n); n["v100"] = 2; n["p100"] = 3; n["k80"] = 4
		if ($9 - n[$3] / m > 1e-12 || n[$3] / m - $9 > 1e-12) exit 1
		id = $1 " " $7
		if (!(id in seen)) { seen[id] = 1; jobs[$1]++; if ($7 != "") jobs[$7]++; print id }
	} END { for (i in jobs) if (jobs[i] != 1) exit 1 }' "$1"
}
alloc -v -p gandiva --space-sharing=twenty-pairs.csv -o first.csv twenty.csv
combinations first.csv 10 >pairs1 || fail "gandiva: each job in one combination"
is "gandiva: ten pairs of twenty jobs" "$(grep -c . pairs1)" 10
err_has "gv-alloc: policy=gandiva jobs=20 classes=20 types=3 pairs=0 shared=30 objective=" "gandiva: the lowest level, no bound"
alloc -p gandiva --seed=0 --space-sharing=twenty-pairs.csv -o again.csv shuffled.csv
sort first.csv >want
sort again.csv >got
same_file want got "gandiva: the seed is 0, the order of rows does not matter"
alloc -p gandiva --seed=1 --space-sharing=twenty-pairs.csv -o again.csv twenty.csv
combinations again.csv 10 >pairs2 || fail "gandiva: each job in one combination, another seed"
ok "gandiva: another seed, other pairs" sh -c '! cmp -s pairs1 pairs2'
grep -v '^j20,' twenty.csv >nineteen.csv
alloc -p gandiva --space-sharing=twenty-pairs.csv -o fewer.csv nineteen.csv
combinations fewer.csv 10 >pairs3 || fail "gandiva: one less"
is "gandiva: one less, nine pairs and one alone" "$(grep -c ' .' pairs3)" 9
# .04 of its rate for each, on three types, is .24 in all
awk -F, -v OFS=, 'NR > 1 { $5 *= .06; $6 *= .06 } { print }' twenty-pairs.csv >bad-pairs.csv
alloc -p gandiva --space-sharing=bad-pairs.csv -o alone.csv twenty.csv
alloc -p isolated -o isolated.csv twenty.csv
cut -d, -f1-6,9 alone.csv >got
cut -d, -f1-7 isolated.csv >want
same_file want got "gandiva: nobody shares who would lose much; then it is isolated"
head -n 28 twenty.csv >few.csv
alloc -p gandiva --space-sharing=twenty-pairs.csv -o alone.csv few.csv
alloc -p isolated -o isolated.csv few.csv
cut -d, -f1-6,9 alone.csv >got
cut -d, -f1-7 isolated.csv >want
same_file want got "gandiva: nobody shares when all have GPUs"
alloc -p max-min --seed=1 twenty.csv
err_has "gv-alloc: --seed: policy max-min draws nothing" "--seed: other policies refuse"
is_status 2 "--seed: status"
alloc -p gandiva --seed=x twenty.csv
err_has "gv-alloc: --seed: " "--seed: not a number"

# ---- what is refused ----
awk 'BEGIN { print "job_id,job_type,gpu_type,steps_per_s"; for (i = 0; i < 1500; i++) print i ",x,v100,1" }' >many.csv
alloc -p max-min --solver=glpk --space-sharing="$src/examples/man/pairs.csv" many.csv
is_status 0 "many jobs, none in pairs"
printf 'job_a,job_b,scale_factor,gpu_type,steps_per_s_a,steps_per_s_b\nx,x,1,v100,.8,.8\n' >p.csv
alloc -p max-min --solver=glpk --space-sharing=p.csv many.csv
is_status 2 "too many pairs: status"
is_err "too many pairs" <<'E'
gv-alloc: 1124250 pairs of jobs are too many for one program; --solver=auto does not make them all
E
alloc -p max-min --space-sharing=p.csv many.csv
is_status 0 "not too many for --solver=auto"
# wrong NAME TABLE MESSAGE: --space-sharing=TABLE is bad input
wrong() {
	printf '%b' "$2" >bad.csv
	alloc -p max-min --space-sharing=bad.csv twenty.csv
	echo "gv-alloc: $3" >want
	is_status 2 "$1: status"
	if cmp -s want err; then pass "$1: message"; else fail "$1: message" want err; fi
}
top='job_a,job_b,scale_factor,gpu_type,steps_per_s_a,steps_per_s_b\n'
wrong "no columns" 'job_a,job_b,scale_factor,gpu_type,steps_per_s_a\n' \
	'bad.csv:1: missing column "steps_per_s_b" (found: job_a, job_b, scale_factor, gpu_type, steps_per_s_a)'
wrong "no name" "${top}x,,1,v100,1,1\n" \
	'bad.csv:2: job_b: expected the name of a job or of a type of jobs, got ""'
wrong "no GPU type" "${top}x,y,1,,1,1\n" 'bad.csv:2: gpu_type: expected the name of a GPU type, got ""'
wrong "a gang of 0" "${top}x,y,0,v100,1,1\n" 'bad.csv:2: scale_factor: expected a whole number > 0, got "0"'
wrong "a negative rate" "${top}x,y,1,v100,1,-1\n" 'bad.csv:2: steps_per_s_b: expected a number >= 0, got "-1"'
wrong "a rate that is no number" "${top}x,y,1,v100,fast,1\n" 'bad.csv:2: steps_per_s_a: expected a number, got "fast"'
wrong "a pair twice" "${top}x,y,1,v100,1,1\ny,x,2,v100,1,1\ny,x,1,v100,1,1\n" \
	'bad.csv:4: job_a: repeated pair on this type, first at line 2'
for policy in sjf isolated proportional strategy-proof allox; do
	alloc -p $policy --space-sharing=pairs.csv twenty.csv
	err_has "gv-alloc: --space-sharing: policy $policy gives no GPU to two jobs" "$policy refuses"
	is_status 2 "$policy refuses: status"
done
printf 'gpu_type,gpus\nv100,1\n' >cluster.csv
alloc -p isolated own.csv
is_err "isolated refuses rows of two jobs" <<'E'
gv-alloc: own.csv:2: with_job_id: policy isolated gives no GPU to two jobs
E
alloc -p max-min --explain=why.csv own.csv
silent "--explain with rows of two jobs"
ok "a GPU that two share is used once" grep -q "^gpu_type,v100,capacity,yes,,1,1," why.csv

# ---- Gavel's measurements ----
if [ ! -d "$data" ]; then
	skip "no shared data"
	done_testing
	exit
fi
pairs=$data/throughputs_pairs.csv
# POP's instance: 2,048 jobs on a fourth as many GPUs of each type, drawn as Gavel draws
if [ -z "$GV_PYTHON" ]; then
	skip "no python3 to draw POP's jobs"
else
	"$GV_PYTHON" - "$data/job_table.csv" >pop.csv <<'E'
import csv, random, sys
types = [row["job_type"] for row in csv.DictReader(open(sys.argv[1]))]
draw = random.Random(0)
print("job_id,job_type,scale_factor")
for i in range(2048):
    draw.random()
    draw.uniform(3, 4) if draw.random() >= .8 else draw.uniform(1.5, 3)
    print(f"{i},{draw.choice(types)},1")
E
	printf 'gpu_type,gpus\nv100,512\np100,512\nk80,512\n' >cluster.csv
	alloc -q -v -p max-min -t "$data/throughputs.csv" --space-sharing="$pairs" -o pop.out pop.csv
	near "POP's 2,048 jobs: the published level and 3e-8 more" "$(word objective)" 1.110912886402
	ok "POP's 2,048 jobs: proved" awk -v gap="$(word gap)" 'BEGIN { exit !(gap != "" && gap <= 1e-12) }'
	# the lowest level of all jobs from the table itself: 1 / 3 of all rates is P
	ok "POP's 2,048 jobs: every job is at the level" awk -F, 'NR == FNR {
		if (FNR > 1 && $2 == 1 && $3 !~ /_/) equal[$1] += $4 / 3
		next
	} FNR > 1 {
		steps[$1] += $5 * $8; type[$1] = $2
		if ($6 != "") steps[$6] += $7 * $8
	} END {
		for (i in steps) { n++; if (steps[i] / equal[type[i]] < 1.110912886402 * (1 - 1e-11)) exit 1 }
		exit n != 2048
	}' "$data/throughputs.csv" pop.out
fi
printf 'gpu_type,gpus,usd_per_h\nv100,8,2.85\np100,8,1.68\nk80,8,0.52\n' >cluster.csv
gzip -dc "$data/trace_synth_multi_seed0.csv.gz" | head -n 61 >jobs.csv
for policy in max-min makespan finish-time max-sum min-cost min-cost+per-dollar fifo; do
	alloc -q -v -p $policy -t "$data/throughputs.csv" --space-sharing="$pairs" -o none.csv jobs.csv
	ours=$(word objective)
	ok "$policy of Gavel's jobs: proved" awk -v gap="$(word gap)" 'BEGIN { exit !(gap != "" && gap <= 1e-9) }'
	alloc -q -v -p $policy --solver=glpk -t "$data/throughputs.csv" --space-sharing="$pairs" -o none.csv jobs.csv
	near "$policy of Gavel's jobs: --solver=glpk" "$(word objective)" "$ours"
done

# ---- without types ----
printf 'gpu_type,gpus\na,1\nb,3\n' >cluster.csv
rates() { # OF_A OF_B PAIR_A PAIR_B: six jobs, any two of which can share
	echo job_id,gpu_type,steps_per_s >jobs.csv
	echo job_a,job_b,scale_factor,gpu_type,steps_per_s_a,steps_per_s_b >pairs.csv
	for i in 1 2 3 4 5 6; do
		printf 'j%d,a,%s\nj%d,b,%s\n' $i "$1" $i "$2" >>jobs.csv
		for j in 1 2 3 4 5 6; do
			[ $i -ge $j ] || printf 'j%d,j%d,1,a,%s,%s\nj%d,j%d,1,b,%s,%s\n' $i $j "$3" "$3" $i $j "$4" "$4" >>pairs.csv
		done
	done
}
for policy in max-min makespan max-sum; do
	rates 5 5 4 4
	sed -i '1s/$/,total_steps/; 2,$s/$/,100/' jobs.csv
	alloc -q -v -p $policy --space-sharing=pairs.csv -o none.csv jobs.csv
	means=$(word objective)
	rates 8 4 13 1
	sed -i '1s/$/,total_steps/; 2,$s/$/,100/' jobs.csv
	alloc -q -v -p $policy --agnostic --space-sharing=pairs.csv -o none.csv jobs.csv
	near "$policy: --agnostic has the means of pairs, too" "$(word objective)" "$means"
done
done_testing

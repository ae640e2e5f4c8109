#!/bin/sh
# Weights, rates and steps that lie far apart, together with budgets, minimums and deadlines: tables
# for which double precision had a wrong answer, or none.  Objectives are worked out by hand.
. "${0%/*}/lib.sh"

head=job_id,gpu_type,steps_per_s,scale_factor,priority_weight,min_steps_per_s,deadline_s,steps_remaining
# cluster GPUS USD_PER_H, rates ROW...
cluster() { printf 'gpu_type,gpus,usd_per_h\nt0,%s,%s\n' "$1" "$2" >cluster.csv; }
rates() { printf '%s\n' "$head" "$@" >rates.csv; }
# word NAME: of the last -v line in err
word() { tail -n 1 err | tr ' ' '\n' | sed -n "s/^$1=//p"; }
near() { awk -v a="$1" -v b="$2" -v t="${3:-1e-9}" 'BEGIN { d = a - b; d = d < 0 ? -d : d
	exit !(a != "" && b != "" && d <= t * (b < 0 ? -b : b)) }'; }
share() { sed -n "s/^$1,.*,\([^,]*\),[^,]*$/\1/p" out.csv; }
# answered POLICY OBJECTIVE WHAT [OPTION...]: with a bound that proves it
answered() {
	policy=$1 objective=$2 what=$3
	shift 3
	run gv-alloc -q -v -p "$policy" -c cluster.csv -o out.csv "$@" rates.csv
	is_status 0 "$what: an answer"
	ok "$what: the best there is" near "$(word objective)" "$objective"
	ok "$what: proved" near "$(word bound)" "$objective"
	ok "$what: nothing is said" awk 'NR > 1 { exit 1 }' err
}

# A job of 1e12 steps beside one of 30, with money for half a GPU: both are done when the long one is.
cluster 3 0.151
rates j0,t0,1.52,1,1,,,459000000000 j1,t0,192,1,1,,,29.5
money=$(awk 'BEGIN { printf "%.17g", .0709 / .151 }')
want=$(awk -v g="$money" 'BEGIN { printf "%.17g", (459e9 / 1.52 + 29.5 / 192) / g }')
for solver in auto glpk price; do
	answered makespan "$want" "makespan, money, $solver" --budget=0.0709 --solver=$solver
done

# A deadline that asks for 2e-12 of a GPU, weights 1e12 apart, and money for three quarters of one.
cluster 2 1.18
rates j0,t0,0.0119,1,1e12,,157367000000,4.39 j1,t0,156,1,1,,,38500000
want=$(awk 'BEGIN { g = .908 / 1.18; printf "%.17g", g / (1e12 + 1) }')
answered max-min "$want" "max-min, money" --budget=0.908
ok "and all the money is spent" near "$(awk -F, 'NR > 1 { s += $(NF - 1) } END { printf "%.17g", s }' out.csv)" \
	"$(awk 'BEGIN { printf "%.17g", .908 / 1.18 }')"

# Needs of 5e-5 to .4 GPUs, of which there are .95: no deadline is in the way of another.
cluster 3 0.345
rates j0,t0,1.13,1,14000,0.0437,,96.7 j1,t0,0.000722,3,1.1e-05,8.96e-14,,179 \
	j2,t0,0.0402,1,190,0.0159,,7.5 j3,t0,6.55,1,180000000,,11622339.6,555
want=$(awk 'BEGIN { left = .328 / .345 - 3 * 8.96e-14 / .000722 - .0159 / .0402 - .0437 / 1.13
	printf "%.17g", 6.55 * left + .0437 + .0159 + 8.96e-14 }')
for solver in auto glpk; do
	answered max-sum "$want" "max-sum, money and needs, $solver" --budget=0.328 --solver=$solver
done
for policy in fifo finish-time makespan; do
	run gv-alloc -q -v -p $policy -c cluster.csv -o out.csv --budget=0.328 rates.csv
	is_status 0 "$policy has an answer there, too"
done

# Three gangs of all GPUs whose deadlines are 4e8 years away.
cluster 4 0.195
rates j0,t0,0.00239,4,1e6,,1.20041e16,878 j1,t0,0.00239,4,1,,1.20041e16,878 \
	j2,t0,0.00239,4,1e12,,1.20041e16,878
for solver in auto glpk; do
	answered max-sum 0.00239 "gangs, $solver" --solver=$solver
done

# What is left over when weights are 1e13 apart: the light gang has the cluster but for next to nothing.
cluster 3 1
rates j0,t0,18.4,3,.01,,,549 j1,t0,.043,1,15000,,,324 j2,t0,.36,1,79000000000,,,429
want=$(awk 'BEGIN { printf "%.17g", 1 / 79e9 }')
for solver in auto glpk interior price; do
	answered max-min "$want" "weights, $solver" --solver=$solver
	# what the gang has, three GPUs make; where it is not there one GPU is for each of the others
	ok "weights, $solver: the sum that comes second" near "$(awk -v a="$(share j0)" -v b="$(share j1)" \
		-v c="$(share j2)" 'BEGIN { printf "%.17g", 3 * a + b + c }')" 3
done

# All the time of one GPU for the first; the other is for three, one of which needs 1e-5 of it.
cluster 2 0.25
rates j0,t0,5.7,1,1,1.29e-05,,2.17 j1,t0,5.7,1,1,1.29e-05,,2.17 j2,t0,2.29,1,1,,,416 \
	j3,t0,.265,1,1,.265,,1.72
want=$(awk 'BEGIN { printf "%.17g", 416 / 2.29 + 2 * 2.17 / 5.7 }')
for solver in auto glpk interior price; do
	answered makespan "$want" "a minimum of all the time, $solver" --solver=$solver
done

# A deadline in 14,000 years asks for 5e-12 of a GPU: it is had, though sums do not see it.
cat >cluster.csv <<'END'
gpu_type,gpus,usd_per_h
t0,2,9.73
t1,1,0.0752
END
rates j0,t0,92.7,1,1,,442728000000,209 j0,t1,100,1,1,,442728000000,209 \
	j1,t0,20.7,1,1,4.93,,573000 j1,t1,13.2,1,1,4.93,,573000 j2,t0,.0783,1,1,.0176,,119 \
	j3,t0,876,1,1,,9101060,14.3 j3,t1,686,1,1,,9101060,14.3
for policy in fifo max-sum min-cost+per-dollar; do
	for solver in auto glpk; do
		run gv-alloc -q -p $policy --solver=$solver -c cluster.csv -o out.csv rates.csv
		is_status 0 "needs of 5e-12, $policy, $solver"
		ok "each need is met" awk -F, 'NR > 1 { thr[$1] += $3 * $(NF - 1) }
			END { exit !(thr["j0"] >= 209 / 442728000000 * (1 - 1e-9) && thr["j1"] >= 4.93 * (1 - 1e-9) &&
			thr["j2"] >= .0176 * (1 - 1e-9) && thr["j3"] >= 14.3 / 9101060 * (1 - 1e-9)) }' out.csv
	done
done

# ---- what is equally good but for the rounding of a product is equally good ----
# The gang of 3, first of 6, counts 6 for its GPUs, the fifth job 2 for its one; a dollar buys the same of both.
printf 'gpu_type,gpus,usd_per_h\nt0,2,.482\nt1,3,6.1e-05\n' >cluster.csv
rates j4,t1,.878,3,1,,,1 j0,t0,6.9,1,1,2.27e-09,,1 j0,t1,2.54,1,1,2.27e-09,,1 j2,t1,6.64,1,1,,,1 \
	j5,t0,8.77,1,1,.395,,1 j5,t1,3.5,1,1,.395,,1 j3,t0,.88,1,1,.048,,1 j3,t1,1.09,1,1,.048,,1 j1,t0,3.45,1,1,,,1
for solver in auto glpk price interior; do
	run gv-alloc -q -p fifo --solver=$solver --budget=0.0947 -c cluster.csv -o out.csv rates.csv
	is_status 0 "a tie, $solver: an answer"
	ok "a tie, $solver: the gang makes more of the GPUs" near "$(share j4)" "$(awk 'BEGIN {
		printf "%.17g", (2 - .048 / 1.09) / 3 }')"
done

# ---- water-filling: who is light has what the others leave ----
# All can have all their time on a type of their own or with room for them, but j0 is heavy on the one that j3
# is fastest on.
cat >cluster.csv <<'END'
gpu_type,gpus,usd_per_h
t0,8,.0238
t1,3,.779
t2,1,113000
t3,15,71.8
END
rates j0,t1,11.5,1,1e12,,1254510,4850 j0,t2,15.3,1,1e12,,1254510,4850 j0,t3,6.91,1,1e12,,1254510,4850 \
	j1,t0,22,1,.001,,,278 j1,t1,1.08,1,.001,,,278 j1,t2,12.6,1,.001,,,278 j1,t3,3.24,1,.001,,,278 \
	j2,t0,1.58,1,1,,,0 j2,t1,21.3,1,1,,,0 j2,t2,2.56,1,1,,,0 j2,t3,1.79,1,1,,,0 \
	j3,t0,.0212,1,1e-06,,,1170 j3,t1,.376,1,1e-06,,,1170 j3,t2,.615,1,1e-06,,,1170 j3,t3,.0129,1,1e-06,,,1170 \
	j5,t0,8070,1,.001,4190,,3e10 j5,t1,3780,1,.001,4190,,3e10 j5,t2,1120,1,.001,4190,,3e10 \
	j6,t0,.241,1,1e-06,.0672,,5e10 j6,t1,.0116,1,1e-06,.0672,,5e10 j6,t3,.231,1,1e-06,.0672,,5e10
for solver in auto glpk price interior; do
	run gv-alloc -q -v -p water-filling --solver=$solver -c cluster.csv -o out.csv rates.csv
	is_status 0 "water-filling, $solver: an answer"
	ok "water-filling, $solver: the light job has all its time where it is second fastest" near \
		"$(sed -n 's/^j3,t1,.*,\([^,]*\),[^,]*$/\1/p' out.csv)" 1
	ok "water-filling, $solver: nothing is said" awk 'NR > 1 { exit 1 }' err
done
# One GPU, weights 1e12 apart: shares are as weights.
cluster 1 1
rates j0,t0,.325,1,1,,,1 j1,t0,.301,1,1e12,,,1
for solver in auto glpk price interior; do
	run gv-alloc -q -p water-filling --solver=$solver -c cluster.csv -o out.csv rates.csv
	ok "shares as weights, $solver" near "$(share j0)" 1e-12
done
# Of a job that needs next to nothing, and waits; heavy ones have the rest.
rates j0,t0,5,1,1e-6,5e-12,,1 j1,t0,2,1,1e6,,,1 j2,t0,3,1,1e6,,,1
for solver in auto glpk price interior; do
	run gv-alloc -q -p water-filling --solver=$solver -c cluster.csv -o out.csv rates.csv
	ok "what is needed, $solver" near "$(share j0)" 1e-12
	ok "and no more, $solver" near "$(share j1)" "$(share j2)"
done

# ---- a ratio of finish times where what is left of one is next to nothing of its time ----
printf 'gpu_type,gpus,usd_per_h\nt0,1,1\nt1,4,1\n' >cluster.csv
head=job_id,gpu_type,steps_per_s,scale_factor,elapsed_s,isolated_elapsed_s,steps_remaining
rates j1,t0,5370,1,0,0,662 j2,t0,.072,4,0,0,1330 j2,t1,.075,4,0,0,1330 j3,t0,49100,1,12500,100,10.8 \
	j4,t0,4.75e-06,3,0,3.47,828000000 j4,t1,7.03e-06,3,0,3.47,828000000 j5,t0,.137,1,0,30.3,114000000000
run gv-alloc -q -v -p finish-time -c cluster.csv -o out.csv rates.csv
is_status 0 "times next to each other: an answer"
ok "as good as its bound to a millionth" near "$(word objective)" "$(word bound)" 5e-7
# A job of 5e-14 steps/s: what a step of it counts is not what rounding leaves of it.
cluster 1 1
rates j0,t0,1,1,0,0,932 j1,t0,19600,1,0,189,12200 j2,t0,20.2,1,165,0,529 j3,t0,1,1,0,0,2.34 \
	j4,t0,5.07e-14,1,1.22,1250,44100
for solver in auto glpk price interior; do
	answered finish-time 1.58322546117 "a step of 1e12 s, $solver" --solver=$solver
done
answered finish-time 1.58322546117 "a step of 1e12 s, certified" --certify
done_testing

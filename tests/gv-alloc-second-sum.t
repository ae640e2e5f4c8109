#!/bin/sh
# What is given out after the aim is reached: the sum of s(i) throughput(i) / P(i), among the shares that are
# best.  The sums are of exact rational arithmetic, from the tables alone.
. "${0%/*}/lib.sh"

near() { awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; d = d < 0 ? -d : d
	exit !(a != "" && b != "" && d <= t * (b < 0 ? -b : b)) }'; }
rates() { printf '%s\n' "job_id,gpu_type,steps_per_s,scale_factor,$1" >rates.csv; shift; printf '%s\n' "$@" >>rates.csv; }
# second: the sum, of out.csv
second() {
	awk -F, 'FILENAME == "cluster.csv" { gpus[$1] = $2; all += FNR > 1 ? $2 : 0; next }
		FNR > 1 { own[$1] += $3 * gpus[$2] / all; made[$1] += $4 * $3 * $(NF - 1) }
		END { for (job in made) sum += made[job] / own[job]; printf "%.17g", sum }' cluster.csv out.csv
}
# answered POLICY SUM WHAT SOLVER...
answered() {
	policy=$1 sum=$2 what=$3
	shift 3
	for solver; do
		run gv-alloc -q -p "$policy" --solver="$solver" -c cluster.csv -o out.csv rates.csv
		is_status 0 "$what, $solver: an answer"
		is_err "" "$what, $solver: nothing is said"
		ok "$what, $solver: the largest sum" near "$(second)" "$sum" 1e-9
	done
}

# ---- finish-time: what a job needs anyway is no more where the ratio leaves others room ----
printf 'gpu_type,gpus\nt0,1\nt1,34\n' >cluster.csv
rates min_steps_per_s,deadline_s,arrival_s,elapsed_s,isolated_elapsed_s,steps_remaining \
	j0,t0,24200,1,,,5,0,0,10.5 j0,t1,601000,1,,,5,0,0,10.5 \
	j1,t0,4.35e-05,1,.000579,1435060,5,45,3.49,753 j1,t1,.0014,1,.000579,1435060,5,45,3.49,753 \
	j2,t0,9.05,1,,7.00241,7,0,0,208 j2,t1,253000,1,,7.00241,7,0,0,208 j3,t1,4.17e-05,1,,,5,596,0,21.2 \
	j4,t0,317,1,,,0,902,1.1,42.2 j5,t0,1.83e-07,1,,2079070000,0,0,9400,112 j5,t1,5.07e-08,1,,2079070000,0,0,9400,112
answered finish-time 39.2656081904 "times next to each other" auto glpk price interior

# All the time of the first two is what the ratio asks for, but for a rounding of what has passed.
printf 'gpu_type,gpus\nt0,1\nt1,1\nt2,2\n' >cluster.csv
rates elapsed_s,isolated_elapsed_s,steps_remaining j3,t0,553000000,1,3.86,8.17,12.2 j3,t1,184000,1,3.86,8.17,12.2 \
	j3,t2,5.09e12,1,3.86,8.17,12.2 j4,t0,553000000,1,3.86,8.17,12.2 j4,t1,184000,1,3.86,8.17,12.2 \
	j4,t2,5.09e12,1,3.86,8.17,12.2 j0,t0,4.17e-05,1,0,1080,25.2 j0,t1,.292,1,0,1080,25.2 j0,t2,.00902,1,0,1080,25.2 \
	j1,t0,.0238,1,0,0,2.13 j1,t1,3.56e-06,1,0,0,2.13 j1,t2,9.78e-07,1,0,0,2.13 \
	j2,t0,.0238,1,0,0,2.13 j2,t1,3.56e-06,1,0,0,2.13 j2,t2,9.78e-07,1,0,0,2.13 \
	j5,t0,6.53e-05,1,0,709,207000 j5,t1,2.27,1,0,709,207000 j5,t2,.0245,1,0,709,207000 \
	j6,t0,.000866,1,1.1,0,2000 j6,t1,1.08e-10,1,1.1,0,2000 j6,t2,4.1e-11,1,1.1,0,2000
answered finish-time 11.8981279098 "a ratio of what has passed" auto glpk price interior

# What is left of a job is less than a rounding of the time that has passed.
printf 'gpu_type,gpus\nt0,4\nt1,1\nt2,8\n' >cluster.csv
rates elapsed_s,isolated_elapsed_s,steps_remaining j0,t1,23500000,1,0,0,93800000 j1,t0,4.33e16,1,171,34,123 \
	j1,t2,691000,1,171,34,123 j2,t0,4.33e16,1,171,34,123 j2,t2,691000,1,171,34,123 j3,t0,6.85e-12,3,0,0,12 \
	j3,t1,5.27e-05,3,0,0,12 j3,t2,4.71e-16,3,0,0,12
run gv-alloc -q -p finish-time -c cluster.csv -o out.csv rates.csv
is_status 0 "next to no step left: an answer"

# ---- sums: who adds next to nothing to what counts first has what the others leave ----
printf 'gpu_type,gpus,usd_per_h\nt0,3,.149\nt1,8,.131\nt2,3,1.49\n' >cluster.csv
rates min_steps_per_s,deadline_s,arrival_s,elapsed_s,steps_remaining \
	j0,t0,104,1,,,5,0,1 j0,t1,131,1,,,5,0,1 j0,t2,3220,1,,,5,0,1 \
	j1,t0,1.03e-06,3,7.15e-07,,5,0,1 j1,t2,2.13e-06,3,7.15e-07,,5,0,1 j2,t0,1.03e-06,3,,,5,0,1 j2,t2,2.13e-06,3,,,5,0,1 \
	j3,t0,1.03e-06,3,,,5,0,1 j3,t2,2.13e-06,3,,,5,0,1 j4,t1,3.75,3,1.6,,7,0,1 j4,t2,.483,3,1.6,,7,0,1 \
	j5,t0,5130000,4,192000,,5,0,1 j5,t1,377000,4,192000,,5,0,1 j5,t2,39200,4,192000,,5,0,1 \
	j6,t0,.00168,3,,,0,0,1 j6,t2,2.62e-06,3,,,0,0,1
answered max-sum 30.5079276280 "steps far apart" auto glpk price interior
answered min-cost+per-dollar 30.5079276280 "steps far apart per dollar" auto glpk price interior
done_testing

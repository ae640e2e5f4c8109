#!/bin/sh
# The solver that gv-alloc chooses by itself: many GPU types, where the search for prices
# may take long, take about as long as the better of both solvers, and say the same.
. "${0%/*}/lib.sh"

# draw TYPES JOBS SEED: cluster.csv, and rates.csv of jobs that all differ
draw() {
	awk -v m="$1" -v n="$2" -v seed="$3" '
		function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
		BEGIN {
			s = seed * 7919 + 1
			for (i = 0; i < 10; i++) u()
			print "gpu_type,gpus,usd_per_h" >"cluster.csv"
			for (j = 0; j < m; j++)
				printf "t%d,%d,%.2f\n", j, 2 ^ int(2 + 4 * u()), .3 + 4.7 * u() >"cluster.csv"
			print "job_id,scale_factor,total_steps,priority_weight,gpu_type,steps_per_s" >"rates.csv"
			for (i = 0; i < n; i++) {
				gang = u() < .6 ? 1 : u() < .5 ? 2 : 4
				steps = 10 + int(99990 * u())
				weight = .5 + 1.5 * u()
				for (j = 0; j < m; j++)
					printf "j%d,%d,%d,%.3f,t%d,%.6f\n", i, gang, steps, weight, j, .1 + 19.9 * u() >"rates.csv"
			}
		}'
}
word() { tail -n 1 err | tr ' ' '\n' | sed -n "s/^$1=//p"; }
# solve NAME ARGS...: seconds of processors into NAME_s, the objective into NAME
solve() {
	solve_name=$1
	shift
	times >before
	run timeout 60 gv-alloc -q -v -c cluster.csv -o out.csv "$@" rates.csv
	times >after
	eval "${solve_name}_s=$(cat before after | awk '{ gsub(/[ms]/, " ") } NR % 2 == 0 { s = $1 * 60 + $2 + $3 * 60 + $4 - s } END { print s }') $solve_name=$(word objective)"
}
# compare TYPES JOBS SEED POLICY...
compare() {
	name="$1 types, $2 jobs, $4"
	draw "$1" "$2" "$3"
	shift 3
	solve glpk -p "$@" --solver=glpk
	solve auto -p "$@"
	ok "$name: proved" awk -v gap="$(word gap)" 'BEGIN { exit !(gap != "" && gap <= 1e-9) }'
	ran="auto $auto, glpk $glpk"
	ok "$name: as by GLPK" awk -v a="$auto" -v b="$glpk" \
		'BEGIN { d = a - b; exit !(a > 0 && (d < 0 ? -d : d) <= 1e-9 * b) }'
	ran="auto $auto_s s, glpk $glpk_s s"
	ok "$name: about as soon" awk -v a="$auto_s" -v b="$glpk_s" 'BEGIN { exit !(a <= 8 * b + 1) }'
}

compare 10 300 5 max-sum
compare 16 300 2 min-cost --per-dollar
compare 16 300 2 max-sum
compare 16 300 4 fifo
compare 32 300 1 max-sum
compare 32 300 1 max-min
compare 8 256 1 max-min

# what neither prices nor the simplex method did in a minute: rates over five decades
far_apart() {
	awk -v m="$1" -v n="$2" -v seed="$3" '
		function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
		function pick(list, k) { k = split(list, of, " "); return of[1 + int(k * u())] }
		BEGIN {
			s = seed * 7919 + 1
			for (i = 0; i < 10; i++) u()
			print "gpu_type,gpus,usd_per_h" >"cluster.csv"
			for (j = 0; j < m; j++)
				printf "t%d,%d,%.2f\n", j, pick("1 2 4 8 16 64"), .1 + 5 * u() >"cluster.csv"
			print "job_id,scale_factor,total_steps,priority_weight,elapsed_s,isolated_elapsed_s,gpu_type,steps_per_s" >"rates.csv"
			for (i = 0; i < n; i++) {
				gang = pick("1 1 1 1 2 4")
				steps = exp(log(10) * (2 + 4 * u()))
				weight = pick("1 1 2 5")
				for (j = 0; j < m; j++)
					if (j == 0 || u() < .9)
						printf "j%d,%d,%.6f,%d,0,0,t%d,%.9g\n", i, gang, steps, weight, j,
							exp(log(10) * (5 * u() - 2)) >"rates.csv"
			}
		}'
}
far_apart 16 400 3
solve filling -p water-filling
ran="$filling_s s"
ok "16 types, 400 jobs: water-filling needs multipliers that are 0" awk -v a="$filling_s" 'BEGIN { exit !(a < 20) }'
for policy in makespan max-min finish-time max-sum fifo; do
	far_apart 64 300 3
	solve auto -p $policy --certify
	is_status 0 "64 types, 300 jobs, rates far apart: $policy is proved"
	ran="$auto_s s"
	ok "$policy: soon" awk -v a="$auto_s" 'BEGIN { exit !(a < 20) }'
	a=$auto
	solve interior -p $policy --solver=interior
	ok "$policy: as by --solver=interior" awk -v a="$a" -v b="$interior" \
		'BEGIN { d = a - b; exit !(a > 0 && (d < 0 ? -d : d) <= 1e-9 * b) }'
done
done_testing

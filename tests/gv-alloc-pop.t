#!/bin/sh
# gv-alloc --pop: parts of jobs and GPUs, each solved for itself.
. "${0%/*}/lib.sh"

# word NAME: of the last -v line in err
word() { tail -n 1 err | tr ' ' '\n' | sed -n "s/^$1=//p"; }
# jobs N: a table of them, of four kinds
jobs() {
	echo job_id,gpu_type,steps_per_s,scale_factor,total_steps
	seq "$1" | awk '{
		k = $1 % 4; s = k == 3 ? 2 : 1
		print "j" $1 ",v100," 40 - 9 * k "," s "," 1000 + 100 * ($1 % 7)
		print "j" $1 ",k80," 4 + 3 * k "," s "," 1000 + 100 * ($1 % 7)
	}'
}
cat >cluster.csv <<EOF
gpu_type,gpus,usd_per_h
v100,12,3
k80,20,.5
EOF
jobs 120 >rates.csv
run gv-alloc -p max-min -c cluster.csv rates.csv
cp out whole
run gv-alloc -p max-min --pop=1 -c cluster.csv rates.csv
same_file out whole "one part is the whole"

for policy in max-min makespan max-sum min-cost+per-dollar; do
	run gv-alloc -v -p $policy -c cluster.csv -o /dev/null rates.csv
	best=$(word objective)
	for parts in 2 3 8; do
		run gv-alloc -v -p $policy --pop=$parts --seed=3 -c cluster.csv rates.csv
		ok "$policy in $parts parts: no better than the whole, and not much worse" awk \
			-v best="$best" -v o="$(word objective)" -v b="$(word bound)" -v p=$policy 'BEGIN {
			r = p == "makespan" ? best / o : o / best
			d = b / best - 1
			exit !(r <= 1 + 1e-9 && r > .7 && d < 1e-9 && d > -1e-9) }'
		ok "$policy in $parts parts: what was lost is said" awk \
			-v g="$(word gap)" -v o="$(word objective)" -v b="$(word bound)" 'BEGIN {
			d = o > b ? 1 - b / o : 1 - o / b
			exit !(g - d < .06 * d + 1e-9 && d - g < .06 * d + 1e-9) }'
		ok "$policy in $parts parts: within the GPUs and the time" awk -F, '
			NR > 1 { used[$2] += $4 * $6; time[$1] += $6 }
			END {
				if (used["v100"] > 12 + 1e-9 || used["k80"] > 20 + 1e-9) exit 1
				for (j in time) if (time[j] > 1 + 1e-9) exit 1
			}' out
	done
done
cut -d, -f7 out | tail -n 1 >name && mv name out
is_out "the name says it" <<EOF
min-cost+per-dollar+pop8 --seed=3
EOF
run gv-alloc -p makespan --pop=4 -c cluster.csv rates.csv
silent "nothing is said of it without -v"
cp out parts
run gv-alloc -p makespan+pop4 -c cluster.csv rates.csv
same_file out parts "-p takes the name"
run gv-alloc -p makespan --pop=4 --seed=7 -c cluster.csv rates.csv
ok "another seed, other parts" [ "$(cmp -s out parts && echo same)" = "" ]
{ head -n 1 rates.csv && sed 1d rates.csv | sort -r; } >turned.csv
run gv-alloc -p makespan --pop=4 -c cluster.csv turned.csv
sort out >a && sort parts >b
same_file a b "the order of the rows does not matter"
run gv-alloc -v -p max-min --pop=1000 -c cluster.csv -o /dev/null rates.csv
ok "more parts than jobs: a thousandth of the GPUs each" awk -v o="$(word objective)" \
	-v b="$(word bound)" 'BEGIN { exit !(o > 0 && o < .5 * b) }'

# pairs are of one part
cat >few.csv <<EOF
job_id,gpu_type,steps_per_s,with_job_id,with_steps_per_s
a,v100,5,,
b,v100,5,,
c,v100,5,,
d,v100,5,,
a,v100,4,b,4
a,v100,4,c,4
a,v100,4,d,4
b,v100,4,c,4
b,v100,4,d,4
c,v100,4,d,4
EOF
printf 'gpu_type,gpus\nv100,2\n' >two.csv
run gv-alloc -v -p max-min --pop=2 -c two.csv few.csv
ok "two parts of two jobs, two pairs at most" awk -F, '
	NR > 1 && $4 != "" && $6 > 0 { n++; seen[$1]++; seen[$4]++ }
	END { for (j in seen) if (seen[j] > 1) exit 1; exit n < 1 || n > 2 }' out

# ---- refusals ----
printf 'job_id,gpu_type,steps_per_s,total_steps,deadline_s\na,v100,5,10,9\n' >slo.csv
run gv-alloc -p max-sum --pop=2 -c cluster.csv slo.csv
is_err "not with deadlines" <<EOF
gv-alloc: --pop: deadlines and minimums are not met part by part
EOF
run gv-alloc -p fifo --pop=2 -c cluster.csv rates.csv
is_err "a policy that does not have it" <<EOF
gv-alloc: --pop: policy fifo does not have it
usage: gv-alloc -p POLICY -c CLUSTER [-t THROUGHPUTS] [OPTION...] [RATES]
EOF
for other in --certify --explain=x --dump-lp=x --placeable --budget=5; do
	run gv-alloc -p max-min --pop=2 $other -c cluster.csv rates.csv
	is_err "not with $other" <<EOF
gv-alloc: --pop does not go together with ${other%=*}
usage: gv-alloc -p POLICY -c CLUSTER [-t THROUGHPUTS] [OPTION...] [RATES]
EOF
done
run gv-alloc -p max-min --pop=0 -c cluster.csv rates.csv
is_status 2 "no parts: status"
run gv-alloc -p max-min+pop0 -c cluster.csv rates.csv
is_status 2 "no parts, by name: status"
printf 'job_id,gpu_type,steps_per_s,total_steps\na,v100,5,0\nb,v100,5,0\n' >done.csv
run gv-alloc -v -p makespan --pop=2 -c cluster.csv -o /dev/null done.csv
err_has "objective=0 bound=0 gap=0" "nothing left to do: nothing lost"
done_testing

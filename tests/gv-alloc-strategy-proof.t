#!/bin/sh
# gv-alloc -p strategy-proof: the example of three jobs.  Its properties are in
# unit/gv-alloc.strategy_proof.c.
. "${0%/*}/lib.sh"

printf 'gpu_type,gpus\nv100,1\nk80,1\n' >cluster.csv
printf 'job_id,gpu_type,steps_per_s\na,v100,40\na,k80,10\nb,v100,12\nb,k80,4\nc,v100,100\nc,k80,50\n' >rates.csv
run gv-alloc -p strategy-proof -c cluster.csv rates.csv
silent "three jobs"
awk -F, 'NR > 1 { printf "%s %s %.6f %s\n", $1, $2, $4, $5 }' out >got
mv got out
is_out "a half, a half and all, times .48, .489796 and .595041" <<EOF
a v100 0.240000 strategy-proof
a k80 0.000000 strategy-proof
b v100 0.244898 strategy-proof
b k80 0.000000 strategy-proof
c v100 0.000000 strategy-proof
c k80 0.595041 strategy-proof
EOF
run gv-alloc -v -p strategy-proof -c cluster.csv -o /dev/null rates.csv
ok "objective: the geometric mean of 20/25, 6/8 and 50/75, times 2" \
	awk '{ sub(/.*objective=/, ""); d = $1 - (0.8 * 0.75 * 2 / 3) ^ (1 / 3); exit !(d < 1e-8 && d > -1e-8) }' err
run gv-alloc --certify -p strategy-proof -c cluster.csv -o none.csv rates.csv
is_err "--certify: there is no such proof" <<EOF
gv-alloc: not proved in rational arithmetic
EOF
is_status 1 "--certify: status"
ok "--certify: no file" [ ! -e none.csv ]

# ---- jobs whose rates are multiples of each other's ----
awk 'BEGIN {
	print "job_id,gpu_type,steps_per_s,scale_factor"
	for (i = 0; i < 1000; i++)
		for (j = 0; j < 4; j++)
			print "j" i ",g" j "," (i % 11 == j ? 0 : i + 1) "," (i % 3 ? 1 : 2)
}' >multiples.csv
printf 'gpu_type,gpus\ng0,60\ng1,50\ng2,90\ng3,20\n' >four.csv
run timeout 10 gv-alloc -v -p strategy-proof -c four.csv multiples.csv
is_status 0 "a thousand jobs between types of the same price: in no time"
ok "equal but for their size: equal shares" awk -F, '
	NR > 1 { i = substr($1, 2) % 11; k = $2 "," $4 "," (i < 4 ? i : 4) }
	NR > 1 && k in x && x[k] != $5 { exit 1 }
	NR > 1 { x[k] = $5 }' out

# ---- many types: what a step takes grows with their square ----
awk -v s=6 -v n=24 -v m=64 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
BEGIN {
	for (i = 0; i < 20; i++)
		u()
	print "gpu_type,gpus" >"wide.cluster.csv"
	for (j = 0; j < m; j++)
		print "t" j "," 1 + int(n / 2 / m * (.3 + 1.4 * u())) >"wide.cluster.csv"
	print "job_id,gpu_type,steps_per_s" >"wide.rates.csv"
	for (i = 0; i < n; i++) {
		u()
		for (j = 0; j < m; j++)
			print "j" i ",t" j "," exp(log(10) * u()) >"wide.rates.csv"
	}
}'
if [ -n "${GV_SAN:-}" ]; then
	skip "sanitizer: the time is not that of the program"
else
	run sh -c 'ulimit -t 6; exec gv-alloc -p strategy-proof -c wide.cluster.csv -o out.csv wide.rates.csv'
	is_status 0 "64 types take no more than 6 s (12 s of a processor once, 1.8 now)"
fi
done_testing

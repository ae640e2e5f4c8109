#!/bin/sh
# gv-alloc --warm and --stream: prices of the last time change nothing but the time.
. "${0%/*}/lib.sh"

# rates N SEED: of N jobs that all differ, on three types
rates() {
	awk -v n="$1" -v s="$2" 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
	BEGIN {
		print "job_id,gpu_type,steps_per_s,scale_factor,priority_weight,total_steps,elapsed_s"
		for (i = 1; i <= n; i++) {
			rest = (u() < .8 ? 1 : 4) "," .5 + u() "," int(1000 + 90000 * u()) "," int(90 * u())
			f = .5 + 3 * u()
			print "j" i ",v100," f * (2 + u()) "," rest
			print "j" i ",p100," f * (1 + u()) "," rest
			print "j" i ",k80," f * (.3 + u()) "," rest
		}
	}'
}
cat >cluster.csv <<EOF
gpu_type,gpus,usd_per_h
v100,120,3
p100,150,1.5
k80,170,.5
EOF
rates 900 7 >rates.csv
grep -v '^j450,' rates.csv >one_less.csv

for policy in max-min makespan finish-time max-sum min-cost; do
	rm -f memory
	gv-alloc -q -p $policy -c cluster.csv -o cold rates.csv
	gv-alloc -q -p $policy -c cluster.csv -o cold_less one_less.csv
	run gv-alloc -q -p $policy -c cluster.csv --warm=memory -o first rates.csv
	silent "$policy: --warm with nothing there"
	same_file first cold "$policy: the same table"
	ok "$policy: prices are remembered" [ "$(wc -l <memory)" = 4 ]
	run gv-alloc -q -p $policy -c cluster.csv --warm=memory -o next one_less.csv
	same_file next cold_less "$policy: a job less, the same bytes as without"
	gv-alloc -q -p $policy -c cluster.csv --warm=memory -o next rates.csv
	same_file next cold "$policy: and back"
	{ cat rates.csv && echo && cat one_less.csv && echo && cat rates.csv; } >three
	{ cat cold && echo && cat cold_less && echo && cat cold; } >want_three
	run gv-alloc -q -p $policy -c cluster.csv three
	same_file out want_three "$policy: tables that follow each other are answered like each alone"
	echo >>want_three
	run gv-alloc -q -p $policy -c cluster.csv --stream three
	same_file out want_three "$policy: --stream, with an empty line behind the last one, too"
done

run gv-alloc -p max-min -c cluster.csv --warm=memory -o other rates.csv
silent "prices of another policy are passed over"
ok "and replaced" grep -q ',max-min$' memory
printf 'gpu_type,gpus\nv100,300\na100,200\n' >other_cluster.csv
run gv-alloc -q -p max-min -c other_cluster.csv --warm=memory rates.csv
cp out with
run gv-alloc -q -p max-min -c other_cluster.csv rates.csv
same_file with out "prices of other types are passed over"
printf 'gpu_type,price,gain_price,level,policy\nv100,0,,0,max-min\np100,1e300,,0,max-min\nk80,0,7,1e-300,max-min\n' >memory
gv-alloc -p max-min -c cluster.csv -o cold rates.csv
run gv-alloc -p max-min -c cluster.csv --warm=memory rates.csv
same_file out cold "prices that are all wrong change nothing"

wrong() {
	printf '%b' "$2" >bad
	cp bad bad.before
	run gv-alloc -p max-min -c cluster.csv --warm=bad -o none rates.csv
	is_err "$1" <<EOF
gv-alloc: $3
EOF
	is_status 2 "$1: status"
	ok "$1: no table" [ ! -e none ]
	same_file bad bad.before "$1: stays as it is"
}
wrong "a column is missing" 'gpu_type,price,level,policy\n' \
	'bad:1: missing column "gain_price" (found: gpu_type, price, level, policy)'
wrong "a price that is none" 'gpu_type,price,gain_price,level,policy\nv100,dear,,1,max-min\n' \
	'bad:2: price: expected a number, got "dear"'
wrong "a price below 0" 'gpu_type,price,gain_price,level,policy\nv100,1,-1,1,max-min\n' \
	'bad:2: gain_price: expected a number >= 0, got "-1"'
wrong "a row of three cells" 'gpu_type,price\nv100,1,2\n' 'bad:2: expected 2 cells, got 3'
run gv-alloc -p max-min -c cluster.csv --warm=- rates.csv
err_has "gv-alloc: --warm=-: a file is needed" "standard output is no memory"
is_status 2 "standard output is no memory: status"
run gv-alloc -p max-min -c cluster.csv --warm=no/such rates.csv
err_has "no/such" "a file that cannot be written"
is_status 2 "a file that cannot be written: status"
rm -f memory
run gv-alloc -p max-min -c cluster.csv --warm=memory -o none no_such.csv
ok "an input that is not there: nothing is remembered" [ ! -e memory ]
done_testing

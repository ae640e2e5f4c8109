#!/bin/sh
# gv-alloc -p water-filling: the paper's examples, entities and their messages.  Whether
# it is leximin is in unit/gv-alloc.water_filling.c.
. "${0%/*}/lib.sh"

usage='usage: gv-alloc -p POLICY -c CLUSTER [-t THROUGHPUTS] [OPTION...] [RATES]'
# levels [DIGITS]: job and throughput over what an equal share of all types gives, of ./out
# with the same number of GPUs of each type
levels() {
	awk -F, -v digits="${1:-3}" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["gpu_type"] !~ /^(k80|p100|v100)$/ { next }
		{
			job = $at["job_id"]
			if (!(job in t)) order[n++] = job
			t[job] += $at["steps_per_s"] / 3
			v[job] += $at["steps_per_s"] * $at["share"]
		}
		END { for (i = 0; i < n; i++) printf "%s %.*f\n", order[i], digits, v[order[i]] / t[order[i]] }' out
}
printf 'gpu_type,gpus\nk80,3\np100,3\nv100,3\n' >cluster.csv

# ---- one level ----
printf 'gpu_type,gpus\nv100,4\n' >four.csv
printf 'job_id,gpu_type,steps_per_s,priority_weight\na,v100,5,3\nb,v100,5,1\nc,v100,5,1\nd,v100,5,1\n' >equal.csv
run gv-alloc -p water-filling -c four.csv equal.csv
silent "the paper's example: four jobs, four GPUs"
cp out got && run cut -d, -f5,6 got
is_out "all have all the time, whatever their weights" <<EOF
share,policy
1,water-filling
1,water-filling
1,water-filling
1,water-filling
EOF
printf 'gpu_type,gpus\nv100,3\n' >three.csv
run gv-alloc -p water-filling -c three.csv equal.csv
cp out got && run cut -d, -f5 got
is_out "on three GPUs the heavy one is full, the others share the rest" <<EOF
share
1
0.6666666666666666
0.6666666666666666
0.6666666666666666
EOF
# the instance of the published notebook, the first jobs of it: its code says 0.881 for job 0
cat >two.csv <<EOF
job_id,gpu_type,steps_per_s,priority_weight
0,k80,0.42057,1
0,p100,0.75795,1
0,v100,0.84442,1
1,k80,0.25892,2
1,p100,0.40493,2
1,v100,0.51127,2
EOF
run gv-alloc -p water-filling -c cluster.csv two.csv
levels >got && mv got out
is_out "two jobs on nine GPUs: both have all the time on the best type" <<EOF
0 1.252
1 1.305
EOF
run gv-alloc -v --certify -p water-filling -c cluster.csv -o /dev/null two.csv
err_has "certified=yes" "--certify"
ok "the gap is small" awk '{ sub(/.*gap=/, ""); exit !($1 + 0 <= 1e-12) }' err

# ---- entities ----
if [ -d "$shared/data/gavel" ]; then
	# the 18 jobs of the published notebook: 3 entities of 6
	n=0
	{
		echo job_id,job_type,entity,priority_weight
		for type in 'Transformer (batch size 128)' A3C 'Transformer (batch size 256)' \
			'ResNet-18 (batch size 32)' 'ResNet-50 (batch size 128)' 'LM (batch size 20)' \
			'LM (batch size 10)' 'Transformer (batch size 128)' CycleGAN 'Transformer (batch size 16)' \
			'LM (batch size 10)' 'Transformer (batch size 64)' 'LM (batch size 80)' \
			'ResNet-50 (batch size 32)' 'LM (batch size 20)' 'ResNet-18 (batch size 256)' \
			'Transformer (batch size 16)' 'ResNet-18 (batch size 256)'; do
			echo "$n,$type,e$((n / 6)),$((n % 2 + 1))"
			n=$((n + 1))
		done
	} >jobs.csv
	printf 'entity,weight\ne0,1\ne1,2\ne2,3\n' >weights.csv
	run gv-alloc -p water-filling --entities=weights.csv -c cluster.csv -t "$shared/data/gavel/throughputs.csv" jobs.csv
	levels | awk '{ print int($1 / 6), $2 }' | sort -u >got && mv got out
	is_out "18 jobs of 3 entities: the published levels" <<EOF
0 0.194
0 0.387
1 0.387
1 0.775
2 0.581
2 1.162
EOF
else
	skip "no shared data"
fi
cat >people.csv <<EOF
job_id,gpu_type,steps_per_s,entity,arrival_s
a1,v100,5,ann,3
a2,v100,5,ann,1
a3,v100,5,ann,2
b1,v100,5,bob,0
EOF
# shares ARG...: what people.csv gets on GPUs of one type
shares() {
	run gv-alloc -p water-filling "$@" people.csv
	awk -F, 'NR > 1 { printf "%s %.6g\n", $1, $(NF - 1) }' out >got
	mv got out
}
printf 'gpu_type,gpus\nv100,1\n' >one.csv
shares -c one.csv
silent "entities"
is_out "an entity of one job has as much as one of three" <<EOF
a1 0.166667
a2 0.166667
a3 0.166667
b1 0.5
EOF
shares -c one.csv --inside=fairness
is_out "--inside=fairness is the default" <<EOF
a1 0.166667
a2 0.166667
a3 0.166667
b1 0.5
EOF
shares -c one.csv --inside=none
is_out "--inside=none: no entities" <<EOF
a1 0.25
a2 0.25
a3 0.25
b1 0.25
EOF
shares -c one.csv --inside=fifo
is_out "--inside=fifo: who came first" <<EOF
a1 0
a2 0.5
a3 0
b1 0.5
EOF
shares -c three.csv --inside=fifo
is_out "--inside=fifo: then the next; what bob cannot use is ann's" <<EOF
a1 0
a2 1
a3 1
b1 1
EOF
for how in fifo none; do
	run gv-alloc -p water-filling --agnostic --inside=$how -c one.csv people.csv
	mv out want
	ok "--inside=$how: the policy's name says so" grep -q ",water-filling+$how+agnostic\$" want
	run gv-alloc -p water-filling+$how+agnostic -c one.csv people.csv
	same_file out want "and -p takes it"
done
printf 'entity,weight\nann,3\nzoe,9\n' >weights.csv
shares -c one.csv --entities=weights.csv
is_out "--entities: three parts of four, and 1 where no weight is given" <<EOF
a1 0.25
a2 0.25
a3 0.25
b1 0.25
EOF
printf 'entity,weight\n,2\n' >weights.csv
cut -d, -f1-3 people.csv | sed '1s/$/,entity/; 2,4s/$/,/; 5s/$/,bob/' >nobody.csv
run gv-alloc -p water-filling -c one.csv --entities=weights.csv nobody.csv
awk -F, 'NR > 1 { printf "%s %.6g\n", $1, $(NF - 1) }' out >got && mv got out
is_out "the jobs of nobody are an entity, too" <<EOF
a1 0.222222
a2 0.222222
a3 0.222222
b1 0.333333
EOF

# ---- messages ----
# wrong NAME TEXT MESSAGE: weights, and what is said of them
wrong() {
	printf '%b' "$2" >bad.csv
	echo "gv-alloc: $3" >message
	run gv-alloc -p water-filling -c one.csv --entities=bad.csv people.csv
	is_err "$1" <message
	is_status 2 "$1: status"
}
wrong "no weights" 'entity\nann\n' 'bad.csv:1: missing column "weight" (found: entity)'
wrong "no entities" 'weight\n1\n' 'bad.csv:1: missing column "entity" (found: weight)'
wrong "a weight of 0" 'entity,weight\nann,0\n' 'bad.csv:2: weight: expected a number > 0, got "0"'
wrong "a weight that is none" 'entity,weight\nann,much\n' 'bad.csv:2: weight: expected a number, got "much"'
wrong "a repeated entity" 'entity,weight\nann,1\nbob,1\nann,2\n' \
	'bad.csv:4: entity: repeated entity "ann", first at line 2'
run gv-alloc -p water-filling -c one.csv --entities=nowhere.csv people.csv
err_has "nowhere.csv" "weights that are not there"
# bad NAME MESSAGE ARG...: a usage error
bad() {
	bad_name=$1
	printf 'gv-alloc: %s\n%s\n' "$2" "$usage" >message
	shift 2
	run gv-alloc "$@" </dev/null
	is_err "$bad_name" <message
	is_status 2 "$bad_name: status"
}
bad "an unknown way" '--inside: unknown "lifo"; known: fairness, fifo, none' --inside=lifo
bad "--inside without entities" "--inside: policy max-min does not look at entities" \
	-p max-min --inside=fifo -c one.csv people.csv
bad "--entities without entities" "--entities: policy isolated does not look at entities" \
	-p isolated --entities=weights.csv -c one.csv people.csv
bad "two standard inputs" "only one input can be standard input" -p water-filling -c one.csv --entities=-

# ---- many that differ: by prices ----
seq 400 | awk 'BEGIN { print "job_id,entity,gpu_type,steps_per_s,priority_weight" }
	function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
	BEGIN { s = 7 }
	{ w = .5 + u(); r = u(); for (t = 1; t <= 3; t++)
		printf "%d,e%d,%s,%.9f,%.9f\n", $1, $1 % 3, substr("k80 p100v100", 4 * t - 3, 4), r * t * (.8 + .4 * u()), w }' |
	sed 's/k80 ,/k80,/' >many.csv
printf 'gpu_type,gpus\nk80,50\np100,50\nv100,50\n' >cluster.csv
run gv-alloc -v -p water-filling -c cluster.csv many.csv
err_has "jobs=400 classes=400 types=3" "400 jobs that all differ"
levels 6 >prices
run gv-alloc --solver=glpk -p water-filling -c cluster.csv many.csv
levels 6 >programs
same_file prices programs "prices and programs have the same levels"
{ head -n 1 many.csv && sed 1d many.csv | sort -r; } >reversed.csv
run gv-alloc -p water-filling -c cluster.csv reversed.csv
levels 6 | sort >got
sort prices >want
same_file got want "in any order of the rows"
if [ -n "${GV_SAN:-}" ]; then
	skip "sanitizer: its runtime must come first"
else
	run gv-alloc -p water-filling -c four.csv equal.csv
	cp out want
	run env GV_GLPK=abort LD_PRELOAD="$build/preload/glpk.so" gv-alloc -p water-filling -c four.csv equal.csv
	same_file out want "prices where GLPK gives up"
	run env GV_GLPK=abort LD_PRELOAD="$build/preload/glpk.so" gv-alloc -p water-filling --solver=glpk -c four.csv equal.csv
	is_status 0 "few jobs in many digits"
	awk -F, -v OFS=, 'NR == 1 { print; next } { for (i = 1; i <= 40; i++) print $1 i, $2, $3 + i % 37, $4 }' equal.csv >many.csv
	run env GV_GLPK=abort LD_PRELOAD="$build/preload/glpk.so" gv-alloc -p water-filling --solver=glpk -c four.csv many.csv
	is_err "a solver that gives up" <<EOF
gv-alloc: the linear program of water-filling: failed
EOF
	is_status 2 "a solver that gives up: status"
fi

# ---- queues: the last GPU type of one who waits goes to others, who still rise ----
printf 'gpu_type,gpus\na,5\nb,5\nc,6\nd,6\n' >four.csv
printf 'entity,weight\ne0,2\ne1,2\ne2,3\n' >entities.csv
cat >queues.csv <<'EOF'
job_id,scale_factor,priority_weight,entity,arrival_s,gpu_type,steps_per_s
j0,4,1.761,e2,1,b,3.6045
j0,4,1.761,e2,1,d,7.6339
j1,1,1,e0,4,a,5.7572
j1,1,1,e0,4,b,13.074
j1,1,1,e0,4,c,1.189
j2,2,4.145,e1,7,a,5.559
j2,2,4.145,e1,7,c,1.89
j3,4,2.595,e2,2,a,9.9205
j3,4,2.595,e2,2,b,9.2119
j3,4,2.595,e2,2,c,8.8546
j4,2,1,e1,5,a,1.4896
j4,2,1,e1,5,d,3.1659
j5,4,2.667,e1,8,b,15.0527
j5,4,2.667,e1,8,c,17.2806
j6,4,0.9,e2,3,a,2.9415
j6,4,0.9,e2,3,b,2.9836
j6,4,0.9,e2,3,c,8.9367
j6,4,0.9,e2,3,d,11.4667
j7,1,1,e2,6,a,9.8347
j7,1,1,e2,6,d,5.3479
EOF
run gv-alloc -q -p water-filling+fifo -c four.csv --entities=entities.csv queues.csv
is_status 0 "queues in entities"
awk -F, 'NR > 1 { s[$1] += $7 * $8 } END { printf "%.3f %.3f\n", s["j5"], s["j7"] }' out >got
echo '15.994 0.000' >want
same_file want got "who can rise beside one who can have nothing rises"

# ---- the order of rows, with jobs of no entity among those of some ----
for inside in none fifo fairness; do
	: >wrong
	for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
		drawn cluster $seed 9 2 >drawn-cluster.csv
		drawn rates $seed 9 2 | awk -F, -v OFS=, 'NR > 1 { k = substr($1, 2) % 3; $6 = k == 0 ? "a" : k == 1 ? "" : "b" }
			{ NF = 9; print }' >drawn.csv
		{ head -n 1 drawn.csv && sed 1d drawn.csv | sort -r; } >turned.csv
		for order in drawn turned; do
			gv-alloc -q -p water-filling -c drawn-cluster.csv --inside=$inside <$order.csv | sort >$order.out
		done
		[ -s drawn.out ] && cmp -s drawn.out turned.out || echo "seed $seed" >>wrong
	done
	ok "--inside=$inside: the order of rows does not matter" test ! -s wrong
done
done_testing

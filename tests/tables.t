#!/bin/sh
# gv-tables(5) names the columns that the programs really write and read, in
# the order in which they write them.
. "${0%/*}/lib.sh"
cp "$src"/examples/man/* .
page=$src/man/gv-tables.5

# described TABLE: the columns that the page describes
described() {
	awk -v t=".Ss $1" '/^\.S[sh] / { on = $0 == t }
		on && /^\.It Li/ { print $3 }' "$page"
}
# must TABLE: those that it says must be there
must() {
	awk -v t=".Ss $1" '/^\.S[sh] / { on = $0 == t }
		on && /^\.It Li.*must"?$/ { print $3 }' "$page"
}
# header FILE: the names of its columns
header() { head -n 1 "$1" | tr ',\t' '[\n*]'; }
# same TABLE: ./got has exactly the columns of ./want
same() {
	ran="comparing the columns on the page (<) with $2 (>)" status=0
	if [ -s want ] && cmp -s want got; then
		pass "$1: $2"
	else
		diff want got >differ
		fail "$1: $2" differ
	fi
}
# written TABLE COMMAND...: the header of what the command writes
written() {
	table=$1
	shift
	described "$table" >want
	if "$@" >made 2>err; then header made >got; else : >got; fi
	same "$table" "what $1 writes"
}
# literals FILE...: the names of columns that are looked for in these sources
literals() {
	for file; do cat "$src/$file"; done |
		grep -o -e 'gv_frame_\(find\|require\)([^;]*' -e '^    {"[a-z_0-9]*",' | grep -o '"[a-z_0-9]*"' |
		tr -d '"' | sort -u
}
required() {
	for file; do cat "$src/$file"; done | grep -o 'gv_frame_require([^;]*' | grep -o '"[a-z_0-9]*"' |
		tr -d '"' | sort -u
}

# ---- every table has an example: its columns, or the first ones and "...", and a row ----
awk '
	/^\.Sh / { tables = $0 == ".Sh TABLES" }
	/^\.Ss / { name = $0; sub(/^\.Ss /, "", name); if (tables) { seen[name] = ""; order[++n] = name } }
	/^\.Bd -literal/ { block = 1; line = 0; next }
	/^\.Ed/ { block = 0 }
	block && tables { line++; cells = gsub(/,/, ","); if (line == 1) { head = cells; names = $0 } else if (line == 2 && cells == head) seen[name] = names }
	tables && /^\.It Li/ { known[name, $3] = 1; count[name]++ }
	END {
		for (i = 1; i <= n; i++) {
			name = order[i]
			if (!(name in count)) continue
			if (seen[name] == "") { print name ": no example"; continue }
			found = 0
			k = split(seen[name], column, ",")
			for (j = 1; j <= k; j++) found += (name, column[j]) in known
			if (found == 0) print name ": none of its columns in the example"
		}
	}' "$page" >out
ran="looking at the examples of gv-tables(5)" status=0
if [ ! -s out ]; then pass "every table has an example"; else fail "every table has an example" out; fi

# ---- written ----
written Devices gv-profile devices -q --cpu --list
written Throughputs gv-profile jobs --throughputs -t throughputs.csv -c cluster.csv jobs.csv
gv-alloc -p max-min -c cluster.csv --space-sharing=pairs.csv -o paired.csv rates.csv
written Rounds gv-run --dry-run -c cluster.csv paired.csv
written Explanation gv-alloc -p water-filling -c cluster.csv -o made.csv --explain=- rates.csv
written Losses gv-train --data=digits:64 --steps=1 net.tsv
for part in summary type entity job share; do
	written "Report: $part" gv-report --format=csv --by=$part events.csv
done
written Simulation gv-sim -c cluster.csv -t throughputs.csv -p 'gv-alloc -p max-min' --summary=- jobs.csv
header jobs.csv >before
gv-sim -c cluster.csv -t throughputs.csv -p 'gv-alloc -p max-min' --isolated --job-mtbf=1000d --jobs=made --events=- jobs.csv >events.made
header made | grep -vxFf before >got
described "Jobs: simulated" >want
same "Jobs: simulated" "what gv-sim --jobs appends"
header events.made >got
described Events | grep -vx row_crc32 >want
same Events "what gv-sim writes"
gv-run --dry-run -c cluster.csv paired.csv >rounds.csv
gv-alloc -p max-min -c cluster.csv -o made.csv --explain=why.csv rates.csv
for p in max-min fifo; do
	gv-sim -c cluster.csv -t throughputs.csv -p "gv-alloc -p $p" --events=$p.csv jobs.csv
done
written "Report: runs" gv-report --format=csv max-min.csv fifo.csv
for part in type job curve; do
	written "Report: runs, $part" gv-report --format=csv --by=$part max-min.csv fifo.csv
done
written "Report: allocation" gv-report --format=csv paired.csv
written "Report: allocation, type" gv-report --format=csv --by=type paired.csv
written "Report: allocation, entity" gv-report --format=csv --by=entity paired.csv
written "Report: rates" gv-report --format=csv rates.csv
written "Report: rounds" gv-report --format=csv rounds.csv
written "Report: explanation" gv-report --format=csv why.csv
printf 'entity,weight\nx,2\n' >entities.csv
printf 'job_id,entity,gpu_type,steps_per_s\nj,x,cpu1,2\nk,y,cpu1,3\n' >owned.csv
gv-alloc -q -p water-filling -c cluster.csv --entities=entities.csv --explain=whose.csv -o /dev/null owned.csv
written "Report: explanation, entity" gv-report --format=csv --by=entity whose.csv
written "Report: explanation, job" gv-report --format=csv --by=job why.csv
gv-profile layers -q --warmup=0s --window=0s --repeats=1 --tsv net.tsv >made
header made | sort >got
{ head -n 1 net.tsv | tr '\t' '\n' && described Layers && described "Layers: measured"; } | sort >want
same "Layers, Layers: measured" "what gv-profile layers writes"
gv-profile devices -q --cpu >made
header made | sort >got
described Cluster | grep -vx usd_per_h | sort >want # a price nobody can measure
same Cluster "what gv-profile devices writes"

written Problems gv-trace check -t throughputs.csv -c cluster.csv jobs.csv
written Prices gv-trace prices spot.csv
spot='--jobs=spot-jobs.csv -t spot-throughputs.csv'
# shellcheck disable=SC2086
written "Spot: schedule" gv-trace prices -p dynamic --schedule $spot spot.csv
header spot-jobs.csv >before
# shellcheck disable=SC2086
gv-trace prices -p one --start=2020-02-18 $spot -o made spot.csv
header made | grep -vxFf before >got
described "Spot: costs" >want
same "Spot: costs" "what gv-trace prices -p appends"
described Jobs >jobs.list
gv-trace convert -q --from=slurm -o made sacct.txt
header made | grep -vxFf jobs.list >got
described "Jobs: traces" >want
same "Jobs: traces" "what gv-trace convert adds to jobs"

header jobs.csv >before
gv-profile jobs -t throughputs.csv -c cluster.csv -o made jobs.csv
header made | grep -vxFf before >got
printf '%s\n' gpu_type steps_per_s >want
same Rates "what gv-profile jobs appends"
header jobs.csv >before
gv-profile jobs --usage -t throughputs.csv -c cluster.csv -o made jobs.csv
header made | grep -vxFf before >got
{ printf '%s\n' gpu_type steps_per_s && described Usage; } >want
same Usage "what gv-profile jobs --usage appends"
printf 'job_id,job_type,command\na,none,true\n' >none.csv
printf 'job_type,scale_factor,gpu_type,steps_per_s\nnone,1,cpu2,0\nnone,1,cpu1,0\n' >zero.csv
gv-profile pairs -q --usage -t zero.csv -c cluster.csv -o made none.csv
header made >got
{ described Pairs && described "Pairs: measured" && described Usage; } >want
same "Pairs, Pairs: measured" "what gv-profile pairs writes"
header rates.csv >before
gv-alloc -p max-sum --relax-slo --changes -c cluster.csv -o made rates.csv
header made | grep -vxFf before >got
described Allocation >want
same Allocation "what gv-alloc appends"
printf '%s\n' job_id,gpu_type,steps_per_s a,cpu1,1 '' change,place,job_id,gpu_type,steps_per_s new,1,b,cpu1,1 >stream.csv
gv-alloc -p max-min --changes -c cluster.csv stream.csv | sed '1,/^$/d' >made
header made >got
described "Allocation: changes" >want
same "Allocation: changes" "what gv-alloc answers to changes"
header net.tsv >before
gv-train --shapes --data=digits:1 -o made net.tsv
header made | grep -vxFf before >got
described Shapes >want
same Shapes "what gv-train --shapes appends"
gv-train --export=made --data=digits:1
header made | head -n 2 >got
described Samples >want
same Samples "what gv-train --export writes"

printf 'gpu_type,gpus\nv100,4\n' >gpus.csv
gv-partition --explain -c gpus.csv -l @10Gb/s -e edges.csv layers.csv >typed.csv
gv-partition --explain -l 4@10Gb/s --schedule=interleaved --micro-batches=8 layers.csv >placed.csv
{ header typed.csv && header placed.csv; } | awk '!seen[$0]++' >got
described Stages >want
same Stages "what gv-partition --explain writes"
written Trees gv-tree links.csv
written Scores gv-tree --score=3 links.csv
gv-tree -o trees.csv links.csv
written "Report: trees" gv-report --format=csv trees.csv links.csv
written "Report: trees, link" gv-report --format=csv --by=link trees.csv links.csv
written Collectives gv-comm --model trees.csv
written Ranking gv-partition --top=3 -l 4@10Gb/s layers.csv
written Schedule gv-partition --timeline -l 4@10Gb/s --schedule=interleaved --micro-batches=8 layers.csv
gv-partition --timeline -l 4@10Gb/s layers.csv >timeline.csv
gv-partition --explain -l 4@10Gb/s layers.csv >stages.csv
written "Report: plan" gv-report --format=csv stages.csv
written "Report: schedule" gv-report --format=csv timeline.csv
header layers.csv >before
gv-partition -l 4@10Gb/s -e edges.csv -o plan.csv layers.csv
written Comparison gv-partition -l 4@10Gb/s -e edges.csv --compare=plan.csv layers.csv
described Moves >want
sed '1,/^$/d' made >moves && header moves >got
same Moves "what gv-partition --compare writes behind it"
gv-partition -c gpus.csv -l @10Gb/s -e edges.csv -o made layers.csv
header made | grep -vxFf before >got
described Plan >want
same Plan "what gv-partition appends"

gv-partition -p ptd-p --gpu-type=H100 --gpus=128 transformers.csv -o made
header transformers.csv >before
header made | grep -vxFf before >got
described "Transformers: plan" >want
same "Transformers: plan" "what gv-partition -p ptd-p appends"
written Configurations gv-partition -p 2bw --top=1 --batch=8 -l 4@10Gb/s -e edges.csv layers.csv
header "$src/share/gpus.csv" | sort >got
described "GPU types" | sort >want
same "GPU types" "what is shipped"

# a run, and what it asks the policy
cat >run.csv <<E
job_id,command,gpu_type,steps_per_s,share,policy
a,exit 0,cpu1,1,1,mine
E
gv-run -q -c cluster.csv --round=1s -s state -p 'tee asked.csv | gv-alloc -p isolated -c cluster.csv' run.csv >made 2>err
header state/events.csv >got
described Events >want
same Events "what gv-run writes, and its journal"
header run.csv >before
header asked.csv | grep -vxFf before | sort >got
described Rates | grep -vx -e gpu_type -e steps_per_s -e with_job_id -e with_steps_per_s -e gpus_available | sort >want
same Rates "what gv-run appends for the policy"

# ---- read ----
{ literals common/sched/rates.c; literals common/sched/asking/available.c; } | sort -u >got
{ described Jobs && described Rates && echo share; } | sort -u >want
same "Jobs, rates" "what common/sched/rates.c reads"
{ literals common/sched/cluster.c && literals common/sched/ids.c; } | sort -u >got
described Cluster | sort -u >want
same Cluster "what common/sched reads"
required common/sched/cluster.c >got
must Cluster | sort >want
same Cluster "what must be there"
literals common/sched/join.c >got
described Throughputs | sort >want
same Throughputs "what common/sched/join.c reads"
required common/sched/join.c >got
must Throughputs | sort >want
same Throughputs "what must be there"
literals common/alloc/problem/pairs.c | grep -vx with_job_id >got
described Pairs | sort >want
same Pairs "what common/alloc/problem/pairs.c reads"
required common/alloc/problem/pairs.c >got
must Pairs | sort >want
same Pairs "what must be there"
literals common/alloc/problem/entities.c >got
described Entities | sort >want
same Entities "what common/alloc/problem/entities.c reads"
literals common/coll/trees.c | sort >got
described Trees | sort >want
same Trees "what common/coll/trees.c reads"
required common/coll/trees.c >got
must Trees | sort >want
same Trees "what must be there"
literals common/nn/model.c common/nn/weights_layout.c >got
described Model | sort >want
same Model "what common/nn/model.c reads"
required common/nn/model.c >got
must Model | sort >want
same Model "what must be there"
required common/sched/rates.c >got
{ must Jobs && must Rates; } | sort -u >want
same "Jobs, rates" "what must be there"

literals cmd/gv-sim/tables.c | grep -vx -e share -e total_steps >got
described Changes | sort >want
same Changes "what gv-sim --changes reads"
literals common/plan/layers.c >got
{ described Layers && described Edges && described "Layers: PyTorch"; } | sort -u >want
same "Layers, edges" "what gv-partition reads"
required common/plan/layers.c >got
{ must Layers && must Edges; } | sort -u >want
same "Layers, edges" "what must be there"
required common/plan/plan.c >got
must Plan | sort >want
same Plan "what must be there"
required common/plan/schedule.c >got
must Schedule | sort >want
same Schedule "what must be there"

sed -n '/^static const char \*const name\[COLUMNS\]/,/;/p' "$src/cmd/gv-partition/transformer/transformers.c" |
	grep -o '"[a-z_0-9]*"' | tr -d '"' | sort >got
{ described Transformers && described "Transformers: plan" | sed '/^parameters$/,$d; /^rank$/d'; } | grep -vx model |
	sort >want
same "Transformers, transformers: plan" "what gv-partition -p ptd-p reads"
required common/plan/machine.c >got
must Levels | sort >want
same Levels "what gv-partition --levels reads"
required cmd/gv-partition/two_bw/two_bw_table.c >got
must Micro-batches | sort >want
same Micro-batches "what gv-partition --speeds reads"
literals cmd/gv-partition/transformer/gpus.c >got
described "GPU types" | grep -vx source | sort >want
same "GPU types" "what gv-partition -p ptd-p reads"

# wanted FILE: the first names of the columns of a table of wanted ones
wanted() { grep -o '^    \[[A-Z]*\] = {{"[a-z_]*"' "$src/$1" | sed 's/.*"\(.*\)"/\1/'; }
wanted cmd/gv-trace/prices/markets.c >got
described "Spot series" >want
same "Spot series" "what gv-trace prices reads"
wanted cmd/gv-trace/prices/lifetimes.c >got
described Lifetimes >want
same Lifetimes "what gv-trace prices --lifetimes reads"
required cmd/gv-trace/workload/types.c >got
must "Job types" >want
same "Job types" "what must be there"

# ---- the names of events ----
sed -n '/kind_name\[GV_EVENT_KINDS\]/,/;/p' "$src/common/sched/events.c" | grep -o '"[a-z_]*"' | tr -d '"' >got
awk '/^The events are/ { on = 1 } /^\.S[sh]/ { on = 0 } on && /^\.It Cm/ { print $3 }' "$page" >want
same Events "the names of events"
# columns of an array are options of gv-train
grep -o 'take_[a-z]*(f, b, "[a-z_0-9]*"' "$src/cmd/gv-train/array.c" | grep -o '"[a-z_0-9]*"' | tr -d '"' | sort >got
described Array | sort >want
same Array "what gv-train reads"
done_testing

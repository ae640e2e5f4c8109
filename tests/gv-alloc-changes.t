#!/bin/sh
# gv-alloc --changes: tables of what has changed are answered by the shares that have.
. "${0%/*}/lib.sh"

cat >gpus.csv <<EOF
gpu_type,gpus
v100,2
k80,1
EOF
cat >whole.csv <<EOF
job_id,gpu_type,steps_per_s,steps_remaining
a,v100,10,100
a,k80,2,100
b,v100,10,100
c,v100,5,50
c,k80,5,50
EOF
cat >next.csv <<EOF
change,place,job_id,gpu_type,steps_per_s,steps_remaining
gone,2,b,,,
now,3,c,,,20
new,1,d,v100,10,40
new,1,d,k80,1,40
new,4,e,k80,3,10
EOF
cat >last.csv <<EOF
job_id,gpu_type,steps_per_s,steps_remaining
d,v100,10,40
d,k80,1,40
a,v100,10,100
a,k80,2,100
c,v100,5,20
c,k80,5,20
e,k80,3,10
EOF

# shares POLICY: of the last table, in the order of its rows, those of changes laid over those of before
shares() {
	awk -F, '
		/^$/ { table++; next }
		$1 == "job_id" { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ share[$1, $2] = $at["share"] }
		END { while ((getline line <"last.csv") > 0) { split(line, c, ",")
			if (c[1] != "job_id") print c[1], c[2], share[c[1], c[2]] + 0 } }' "$1"
}
for p in max-min finish-time makespan fifo min-cost sjf; do
	printf 'gpu_type,gpus,usd_per_h\nv100,2,3\nk80,1,1\n' >priced.csv
	{ cat whole.csv && echo && cat next.csv; } | gv-alloc -q -p $p -c priced.csv --changes >both
	run gv-alloc -q -p $p -c priced.csv last.csv
	shares out >want
	shares both >got
	same_file want got "$p: as the whole table is answered"
done

{ cat whole.csv && echo && cat next.csv; } >stream.csv
run gv-alloc -p max-min -c gpus.csv --changes stream.csv
ok "the answer to a whole table says so" [ "$(head -n 2 out | tail -n 1)" = a,v100,10,100,1,max-min, ]
sed '1,/^$/d' out | cut -d, -f1,2 >got
printf '%s\n' job_id,gpu_type d,v100 a,v100 c,v100 c,k80 e,k80 '' >want
same_file want got "then the shares that have changed"
run gv-alloc -p finish-time -c gpus.csv --changes whole.csv
out_has ',finish-time,steps_remaining;elapsed_s;isolated_elapsed_s' "the numbers that count"
run gv-alloc -p makespan -c gpus.csv --changes whole.csv
out_has ',makespan,steps_remaining' "or one"
sed 's/$/,/; 1s/$/deadline_s/' whole.csv >deadline.csv
run gv-alloc -p max-min -c gpus.csv --changes deadline.csv
out_has ',max-min,steps_remaining;elapsed_s' "deadlines make them count"

# ---- what cannot be told ----
# whole OPTION...: the answer says nothing of changes
whole() {
	run gv-alloc -q -p max-min -c gpus.csv --changes "$@"
	ok "$*: whole tables only" [ "$(head -n 1 out | grep -c reads)$status" = 00 ]
}
printf 'job_a,job_b,scale_factor,gpu_type,steps_per_s_a,steps_per_s_b\n' >pairs.csv
whole --space-sharing=pairs.csv whole.csv
printf 'job_type,scale_factor,gpu_type,steps_per_s\nx,1,v100,3\n' >speeds.csv
printf 'job_id,job_type,scale_factor\na,x,1\n' >jobs.csv
whole -t speeds.csv jobs.csv
sed 's/$/,/; 1s/$/node/' whole.csv >node.csv
whole node.csv
head -n 1 whole.csv >empty.csv
whole empty.csv

# ---- what is wrong ----
# bad WHAT MESSAGE: with the rows of standard input behind the whole table
bad() {
	{ cat whole.csv && echo && echo change,place,job_id,gpu_type,steps_per_s,steps_remaining && cat; } >stream.csv
	run gv-alloc -p max-min -c gpus.csv --changes stream.csv
	ran="$1" ok "$1: exit 2" [ "$status" -eq 2 ]
	err_has "$2" "and says why"
}
bad "another job" 'stream.csv:9: job_id: expected job "b" at place 2, got "a"' <<EOF
gone,2,a,,,
EOF
bad "no such place" 'stream.csv:9: place: expected a place from 1 to 3, got 4' <<EOF
now,4,a,,,1
EOF
bad "place 0" 'stream.csv:9: place: expected a place from 1 to 4, got 0' <<EOF
new,0,x,v100,1,1
EOF
bad "a hole" 'stream.csv:9: job_id: expected its place from 1 to 3, got 4' <<EOF
new,4,x,v100,1,1
gone,1,a,,,
EOF
bad "places that descend" 'stream.csv:10: job_id: expected its place from 3 to 5, got 1' <<EOF
new,2,x,v100,1,1
new,1,y,v100,1,1
EOF
bad "a name that is there" 'stream.csv:9: job_id: job "b" is in the table already' <<EOF
new,4,b,v100,1,1
EOF
bad "a change that is none" 'stream.csv:9: change: expected new, now or gone, got "came"' <<EOF
came,4,b,v100,1,1
EOF
bad "steps below 0" 'stream.csv:9: steps_remaining: expected a number >= 0, got "-1"' <<EOF
now,1,a,,,-1
EOF
{ cat whole.csv && echo && printf 'change,place,job_id\ngone,1,a\n'; } >stream.csv
run gv-alloc -p max-min -c gpus.csv --changes stream.csv
is_status 2 "columns that are missing"
err_has 'missing column "gpu_type"' "are named"
run gv-alloc -p max-min -c gpus.csv --changes next.csv
is_status 2 "changes of nothing"
err_has "next.csv: changes of a table that was not given" "and says so"
{ cat whole.csv && echo && cat next.csv; } >stream.csv
run gv-alloc -p max-min -c gpus.csv --stream stream.csv
is_status 2 "a stream without --changes knows none"

# ---- over thousands of jobs that come and go ----
awk 'BEGIN {
	print "job_id,gpu_type,steps_per_s"; print "0,v100,1"
	for (i = 1; i <= 10000; i++) {
		print "\nchange,place,job_id,gpu_type,steps_per_s\ngone,1," i - 1 ",,"
		print "new,1," i ",v100," i
	}
}' >long.csv
run gv-alloc -q -p max-min -c gpus.csv --changes long.csv
equals_last=$(tail -n 2 out | head -n 1)
ok "10,000 jobs, one at a time" [ "$equals_last" = "10000,v100,1" ]
done_testing

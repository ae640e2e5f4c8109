#!/bin/sh
# gv-report's pages: the tables below the figures and beside them say what the other formats say.
. "${0%/*}/lib.sh"
cp "$src/examples/man/allocation.csv" "$src/examples/man/events.csv" .

# cells PAGE: a row a line, cells between |, an empty line before each table
cells() {
	awk '
		/<table/ { print "" }
		{
			n = split($0, part, /<\/t[hd]>/)
			for (i = 1; i < n; i++) {
				cell = part[i]
				gsub(/<[^>]*>/, "", cell); gsub(/&lt;/, "<", cell); gsub(/&gt;/, ">", cell); gsub(/&amp;/, "\\&", cell)
				row = row (row == "" ? "" : "|") cell
			}
		}
		/<\/tr>/ { print row; row = "" }' "$1"
}
# sides PAGE: of each column of each table, r where numbers stand at its right, all its rows alike
sides() {
	awk '
		/<table/ { head = "" }
		{ n = split($0, part, /<t[hd][ >]/); for (i = 2; i <= n; i++) row = row (part[i] ~ /^[^<]*class="r"/ ? "r" : "l") }
		/<\/tr>/ { if (head == "") { head = row; print row } else if (row != head) print "but", row; row = "" }' "$1"
}
# as_text TEXT PAGE: every row of the page stands in the text, in that order; how many did
as_text() {
	cells "$2" | sed '/^$/d; s/[ |]//g' | awk '
		NR == FNR { gsub(/ /, ""); text[++n] = $0; next }
		{ while (++at <= n && text[at] != $0) ; if (at > n) { print "not in the text:", $0; exit } rows++ }
		END { print rows + 0 " rows" }' "$1" -
}

head='time_s,event,job_id,gpu_type,node,gpus,steps,round,share,reason'
{ echo "$head" && cat; } >slow.csv <<'E'
0,pool,,cpu2,,0;1,,,,
0,arrive,a,,,,100,,,
0,arrive,b,,,,100,,,
0,start,a,cpu2,,0,0,0,,
10,finish,a,,,,100,1,,
10,start,b,cpu2,,0,0,1,,
20,preempt,b,,,,30,2,,
30,start,b,cpu2,,0,30,3,,
40,finish,b,,,,100,4,,
40,end,,,,,,,,
E
{ echo "$head" && cat; } >fast.csv <<'E'
0,pool,,cpu2,,0;1,,,,
0,arrive,a,,,,100,,,
0,arrive,b,,,,100,,,
0,start,a,cpu2,,0,0,0,,
0,start,b,cpu2,,1,0,0,,
10,finish,a,,,,100,1,,
20,finish,b,,,,100,4,,
20,end,,,,,,,,
E

# ---- several runs ----
run gv-report -f html slow.csv fast.csv
silent "two runs"
cp out page.html
cells page.html | awk '/^$/ { n++ } n > 3' >out
is_out "two runs: the numbers of the figures" <<'E'

run|jobs|mean s|p5 s|p25 s|median s|p75 s|p95 s|p99 s|longest s
slow|2|25.0|10.0|10.0|25.0|40.0|40.0|40.0|40.0
fast|2|15.0|10.0|10.0|15.0|20.0|20.0|20.0|20.0

run|jobs|mean s|p5 s|p25 s|median s|p75 s|p95 s|p99 s|longest s
slow|2|5.0|0.0|0.0|5.0|10.0|10.0|10.0|10.0
fast|2|0.0|0.0|0.0|0.0|0.0|0.0|0.0|0.0

run|GPU type|GPUs|busy on average|busy %
slow|cpu2|2|0.8|37.5
fast|cpu2|2|1.5|75.0

run|jobs there, on average|running|waiting
slow|1.2|0.8|0.5
fast|1.5|1.5|0.0

run|GPUs|launches|preemptions|launches a job
slow|2|3|1|1.5
fast|2|2|0|1.0
E
sides page.html >out
is_out "two runs: names stand left, numbers right" <<'E'
lrrrrrrrrrr
lrrrrrr
llrrrr
lrrrrrrrrr
lrrrrrrrrr
llrrr
lrrr
lrrrr
E
gv-report slow.csv fast.csv >text
cells page.html | awk '/^$/ { n++ } n < 4 && $0 != ""' | sed 's/[ |]//g' >got
sed '1d; /^$/d; /^JCT:/d; s/ //g' text >want
same_file want got "two runs: the tables of the text"
run gv-report -f html --digits=3 --chart=busy slow.csv fast.csv
cells out | tail -n 2 >got && mv got out
is_out "digits" <<'E'
slow|cpu2|2|0.750|37.500
fast|cpu2|2|1.500|75.000
E
{ echo job_id,arrival_s,start_s,finish_s,completion_s,running_s,gpu_s,launches,preemptions,fairness && cat; } >told.jobs.csv <<'E'
a,0,0,7200,7200,7200,10,1,0,0.5
b,0,3600,36000,36000,30,30,2,1,2.25
c,5,,,,0,0,0,0,
E
run gv-report -f html --chart=completion,queueing,fairness told.jobs.csv
silent "tables of a run"
cells out | awk '/^$/ { n++ } n > 0' | tail -n 8 >got && mv got out
is_out "times in units that suit them, fairness in none; jobs without a number do not count" <<'E'
run|jobs|mean h|p5 h|p25 h|median h|p75 h|p95 h|p99 h|longest h
told|2|6.0|2.0|2.0|6.0|10.0|10.0|10.0|10.0

run|jobs|mean min|p5 min|p25 min|median min|p75 min|p95 min|p99 min|longest min
told|2|30.0|0.0|0.0|30.0|60.0|60.0|60.0|60.0

run|jobs|mean|p5|p25|median|p75|p95|p99|worst
told|2|1.375|0.500|0.500|1.375|2.250|2.250|2.250|2.250
E
awk -v head="$head" 'BEGIN {
	print head "\n0,pool,,v100,,0;1;2;3,,,,"
	for (i = 1; i <= 40; i++)
		printf "0,arrive,j%d,,,,,,,\n", i
	for (i = 1; i <= 40; i++)
		printf "%d,start,j%d,v100,,%d,,,,\n%d,finish,j%d,,,,,,,\n", i - 1, i, i % 4, i, i
	print "40,end,,,,,,,,"
}' >forty.csv
run gv-report -f html --chart=completion forty.csv
cells out | sed -n 3p >got && mv got out
echo "this run|40|20.5|2.0|10.0|20.5|30.0|38.0|40.0|40.0" | is_out "percentiles of 1 to 40: the least with so many at or below"

# ---- one run ----
run gv-report -f html events.csv
cp out page.html
cells page.html | awk '/^$/ { n++ } n <= 5 && $0 != ""' >out
is_out "events: the numbers of the figures" <<'E'
run|jobs|mean s|p5 s|p25 s|median s|p75 s|p95 s|p99 s|longest s
this run|4|49.2|32.0|32.0|50.5|54.0|64.0|64.0|64.0
run|jobs|mean s|p5 s|p25 s|median s|p75 s|p95 s|p99 s|longest s
this run|4|5.0|0.0|0.0|5.0|10.0|10.0|10.0|10.0
run|GPU type|GPUs|busy on average|busy %
this run|cpu2|1|1.0|100.0
this run|cpu1|2|1.3|64.8
run|jobs there, on average|running|waiting
this run|3.1|1.9|1.2
run|GPUs|launches|preemptions|launches a job
this run|3|10|5|2.5
E
gv-report events.csv >text
sed '1,/<dl>/d; /<\/dl>/,$d; s/<dt>//; s/<\/dt>//; s/<dd>/ /g; s/<\/dd>//' page.html | tr -d ' \n' >got
awk '/^$/ { exit } { sub(/^.*$/, NR == 1 ? "jobs&" : "&"); print }' text | tr -d ' \n' >want
ok "events: the page says in words what the text says" [ -s got ]
same_file want got "events: word by word"
for part in type entity job; do
	gv-report --by=$part -f csv events.csv | sed 1d | cut -d, -f1 >names
	ok "events: a row for each $part" sh -c 'while read -r name; do grep -q "<td>$name</td>" page.html || exit 1; done <names'
done

# ---- tables ----
printf 'job_id,gpu_type,steps_per_s\na,v100,1234.5\na,k80,0.0123\nb,v100,9.99\n' >rates.csv
printf 'gpu_type,gpus,usd_per_h\nv100,8,2.48\nk80,16,0.45\n' >cluster.csv
# small numbers have three digits, up to nine behind the point, or as many as are asked for
printf 'job_id,gpu_type,steps_per_s\na,x,12.3456\nb,x,1.23456\nc,x,0.00123456\nd,x,0.00000000000123456\n' >small.csv
for digits in 0 2 6 12; do
	gv-report -d $digits small.csv | awk '$1 ~ /^[a-d]$/ { printf "%s%s", gap, $2; gap = " " } END { print "" }'
done >out
is_out "digits of small numbers" <<'E'
12 1.23 0.00123 0.000000000
12.35 1.23 0.00123 0.000000000
12.345600 1.234560 0.001235 0.000000000
12.345600000000 1.234560000000 0.001234560000 0.000000000001
E
for table in allocation rates cluster; do
	gv-report $table.csv >text
	run gv-report -f html $table.csv
	silent "$table: a page"
	cp out page.html
	as_text text page.html >out
	grep -c '<tr>' page.html | sed 's/$/ rows/' >want
	same_file want out "$table: the rows of the text"
	sides page.html | grep -q -e but && status=1
	is_status 0 "$table: columns stand at one side"
done
done_testing

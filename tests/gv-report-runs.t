#!/bin/sh
# gv-report of several runs: what they come to, where it is from, charts, messages.
. "${0%/*}/lib.sh"
cp "$src/examples/man/cluster.csv" "$src/examples/man/events.csv" .

# Two jobs on two GPUs; first a then b on one of them, and both at once.
head='time_s,event,job_id,gpu_type,node,gpus,steps,round,share,reason'
{ echo "$head" && cat; } >slow.csv <<'E'
0,pool,,cpu2,,0;1,,,,
0,arrive,a,,,,100,,,
0,arrive,b,,,,100,,,
0,start,a,cpu2,,0,0,0,,
10,finish,a,,,,100,1,,
10,start,b,cpu2,,0,0,1,,
40,finish,b,,,,100,4,,
40,end,,,,,,,,
E
sed 's/^10,start,b,cpu2,,0,0,1/0,start,b,cpu2,,1,0,0/; s/^40,/30,/' slow.csv | sort -s -t, -k1,1n >fast.csv
{ head -n 1 fast.csv && grep -v "^time" fast.csv; } >f && grep -v '^$' f | awk 'NR == 1 || /^[0-9]/' >fast.csv

run gv-report slow.csv fast.csv
silent "two runs"
is_out "two runs: text" <<'E'
2 runs of 2 jobs

run   jobs  finished  JCT mean s  to first  JCT median s  JCT p95 s  JCT p99 s  JCT longest s  short jobs' mean s  long jobs' mean s
slow     2         2        25.0      1.00          25.0       40.0       40.0           40.0                10.0               40.0
fast     2         2        20.0     0.800          20.0       30.0       30.0           30.0                10.0               30.0

run   makespan s  to first  queueing mean s  queueing p99 s  GPUs busy %
slow        40.0      1.00              5.0            10.0         50.0
fast        30.0     0.750              0.0             0.0         66.7

run   GPU type  GPUs  GPU time used s  busy %  cost USD
slow  cpu2         2             40.0    50.0         -
fast  cpu2         2             40.0    66.7         -
JCT: from arrival to finish.  To first: how many times that of the first run.
E
run gv-report -f csv --by=type slow.csv fast.csv
is_out "two runs: types" <<'E'
run,gpu_type,gpus,busy_gpu_s,utilisation,usd
slow,cpu2,2,40,0.5,
fast,cpu2,2,40,0.6666666666666666,
E
run gv-report --tsv --by=job slow.csv fast.csv
tr , '\t' >want <<'E'
run,job_id,arrival_s,finish_s,completion_s,queueing_s,running_s,gpu_s,fairness,launches,preemptions
slow,a,0,10,10,0,10,10,,1,0
slow,b,0,40,40,10,30,30,,1,0
fast,a,0,10,10,0,10,10,,1,0
fast,b,0,30,30,0,30,30,,1,0
E
same_file want out "two runs: jobs, TSV"
run gv-report -f csv --by=curve slow.csv fast.csv
grep '^completion' out >got && mv got out
is_out "two runs: curves" <<'E'
completion,slow,,10,0.5
completion,slow,,40,1
completion,fast,,10,0.5
completion,fast,,30,1
E
run gv-report -f csv slow.csv fast.csv
cp out runs.csv
ok "a run a row" [ "$(wc -l <out)" -eq 3 ]
run gv-report -j slow.csv fast.csv
if [ -n "$GV_PYTHON" ]; then
	ok "JSON" "$GV_PYTHON" -c 'import json; o = json.load(open("out")); assert [r["makespan_s"] for r in o["runs"]] == [40, 30] and len(o["jobs"]) == 4 and o["types"][1]["gpu_type"] == "cpu2" and o["curves"][0]["y"] == .5'
else
	skip "no python3"
fi
run gv-report -v slow.csv fast.csv
echo 'gv-report: 2 runs' | is_err "verbose"
run gv-report -f csv --by=run slow.csv
sed -n 1,2p runs.csv | awk -F, -v OFS=, '{ print $1, $2, $4 }' >want
awk -F, -v OFS=, '{ print $1, $2, $4 }' out >got
same_file want got "one run, where a part is asked for that only runs have"
printf 'gpu_type,gpus,usd_per_h\ncpu2,2,3600\n' >priced.csv
run gv-report -f csv --by=type -c priced.csv slow.csv fast.csv
ok "what GPUs cost, by the cluster" grep -q '^fast,cpu2,2,40,0.6666666666666666,40$' out

# ---- a run's tables ----
{ echo job_id,arrival_s,start_s,finish_s,completion_s,running_s,gpu_s,launches,preemptions,fairness,deadline_s && cat; } >slow.jobs.csv <<'E'
a,0,0,10,10,10,10,1,0,0.5,20
b,0,10,40,40,30,30,2,1,2,20
c,5,,,,0,0,0,0,,20
E
cat >slow.summary.csv <<'E'
measure,gpu_type,value
jobs,,2
completion_mean_s,,99
usd,cpu2,1.5
usd,,2.5
something_else,,7
E
# of NAMES...: these columns of the first row
of() {
	awk -F, -v want="$*" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		NR == 2 { n = split(want, c, " "); for (i = 1; i <= n; i++) printf "%s%s", $at[c[i]], i < n ? " " : "\n" }' out >got && mv got out
}
run gv-report -f csv slow.jobs.csv
of run jobs finished completion_mean_s fairness_mean deadlines deadlines_missed preemptions makespan_s
echo "slow 3 2 25 1.25 3 2 1 " | is_out "jobs alone: one of them is not done"
sed '2s/,20$/,/' slow.jobs.csv >free.jobs.csv
run gv-report -f csv free.jobs.csv
of deadlines deadlines_missed
echo "2 2" | is_out "a job without a deadline, and those behind it that have one"
run gv-report -f csv slow.summary.csv
of run jobs completion_mean_s usd
echo "slow 2 99 2.5" | is_out "a summary alone"
for files in "slow.csv slow.jobs.csv slow.summary.csv" "slow.summary.csv slow.jobs.csv slow.csv"; do
	# shellcheck disable=SC2086
	run gv-report -f csv $files
	of run jobs completion_mean_s fairness_mean usd utilisation
	echo "slow 2 99  2.5 " | is_out "a summary of other jobs than those of the table stands for itself: $files"
	sed '/^jobs/d' slow.summary.csv >few && mv slow.summary.csv kept && mv few slow.summary.csv
	# shellcheck disable=SC2086
	run gv-report -f csv $files
	of run jobs completion_mean_s fairness_mean usd
	echo "slow 3 99 1.25 2.5" | is_out "what it does not say is from the jobs: $files"
	mv kept slow.summary.csv
done
sed 's/^measure/run,measure/; 2,$s/^/x,/; $s/^x/y/' slow.summary.csv >both.csv
run gv-report -f csv --by=run both.csv
cut -d, -f1-4 out >got && mv got out
is_out "a column run" <<'E'
run,jobs,finished,completion_mean_s
x,2,,99
y,,,
E
# short and long: by the least that a job ran in any run, of those that finished in all
{ echo job_id,arrival_s,finish_s,completion_s,running_s && printf '%s\n' a,0,10,10,10 b,0,20,20,20 c,0,30,30,30 d,0,40,40,40 e,0,1,1,1; } >x.jobs.csv
{ echo job_id,arrival_s,finish_s,completion_s,running_s && printf '%s\n' d,0,40,40,40 c,0,5,5,5 b,0,21,21,20 a,0,100,100,100 e,0,,,; } >y.jobs.csv
for files in "x.jobs.csv y.jobs.csv" "y.jobs.csv x.jobs.csv"; do
	# shellcheck disable=SC2086
	run gv-report -f csv --by=run $files
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ print $1, $at["short_completion_mean_s"], $at["long_completion_mean_s"] }' out | sort >got && mv got out
	printf '%s\n' "x 20 30" "y 52.5 30.5" | is_out "short and long jobs: $files"
done
{ cat slow.jobs.csv && echo && cat slow.summary.csv; } >two.csv
run gv-report -f csv two.csv
of run jobs completion_mean_s usd
echo "two 2 99 2.5" | is_out "several tables of one input"
printf 'job_id,gpu_type,steps_per_s,completion_s,running_s\na,x,1,7,7\na,y,2,7,7\n' >rates.csv
run gv-report -f csv rates.csv
of jobs completion_mean_s
echo "1 7" | is_out "a job has several rows where its rates have"
mkdir -p p/las p/fifo
cp slow.csv p/las/events.csv && cp fast.csv p/fifo/events.csv
run gv-report -f csv p/las/events.csv p/fifo/events.csv x=slow.csv slow.tar.csv.gz=fast.csv
cut -d, -f1 out | tr '\n' ' ' >got && echo >>got && mv got out
echo "run las fifo x slow.tar.csv.gz " | is_out "names"
cp slow.csv odd=name.csv
run gv-report -f csv odd=name.csv fast.csv
ok "a file with = in its name" grep -q '^odd=name,2,' out
for kind in "" .jobs .summary; do
	cp slow$kind.csv p/slow$kind.csv
	run gv-report slow$kind.csv p/slow$kind.csv
	is_status 2 "the same name twice$kind: status"
done
err_has 'run "slow" has a summary already, from slow.summary.csv; name runs by NAME=FILE' "the same name twice"
run gv-report slow.csv cluster.csv
echo 'gv-report: cluster.csv:1: this is a cluster; several tables must be of runs: events, jobs of a simulation, summaries' | is_err "another table"
sed 's/,99$/,much/' slow.summary.csv >bad.csv
run gv-report bad.csv
echo 'gv-report: bad.csv:3: value: expected a number, got "much"' | is_err "a bad value"
sed '2s/,10,10,10,/,x,10,10,/' slow.jobs.csv >bad.csv
run gv-report bad.csv
is_status 2 "a bad time: status"
sed '$d' slow.csv >cut.csv && printf '40,en' >>cut.csv
run gv-report -f csv cut.csv fast.csv
echo 'gv-report: warning: cut.csv:9: the last row is not complete, ignored' | is_err "a log that is being written"

# ---- expectations, options ----
run gv-report --expect-finished -o /dev/null slow.csv fast.csv
silent "all have finished"
run gv-report --expect-finished -o /dev/null slow.jobs.csv fast.csv
is_status 1 "not all have finished: status"
echo 'gv-report: run "slow": 1 of 3 jobs have not finished' | is_err "not all have finished"
# unfit MESSAGE ARGS...
unfit() {
	message=$1
	shift
	run gv-report "$@"
	[ "$status" -eq 2 ] && err_has "$message" "$message"
}
unfit '--expect-shares is for events, these are runs' --expect-shares=1 slow.csv fast.csv
unfit '--per-job is for events, these are runs' --per-job -f prom slow.csv fast.csv
unfit '--by=share: these are runs, which have the parts run, type, job and curve' --by=share slow.csv fast.csv
unfit '--run names one run; name several by NAME=FILE' --run=x slow.csv fast.csv
unfit '--chart=jobs is for one table of events, these are runs' -f svg --chart=jobs slow.csv fast.csv
unfit '--chart=jobs is a drawing of its own' -f svg --chart=jobs,busy slow.csv
unfit '--chart needs --format=svg or --format=html' --chart=busy slow.csv
unfit 'unknown chart "pie"; known: jobs, runs, completion, lengths, queueing, fairness, busy, waiting, held, rounds' \
	-f svg --chart=busy,pie slow.csv
unfit '--run needs --format=prom, svg or html' --run=x slow.csv
printf 'op,stage,micro_batch,start_ms,end_ms,replica\nF,0,0,0,1,0\n' >schedule.csv
unfit '--chart is for runs, this is a schedule' -f svg --chart=busy schedule.csv
unfit '--chart is for runs; this is a cluster' -f html --chart=busy cluster.csv
unfit '--cluster is for allocations and several runs, this is an events table' -c cluster.csv slow.csv

# ---- charts ----
run gv-report -f svg --chart=busy slow.csv fast.csv
out_has '>50.0 % busy<' "how busy the first was, beside its areas"
out_has '>66.7 % busy<' "and the second"
printf 'job_id,completion_s,running_s\n' >none.jobs.csv
printf 'job_id,completion_s,running_s\na,0,0\n' >zero.jobs.csv
printf 'job_id,completion_s,running_s\na,,0\n' >undone.jobs.csv
echo "$head" >empty.csv
for files in "slow.csv fast.csv" "none.jobs.csv zero.jobs.csv undone.jobs.csv" "empty.csv slow.summary.csv" "none.jobs.csv"; do
	for format in text csv json svg html prom; do
		# shellcheck disable=SC2086
		run gv-report -f $format $files
		[ "$status" -eq 0 ] && [ ! -s err ] && ! grep -q -i -e '[=" ]-*nan' -e '[=" ]-*inf[" ]' out || status=1
		is_status 0 "$files: $format"
	done
done
run gv-report -f html slow.csv fast.csv
ok "html: loads nothing" sh -c '! grep -q -e "<script " -e "src=" -e "href=" -e "url(" -e "@import" out'
ok "html: a chart, a title, for each of what is told" [ "$(grep -c '^<svg .*role="img"' out)" -eq 8 ]
cp out page.html
ok "html: the same bytes again" sh -c 'gv-report -f html slow.csv fast.csv | cmp - page.html'
run gv-report -f html --chart=completion,waiting slow.csv fast.csv
ok "html: the charts that are asked for" [ "$(grep -c '^<svg ' out)" -eq 2 ]
run gv-report -f svg slow.csv
ok "one run: its jobs are drawn" grep -q 'class="h1"' out
ok "a bar says on which GPU" grep -qE '<title>[a-z]+ on [a-z0-9]+ [0-9a-z:;]+, [0-9.]+ to [0-9.]+ s<' out
# fills NAME: the lowest row of GPUs ends where the axis of time is
fills() {
	tr '<' '\n' <out | awk -v RS='\n' '
		function is(name) { match($0, " " name "=\"[^\"]*"); return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) }
		/^rect class="c-track"/ { end = is("y") + is("height") / .9 }
		/^line class="c-axis"/ { axis = is("y1") }
		END { if (end < axis - .2 || end > axis + .2) print end, "not", axis }' >got
	same_file /dev/null got "$1"
}
{
	echo "$head"
	printf '0,pool,,%s,,%s,,,,\n' k80 '0;1' p100 '0;1;2' v100 '0'
	printf '0,arrive,a,,,,100,,,\n0,start,a,k80,,0,0,0,,\n10,finish,a,,,,100,1,,\n10,end,,,,,,,,\n'
} >three.csv
run gv-report -f svg --chart=rounds three.csv
fills "GPUs of three types are drawn from top to bottom"
run gv-report -f svg --chart=rounds slow.csv
fills "and those of one"

# of more than 48 GPUs every second, third, ... is drawn, and that is said
for gpus in '2 0;1' '2 0;1;2' '2 0;1;2;3' '3 0;1;2;3;4'; do
	awk -v head="$head" -v ids="${gpus#* }" 'BEGIN {
		print head
		for (n = 0; n < 24; n++) printf "0,pool,,type%d,node%d,%s,,,,\n", n / 4, n, ids
		print "0,arrive,a,,,,,,,\n0,start,a,type0,node0,0,,0,,\n9,finish,a,,,,,,,"
	}' >large.csv
	run gv-report -f svg --chart=rounds large.csv
	if [ "$gpus" = '2 0;1' ]; then
		ok "48 GPUs are all drawn" sh -c '! grep -q "is shown" out'
	else
		out_has "One of ${gpus% *} GPUs is shown." "24 times $gpus"
	fi
	fills "24 times $gpus, from top to bottom"
done

for chart in completion lengths queueing busy waiting held rounds; do
	run gv-report -f svg --chart=$chart slow.csv
	ok "one run: $chart" grep -q 'class="c-title"' out
done
awk -v head="$head" 'BEGIN {
	print head "\n0,pool,,v100,,0;1,,,,"
	for (i = 0; i < 3000; i++) {
		printf "%d,arrive,j%d,,,,,,,\n", 10 * i, i
		printf "%d,start,j%d,v100,,%d,,,,\n", 10 * i, i, i % 2
		printf "%d,finish,j%d,,,,,,,\n", 10 * i + i % 10, i
	}
	print "30000,end,,,,,,,,"
}' >many.csv
run gv-report -f svg many.csv
ok "one run of many jobs: charts of bounded size" [ "$(grep -c 'class="c-title"' out)" -eq 7 ] && [ "$(wc -c <out)" -lt 150000 ]
run gv-report -f html many.csv
ok "a page has no more than a thousand jobs" [ "$(grep -c '^</tr>' out)" -lt 1100 ]
out_has 'The first 1000 of 3000 jobs; --format=csv has all.' "and says so"
if [ -n "$GV_PYTHON" ]; then
	sed 's/^10,/1,/' slow.csv >soon.csv
	for files in "slow.csv fast.csv" "slow.csv soon.csv" "soon.csv slow.csv" "many.csv fast.csv" "slow.jobs.csv fast.csv" "events.csv many.csv"; do
		# shellcheck disable=SC2086
		gv-report -f csv --by=job $files >jobs.list
		# shellcheck disable=SC2086
		gv-report -f svg --chart=completion $files >drawn.svg
		run "$GV_PYTHON" "$src/tests/gv-report-charts.py" completion drawn.svg jobs.list
		[ "$status" -eq 0 ] || cat err >>out
		is_out "$files: every job lies on its line" </dev/null
	done
	# so many types that rows are low
	awk -v head="$head" 'BEGIN {
		print head
		for (i = 0; i < 40; i++) printf "0,pool,,t%d,,%s,,,,\n", i, i % 5 ? "0" : "0;1"
		for (i = 0; i < 40; i++) {
			printf "0,arrive,j%d,,,,100,,,\n", i
			printf "0,start,j%d,t%d,,%s,0,0,,\n", i, i, i % 5 ? "0" : "0;1"
		}
		for (i = 0; i < 40; i++) printf "50,finish,j%d,,,,100,5,,\n", i
		print "50,end,,,,,,,,"
	}' >kinds.csv
	for file in slow fast many events kinds; do
		gv-report -f csv --by=type x=$file.csv $file.csv.jobs=none.jobs.csv | grep -e '^run' -e '^x' >types.list
		gv-report -f svg --chart=busy $file.csv >drawn.svg
		run "$GV_PYTHON" "$src/tests/gv-report-charts.py" busy drawn.svg types.list
		[ "$status" -eq 0 ] || cat err >>out
		is_out "$file: areas are GPU-seconds" </dev/null
		gv-report -f svg --chart=rounds $file.csv >drawn.svg
		run "$GV_PYTHON" "$src/tests/gv-report-charts.py" rounds drawn.svg types.list
		[ "$status" -eq 0 ] || cat err >>out
		is_out "$file: GPUs are drawn for as long as somebody has them" </dev/null
	done
else
	skip "no python3"
fi

# names of any bytes: nothing of them is read as HTML
sed 's/,a,/,"<script>alert(1)<\/script>",/; s/cpu2/"<b>\&"""/' slow.csv >odd.csv
run gv-report -f html --run='</title><script>' odd.csv
silent "odd names: html"
ok "odd names are escaped" sh -c '! grep -q -e "<script>alert" -e "<b>" -e "</title><script>" out'
run gv-report -f html '</title><script>x=odd.csv' fast.csv
ok "odd names of runs are escaped" sh -c '! grep -q -e "<script>x" -e "<b>" out'
gv-report -f svg '<&>"=odd.csv' fast.csv >odd.svg
if [ -n "$GV_PYTHON" ]; then
	run "$GV_PYTHON" -c 'import xml.dom.minidom as m; print(m.parse("odd.svg").documentElement.tagName)'
	echo svg | is_out "odd names: SVG is XML"
else
	skip "no python3"
fi

# ---- Prometheus ----
run gv-report -f prom slow.csv slow.jobs.csv fast.csv
silent "prom"
out_has 'gv_job_completion_seconds{run="fast",quantile="0.99"} 30' "prom: quantiles"
out_has 'gv_job_completion_seconds_sum{run="slow"} 50' "prom: sums"
out_has 'gv_run_makespan_seconds{run="fast"} 30' "prom: makespan"
out_has 'gv_gpu_busy_seconds_total{run="slow",gpu_type="cpu2"} 40' "prom: types"
ok "prom: each family once" [ -z "$(grep '^# TYPE' out | sort | uniq -d)" ]
ok "prom: each series once" [ -z "$(grep -v '^#' out | sed 's/ [^ ]*$//' | sort | uniq -d)" ]

# ---- a browser ----
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || :)
if [ -n "$chromium" ]; then
	gv-report -f html slow.csv fast.csv many.csv >page.html
	# sorts the first table by its mean twice, and says what was drawn
	{
		grep -v '^</html>' page.html
		cat <<'E'
<script>
var table = document.querySelector("table"), head = table.tHead.rows[0].cells[3];
head.click();
head.click();
document.title = "sorted " + [].map.call(table.tBodies[0].rows, function (r) { return r.cells[0].textContent; }).join(" ") +
	"; " + document.querySelectorAll("svg path, svg rect").length + " marks";
</script>
</html>
E
	} >asked.html
	run timeout 60 "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/profile" \
		--enable-logging=stderr --v=0 --dump-dom "file://$scratch/asked.html"
	ok "in a browser: it renders, and tables are sorted" grep -q '<title>sorted slow fast many; [1-9][0-9]* marks' out
	ok "in a browser: no errors" sh -c '! grep -q CONSOLE err'
	run timeout 60 "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/profile" \
		--hide-scrollbars --window-size=1200,3000 --screenshot="$scratch/page.png" "file://$scratch/page.html"
	ok "in a browser: more than a white page" [ "$(wc -c <page.png)" -gt 50000 ]
else
	skip "no browser"
fi
done_testing

#!/bin/sh
# gv-report of a pipeline's schedule: what it sums up, how it draws it, messages.
. "${0%/*}/lib.sh"

usage='usage: gv-report [-jqv] [-f FORMAT] [-b PART] [-c CLUSTER] [-o FILE] [[NAME=]TABLE ...]'
head='gpu,stage,replica,step,op,micro_batch,version,start_ms,end_ms'

# Two GPUs with the first stage, one with the second; 100 ms.  Busy: 45, 35 of
# GPU 0 and 1, 60 of GPU 2.  GPU 0 has two in flight, the others one.
{ echo $head && cat; } >hand.csv <<E2
0,0,0,0,F,0,0,0,10
0,0,0,1,F,2,0,10,20
0,0,0,2,B,0,0,40,55
0,0,0,3,B,2,0,60,70
0,0,0,4,AR,2,1,80,95
0,0,0,5,U,2,1,95,95
1,0,1,0,F,1,0,0,10
1,0,1,1,B,1,0,55,80
1,0,1,2,AR,1,1,80,95
1,0,1,3,U,1,1,95,95
2,1,0,0,F,0,0,10,20
2,1,0,1,B,0,0,20,35
2,1,0,2,W,0,0,35,40
2,1,0,3,F,1,0,40,50
2,1,0,4,B,1,0,50,55
2,1,0,5,F,2,0,55,56
2,1,0,6,B,2,0,56,60
2,1,0,7,W,1,0,60,65
2,1,0,8,W,2,0,65,70
2,1,0,9,U,2,1,100,100
E2
run gv-report hand.csv
silent "a schedule"
is_out "a schedule: text" <<'E2'
3 micro-batches, 2 stages, 3 GPUs
time        100.0 ms, 33.33 ms a micro-batch
GPUs        busy 46.7 %, bubble 53.3 %
in flight   2 on a GPU at most

stage  GPUs  forward ms  backward ms  weights ms  all-reduce ms  busy %  bubble %  in flight
0         2        15.0         25.0         0.0           15.0    40.0      60.0          2
1         1        21.0         24.0        15.0            0.0    60.0      40.0          2
E2
run gv-report --format=csv hand.csv
is_out "a schedule: CSV" <<'E2'
stages,gpus,forward_ms,backward_ms,weight_ms,reduce_ms,busy_share,bubble_share,in_flight
0,2,15,25,0,15,0.4,0.6,2
1,1,21,24,15,0,0.6,0.4,2
E2
tr , '\t' <out >want
run gv-report --tsv hand.csv
same_file want out "a schedule: TSV"
run gv-report -j hand.csv
is_out "a schedule: JSON" <<'E2'
{
  "micro_batches": 3,
  "gpus": 3,
  "time_ms": 100,
  "busy_share": 0.4666666666666667,
  "in_flight": 2,
  "stages": [
    {"stages": "0", "gpus": 2, "forward_ms": 15, "backward_ms": 25, "weight_ms": 0, "reduce_ms": 15, "busy_share": 0.4, "bubble_share": 0.6, "in_flight": 2},
    {"stages": "1", "gpus": 1, "forward_ms": 21, "backward_ms": 24, "weight_ms": 15, "reduce_ms": 0, "busy_share": 0.6, "bubble_share": 0.4, "in_flight": 2}
  ]
}
E2
run gv-report -v hand.csv
echo 'gv-report: 20 steps of 3 GPUs' | is_err "a schedule: verbose"
run gv-report -d 0 hand.csv
out_has "busy 47 %, bubble 53 %" "a schedule: digits"
cut -d, -f2-6,8- hand.csv >unnamed.csv
run gv-report -f csv unnamed.csv
cp out got
gv-report -f csv hand.csv >want
same_file want got "without gpu, each replica of a stage has one"
run gv-report -f html hand.csv
out_has "<title>3 micro-batches, 2 stages, 3 GPUs</title>" "a schedule: the page says of how many"
grep -e ^gpu -e ',F,' hand.csv >forward.csv
run gv-report -f csv forward.csv
cut -d, -f1,9 out >got && mv got out
is_out "cut before anything came back: all that went in is in flight, on each GPU alone" <<'E2'
stages,in_flight
0,2
1,3
E2
{ head -n 1 hand.csv && sed 1d hand.csv | sort -t, -k 8,8n -k 1,1n -s; } >byTime.csv
run gv-report byTime.csv
mv out got
gv-report hand.csv >want
same_file want got "rows in the order of time"
echo $head >empty.csv
run gv-report empty.csv
silent "no steps"
is_out "no steps" <<'E2'
0 micro-batches, 0 stages, 0 GPUs
time        0.0 us
GPUs        busy 0.0 %, bubble 100.0 %
in flight   0 on a GPU at most

stage  GPUs  forward us  backward us  busy %  bubble %  in flight
E2
for format in svg html csv json; do
	run gv-report -f $format empty.csv
	silent "no steps: $format"
	ok "no steps: $format: no number is none" sh -c '! grep -q -i -e "\"-*nan" -e "\"-*inf" out'
done

# ---- when it begins, how long it takes ----
awk -F, -v OFS=, 'NR > 1 { $8 += 5000; $9 += 5000 } { print }' hand.csv >late.csv
for format in text csv json; do
	gv-report -f $format hand.csv >want
	run gv-report -f $format late.csv
	same_file want out "one that begins later: $format"
done
if [ -n "$GV_PYTHON" ]; then
	gv-report -f svg late.csv >late.svg
	run "$GV_PYTHON" "$src/tests/gv-report-schedule.py" late.csv late.svg
	[ "$status" -eq 0 ] || cat err >>out
	is_out "one that begins later is drawn from there" </dev/null
else
	skip "no python3"
fi
while read -r times time; do
	awk -F, -v OFS=, -v times="$times" 'NR > 1 { $8 *= times; $9 *= times } { print }' hand.csv >other.csv
	run gv-report other.csv
	out_has "time        $time a micro-batch" "a unit that suits: $time"
	gv-report -f csv other.csv | awk -F, 'NR > 1 { printf "%.9f %.9f %d\n", $7, $8, $9 }' >got
	gv-report -f csv hand.csv | awk -F, 'NR > 1 { printf "%.9f %.9f %d\n", $7, $8, $9 }' >want
	same_file want got "$times times as long: shares are the same"
done <<'E2'
.0075 750.0 us, 250.00 us
75 7500.0 ms, 2500.00 ms
150 15.0 s, 5.00 s
4500 450.0 s, 150.00 s
9000 15.0 min, 5.00 min
E2
awk -F, -v OFS=, 'NR > 1 { $8 = $9 = 7 } { print }' hand.csv >zero.csv
for format in text csv json svg html; do
	run gv-report -f $format zero.csv
	[ "$status" -eq 0 ] && [ ! -s err ] && ! grep -q -i -e '[=" ]-*nan' -e '[=" ]-*inf[" ]' out || status=1
	is_status 0 "one that takes no time: $format"
done

# ---- what gv-partition writes, drawn ----
cp "$src/examples/man/layers.csv" "$src/examples/man/edges.csv" .
for how in 1f1b 2bw "flush --micro-batches=9" "gpipe --micro-batches=9" "zb-h1 --micro-batches=9" \
	"interleaved --micro-batches=8"; do
	# shellcheck disable=SC2086
	gv-partition -v --timeline -l 4@10Gb/s -e edges.csv --schedule=$how -o made.csv layers.csv 2>said
	run gv-report made.csv
	silent "$how: text"
	in_flight=$(sed -n 's/^in flight *\([0-9]*\) .*/\1/p' out)
	said=$(sed -n 's/.* in_flight=\([0-9]*\).*/\1/p' said)
	if [ "$in_flight" = "$said" ]; then pass "$how: in flight as gv-partition says"; else fail "$how: $in_flight, not $said" out; fi
	for format in svg html; do
		run gv-report -f $format made.csv
		silent "$how: $format"
		mv out made.$format
	done
	if [ -n "$GV_PYTHON" ]; then
		run "$GV_PYTHON" "$src/tests/gv-report-schedule.py" made.csv made.svg
		[ "$status" -eq 0 ] || cat err >>out
		is_out "$how: every step is drawn where it was" </dev/null
	else
		skip "no python3"
	fi
done
if [ -n "$GV_PYTHON" ]; then
	gv-report -f svg unnamed.csv >unnamed.svg
	run "$GV_PYTHON" "$src/tests/gv-report-schedule.py" unnamed.csv unnamed.svg
	is_out "rows of stages and replicas are drawn" </dev/null
else
	skip "no python3"
fi
mv made.html out
ok "html: loads nothing" sh -c '! grep -q -e "<script " -e "src=" -e "href=" -e "url(" -e "@import" out'
ok "html: holds the drawing" [ "$(grep -c '^<svg ' out)" -eq 1 ]
out_has '<dt>in flight</dt>' "html: the summary"
out_has '>stages 0, 2<' "interleaved: a GPU's stages"

# ---- messages ----
# wrong NAME ROW LINE: a bad first row
wrong() {
	printf '%s\n%s\n' $head "$2" >bad.csv
	run gv-report bad.csv
	is_status 2 "$1: status"
	echo "gv-report: bad.csv:2: $3" | is_err "$1"
}
wrong "op" "0,0,0,0,X,0,0,0,1" 'op: expected F, B, W, AR or U, got "X"'
wrong "times" "0,0,0,0,F,0,0,2,1" 'end_ms: expected no less than start_ms, got "1"'
wrong "stage" "0,-1,0,0,F,0,0,0,1" 'stage: expected a whole number from 0 on, got "-1"'
wrong "micro-batch" "0,0,0,0,F,x,0,0,1" 'micro_batch: expected an integer, got "x"'
wrong "gpu" "-2,0,0,0,F,0,0,0,1" 'gpu: expected a whole number from 0 on, got "-2"'
wrong "start" "0,0,0,0,F,0,0,,1" 'start_ms: expected a number, got nothing'
printf 'stage,op\n0,F\n' >bad.csv
run gv-report bad.csv
is_status 2 "columns: status"
is_err "columns" <<'E2'
gv-report: bad.csv:1: missing column "step" (found: stage, op)
gv-report: bad.csv:1: missing column "micro_batch" (found: stage, op)
gv-report: bad.csv:1: missing column "start_ms" (found: stage, op)
gv-report: bad.csv:1: missing column "end_ms" (found: stage, op)
E2
# unfit LINE ARGS...: an option that is for events
unfit() {
	unfit_line=$1
	shift
	run gv-report "$@" hand.csv
	is_status 2 "$1: status"
	is_err "$1" <<E2
gv-report: $unfit_line
$usage
E2
}
unfit "--by is for events, this is a schedule" --by=job
unfit "--format=prom is for events, this is a schedule" --format=prom
unfit "--expect-finished is for events, this is a schedule" --expect-finished
unfit "--expect-shares is for events, this is a schedule" --expect-shares=5
done_testing

#!/bin/sh
# examples/philly: a small slice of the trace goes from its lines to the page; long: all
# of it, which has the numbers of the README.
. "${0%/*}/lib.sh"

data=$shared/data/gavel
if [ ! -f "$data/trace_philly_vc_0e4a51_seed0.csv" ]; then
	skip "no shared data"
	done_testing
	exit
fi
run env GV_BIN="$bin" sh "$src/examples/philly/philly.sh" -n 80 -g 6 "$data" small
is_status 0 "a slice: it goes through"
out_has '4 runs of ' "a slice: four policies are reported"
# what was converted is what was there
tr -d '\r' <"$data/trace_philly_vc_0e4a51_seed0.csv" | sed 81q |
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["job_type"] "," $at["scale_factor"] "," $at["total_steps"] + 0 "," $at["arrival_s"] + 0 }' >want
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["job_type"] "," $at["scale_factor"] "," $at["total_steps"] + 0 "," $at["arrival_s"] + 0 }' small/trace.csv >got
same_file want got "a slice: no job is lost or changed by converting"
ran="looking at what philly.sh made" status=0
ok "a slice: jobs and problems are all jobs" [ "$(($(wc -l <small/jobs.csv) + $(wc -l <small/problems.csv)))" -eq 82 ]
for run in fifo max-min-agnostic max-min finish-time; do
	ok "a slice: $run: all jobs are done" grep -q "^finished,,$(($(wc -l <small/jobs.csv) - 1))\$" "small/$run.summary.csv"
	ok "a slice: $run is in the page" grep -q "<td>$run</td>" small/report.html
done
ok "a slice: the page has nine charts" [ "$(grep -c '<text class="c-title"' small/report.html)" -eq 9 ]
ok "a slice: the page loads nothing" sh -c '! grep -q -e "<script " -e "src=" -e "href=" -e "url(" small/report.html'
if [ -n "${GV_LONG:-}" ]; then
	run env GV_BIN="$bin" sh "$src/examples/philly/philly.sh" "$data" all
	awk '$1 ~ /^(fifo|max-min-agnostic|max-min|finish-time)$/ && NF == 11 && !($1 in jct) { jct[$1] = $4; next }
		NF == 11 && $1 in jct { printf "%s %s %s %s\n", $1, jct[$1], $8, $11 }' out | tr -d , >got
	sed -n 's/^| \([a-z-]*\)\(, which[^|]*\)* | \([0-9.]*\) | \([0-9.]*\) | \([0-9,]*\) |$/\1 \3 \4 \5/p' "$src/examples/philly/README.md" |
		tr -d , >readme
	ok "all of it: five numbers of each policy" [ "$(wc -l <got)" -eq 4 ]
	awk 'NR == FNR { n++; want[n] = $0; next } { split(want[FNR], w, " "); if ($2 - w[2] > .1 || w[2] - $2 > .1 || $4 != w[4] || $3 / w[3] > 1.05 || w[3] / $3 > 1.05) exit 1 }' readme got || status=1
	is_status 0 "all of it: the numbers of the README"
else
	skip "long: all of the trace"
fi
done_testing

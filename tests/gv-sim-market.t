#!/bin/sh
# gv-sim: failures at random, prices that change, bids; and simulations that are ended and go on.
. "${0%/*}/lib.sh"
cp "$src"/examples/man/* .

cat >jobs.csv <<E
job_id,job_type,scale_factor,total_steps,arrival_s
a,t,1,1000,0
b,t,1,1000,0
c,t,2,500,100
E
cat >speeds.csv <<E
job_type,scale_factor,gpu_type,steps_per_s
t,1,v,2
t,1,k,1
t,2,v,4
E
printf 'gpu_type,gpus,usd_per_h\nv,2,3\nk,1,1\n' >gpus.csv
printf 'gpu_type,gpus\nv,1\n' >one-gpu.csv
printf 'job_id,total_steps,gpu_type,steps_per_s,share\nx,1000,v,2,1\n' >alone.csv
sim() { run gv-sim -c gpus.csv -t speeds.csv -r 60s "$@"; }
value() { sed -n "s/^$1,$2,//p" out; }
equals() { ok "$3: $2" awk -v a="$1" -v b="$2" 'BEGIN { exit !(b != "" && (a - b) ^ 2 <= 1e-12 * (a * a + 1)) }'; }

# ---- failures ----
printf 'gpu_type,gpus,node\nv,1,a\nv,1,b\n' >nodes.csv
run gv-sim -c nodes.csv --node-mtbf=100s --repair=30s --seed=3 --summary=- alone.csv
silent "--node-mtbf"
cp out first
ok "nodes fail" [ "$(value node_failures '')" -gt 0 ]
run gv-sim -c nodes.csv --node-mtbf=100s --repair=30s --seed=3 --summary=- alone.csv
same_file first out "the same seed, the same bytes"
run gv-sim -c nodes.csv --node-mtbf=100s --repair=30s --seed=4 --summary=- alone.csv
ok "another seed, other failures" [ "$(value node_failures '') $(value end_s '')" != \
	"$(sed -n 's/^node_failures,,//p' first) $(sed -n 's/^end_s,,//p' first)" ]
run gv-sim -c nodes.csv --node-mtbf=1e12s --repair=30s --summary=- alone.csv
equals 0 "$(value node_failures '')" "nodes that hardly ever fail have not done so"
equals 500 "$(value makespan_s '')" "and the job is as long as it takes"
# up 300 s, away 100 s on average: there three quarters of the time
printf 'job_id,total_steps,gpu_type,steps_per_s,share\nx,2000000,v,2,1\n' >long.csv
run gv-sim -q -c one-gpu.csv --node-mtbf=300s --repair=100s --checkpoint=1s --summary=- long.csv
ok "GPUs are there as long as they should: $(value makespan_s '') s" \
	awk -v t="$(value makespan_s '')" 'BEGIN { exit !(t > 1.25e6 && t < 1.42e6) }'
# 1,000,000 s of training, 5,000 s to a failure
run gv-sim -q -c one-gpu.csv --job-mtbf=5000s --checkpoint=1s --seed=1 --summary=- --events=fail.csv long.csv
is_status 0 "--job-mtbf: with checkpoints a job gets done"
ok "and fails as often as it should: $(value job_failures '')" \
	awk -v n="$(value job_failures '')" 'BEGIN { exit !(n > 150 && n < 250) }'
ok "the events say so" [ "$(grep -c ,fail,x, fail.csv)" = "$(value job_failures '')" ]
run gv-sim -c one-gpu.csv --job-mtbf=100s --max-failures=3 --jobs=failed.csv --summary=- alone.csv
is_status 1 "without progress it is dropped"
err_has 'warning: 1 job could never run or failed too often, of 1: "x"' "which is said"
ok "after as many as were allowed" [ "$(value job_failures '')" -ge 3 ]
ok "the jobs say how often" [ "$(sed -n '1s/.*,//p; 2s/.*,//p' failed.csv | tr '\n' ' ')" = "failures $(value job_failures '') " ]

# ---- what GPUs cost, and what is bid ----
printf 'gpu_type,usd_per_h,time_s\nv,3.6,0\nv,7.2,100\nv,1.8,300\n' >prices.csv
run gv-sim -c one-gpu.csv --prices=prices.csv --summary=- alone.csv
silent "--prices"
equals 0.6 "$(value usd '')" "100 s at 3.6, 200 at 7.2, 200 at 1.8 USD/h"
printf 'gpu_type,gpus\nv,1\nw,1\n' >later-gpus.csv
printf 'gpu_type,usd_per_h,time_s\nv,3.6,0\nw,7.2,300\n' >later.csv
run gv-sim -c later-gpus.csv --prices=later.csv --summary=- alone.csv
equals 0.5 "$(value usd '')" "what has no price yet, and is not used, costs nothing"
run gv-sim -c one-gpu.csv --prices=prices.csv --bid=5 --summary=- alone.csv
equals 800 "$(value makespan_s '')" "--bid: GPUs go when they cost more"
equals 0.35 "$(value usd '')" "and what was lost is paid"
run gv-sim -c one-gpu.csv --prices=prices.csv --bid=w:9,v:5 alone.csv
err_has '--bid: the cluster has no GPU type "w"' "a bid for nothing"
run gv-sim -c one-gpu.csv --prices=prices.csv --bid=v:much alone.csv
err_has '--bid: expected US dollars, as 1.2 or v100:1.2, got "v:much"' "a bid of nothing"
run gv-sim -c one-gpu.csv --bid=1 alone.csv
err_has '--bid is an option of --prices' "a bid without prices"
run gv-sim -c one-gpu.csv --ask-every=1s alone.csv
err_has '--ask-every is an option of --policy' "nobody to ask"
run gv-sim -c one-gpu.csv --checkpoint=1s alone.csv
err_has '--checkpoint is an option of --changes, --bid, --node-mtbf and --job-mtbf' "nothing that is lost"
printf 'gpu_type,usd_per_h,time_s\nv,-1,0\n' >negative.csv
run gv-sim -c one-gpu.csv --prices=negative.csv alone.csv
err_has 'negative.csv:2: usd_per_h: expected a number of 0 or more' "a price below 0"
printf 'gpu_type,usd_per_h,time_s,source\nv,2,0,a\nv,8,0,elsewhere\nv,4,0,else\n' >nodes-cost.csv
run gv-sim -c nodes.csv --prices=nodes-cost.csv --bid=3 alone.csv
ok "a node has prices of its own, others the cheapest" grep -q ',start,x,v,a,' out
# the policy takes what is cheap for a step
printf 'gpu_type,gpus\nv,1\nk,1\n' >two-types.csv
printf 'job_id,total_steps,gpu_type,steps_per_s\nx,1000,v,2\nx,1000,k,1\n' >either.csv
printf 'gpu_type,usd_per_h,time_s\nv,2,0\nk,2,0\nk,0.5,200\n' >cheap.csv
cat >cheapest.awk <<'E'
BEGIN { OFS = FS = "," }
NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
$c["usd_per_h"] != "" {
	id = $c["job_id"]
	worth = $c["steps_per_s"] / $c["usd_per_h"]
	if (worth > best[id]) { best[id] = worth; row[id] = id OFS $c["gpu_type"] OFS $c["steps_per_s"] }
}
END { print "job_id,gpu_type,steps_per_s,share"; for (id in row) print row[id], 1 }
E
run gv-sim -c two-types.csv -r 60s --ask-every=100s --prices=cheap.csv -p 'awk -f cheapest.awk' --summary=- either.csv
silent "--ask-every"
# on v until the round of 240 s, then 520 steps on k
equals 760 "$(value makespan_s '')" "a policy that looks at prices"
equals "$(awk 'BEGIN { printf "%.12g", (240 * 2 + 520 * .5) / 3600 }')" "$(value usd '')" "pays less"
run gv-sim -c two-types.csv -r 60s --ask-every=100s --prices=cheap.csv -p 'gv-alloc -p min-cost+per-dollar' --summary=- either.csv
equals 760 "$(value makespan_s '')" "gv-alloc within knows them, too"

# ---- GPUs are away, and the policy is told ----
printf 'gpu_type,gpus,node\nv,2,n1\nv,2,n2\nk,2,n3\n' >three.csv
cat >many.csv <<E
job_id,scale_factor,total_steps,arrival_s,gpu_type,steps_per_s
a,1,4000,0,v,4
a,1,4000,0,k,1
b,1,4000,0,v,2
b,1,4000,0,k,1
c,4,1000,0,v,8
d,1,3000,300,v,3
d,1,3000,300,k,2
E
printf '#!/bin/sh\ntee -a asked.csv | gv-alloc -q -p "$1" -c three.csv -\n' >told.sh
chmod +x told.sh
for p in max-min finish-time makespan; do
	rm -f asked.csv
	set -- -q -c three.csv -r 60s --node-mtbf=2000s --repair=500s --seed=5 --checkpoint=100s
	run gv-sim "$@" -p "gv-alloc -p $p -c three.csv" many.csv
	cp out within
	run gv-sim "$@" -p "./told.sh $p" many.csv
	same_file within out "$p: over the pipe as within, while nodes fail"
	ok "$p: and it was told how many there are" awk -F, 'NR == 1 && $NF != "gpus_available" { exit 1 }
		$5 == "v" { seen[$NF] } END { exit !(("0" in seen || "2" in seen) && "4" in seen) }' asked.csv
done

printf 'gpu_type,gpus,node\na,1,n1\na,1,n2\n' >nodes.csv
cat >least.csv <<E
job_id,scale_factor,total_steps,min_steps_per_s,gpu_type,steps_per_s
g,1,10000,9,a,10
h,1,10000,9,a,10
E
set -- -q -c nodes.csv --node-mtbf=500s --repair=100s --checkpoint=10s
run gv-sim "$@" -p 'gv-alloc -p max-min -c nodes.csv' least.csv
silent "a node that fails ends no simulation of jobs that need a minimum"
cp out within
run gv-sim "$@" -p 'exec gv-alloc -q --stream -p max-min -c nodes.csv -' least.csv
same_file within out "nor over the pipe"

# ---- it is ended, and goes on ----
printf '#!/bin/sh\necho >>asked\nexec awk -f %s gpus.csv -\n' "'$src/examples/policy/equal.awk'" >counted.sh
printf '#!/bin/sh\nsleep .4\nexec ./counted.sh\n' >slow.sh
chmod +x counted.sh slow.sh
sim -p ./counted.sh --events=whole.csv jobs.csv
n=$(wc -l <asked)
sim -p ./counted.sh --state=state jobs.csv
same_file whole.csv out "--state changes nothing"
rm asked
for bytes in 0 10 81 82 83 84 100 150 200 250 300 350 400 9999; do
	head -c $bytes state >part
	sim -p ./counted.sh --state=part jobs.csv
	cmp -s whole.csv out && cmp -s state part || echo "$bytes" >>differ
done
ok "wherever it was cut off, it goes on to the same end" [ ! -e differ ]
ok "and asks for what is not there: $(wc -l <asked) of $((14 * n)) times" \
	[ "$(wc -l <asked)" -gt "$n" -a "$(wc -l <asked)" -lt $((13 * n)) ]
rm -f asked
sim -p ./counted.sh --state=state --until=200s jobs.csv
ok "an end that comes sooner is the same simulation" [ ! -e asked ]
sim -p ./counted.sh --state=state -r 30s jobs.csv
err_has 'state is of another simulation: its jobs, cluster, policy or options are others' "another round is not"
sim -p ./counted.sh --state=jobs.csv jobs.csv
err_has 'jobs.csv is no file of --state' "a table is no state"
sim -p ./counted.sh --state=none/state jobs.csv
err_has 'cannot open none/state' "a folder that is not there"
sed '2s/^0 /1 /' state >later
sim -p ./counted.sh --state=later jobs.csv
err_has 'an answer at 1 s, but the question is at 0 s: of another version of gv-sim' "answers to other questions"
sed '3s/^0 /77 /' state >odd
sim -p ./counted.sh --state=odd jobs.csv
same_file whole.csv out "answers about nobody are asked for again"
gv-sim -c gpus.csv -t speeds.csv -p 'touch is_asked; exec sleep 600' --state=locked jobs.csv >locked.out 2>&1 &
true_within 60 test -e is_asked
sim -p ./counted.sh --state=locked jobs.csv
err_has 'another gv-sim writes to locked' "one at a time"
kill $!
wait $! 2>err
run gv-sim -c gpus.csv -t speeds.csv -p ./counted.sh --state=/dev/null jobs.csv
err_has '/dev/null is no file of --state' "a device is no state"
# killed again and again
for after in .6 .6; do
	gv-sim -c gpus.csv -t speeds.csv -r 60s -p ./slow.sh --state=killed -o killed.csv jobs.csv 2>err &
	sleep $after
	kill -9 $! 2>err
	wait $! 2>err
done
ok "killed before its end" [ ! -e killed.csv ]
run gv-sim -c gpus.csv -t speeds.csv -r 60s -p ./slow.sh --state=killed -o killed.csv jobs.csv
same_file whole.csv killed.csv "killed again and again: the same bytes"

# ---- the market of 2020 (DISPA 2020): where it is cheapest, against one V100 ----
spot=$shared/data/spot
if [ -f "$spot/azure_2020.csv" ] && [ -f "$shared/data/profiles/gavel_isolated.csv" ]; then
	gv-trace prices --start=2020-02-18 --regions=us-east-1,us_east,us_south_central,us_north_central \
		"$spot/aws_2020_us.csv" "$spot/azure_2020.csv" >market.csv
	# each market is a GPU type, and its price that of midnight, as the study looks at it
	awk -F, -v OFS=, 'NR == 1 { print "gpu_type,usd_per_h,time_s"; next }
		{ day = int(($3 + 86399) / 86400); p[$4, day] = $2; known[$4] }
		END { for (s in known) for (d = 0; d < 40; d++) if ((s, d) in p) print s, p[s, d], d * 86400 }' market.csv >daily.csv
	awk -F, 'BEGIN { print "gpu_type,gpus" } NR > 1 && !s[$4]++ { print $4 ",30" }' market.csv >markets.csv
	# market NAME K80 P100 V100: 30 jobs of 4 days on a V100, one a day
	market() {
		awk -F, -v OFS=, -v k80="$2" -v p100="$3" -v v100="$4" '
			NR == 1 { print "job_id,arrival_s,total_steps,gpu_type,steps_per_s"; next }
			!s[$4]++ { for (i = 0; i < 30; i++)
				printf "%d,%d,%.17g,%s,%s\n", i, i * 86400, v100 * 4 * 86400, $4, $1 == "k80" ? k80 : $1 == "p100" ? p100 : v100
			}' market.csv >offers.csv
		run gv-sim -q -c markets.csv -r 1d --ask-every=1d --prices=daily.csv -p 'awk -f cheapest.awk' --summary=- offers.csv
		dynamic=$(value usd '')
		# the cheapest p3.2xlarge of the day on which a job comes, for good
		awk -F, -v OFS=, 'FNR == NR { if ($1 ~ /p3\.2xlarge/ && FNR > 1) { p[$1, $3 / 86400] = $2; s[$1] } next }
			FNR == 1 { for (m in s) for (d = 1; d < 40; d++) if (!((m, d) in p) && (m, d - 1) in p) p[m, d] = p[m, d - 1]
				for (d = 0; d < 30; d++) for (m in s)
					if ((m, d) in p && (!(d in best) || p[m, d] < p[best[d], d] || (p[m, d] == p[best[d], d] && m < best[d]))) best[d] = m
				print $0, "share"; next }
			{ print $0, $4 == best[$1] ? 1 : 0 }' daily.csv offers.csv >one.csv
		run gv-sim -q -c markets.csv -r 1d --prices=daily.csv --strict --summary=- one.csv
		awk -v name="$1" -v one="$(value usd '')" -v d="$dynamic" 'BEGIN { printf "%s: %.2f %.2f %.2f\n", name, one / 30, d / 30, one / d }' >answer
		mv answer out
	}
	rates_of() { awk -F, -v m="$1" 'index($1, m) == 1 { print $2, $3, $4; exit }' "$shared/data/profiles/gavel_isolated.csv"; }
	# shellcheck disable=SC2046 # three numbers
	market A3C $(rates_of A3C)
	is_out "A3C: dollars on one V100 and where it is cheapest" <<'E'
A3C: 95.38 27.08 3.52
E
	# shellcheck disable=SC2046
	market Transformer $(rates_of 'Transformer (batch size 256)')
	is_out "Transformer, the same" <<'E'
Transformer: 95.38 29.72 3.21
E
	# prices at every moment, and bids: who is outbid loses what is not saved
	awk -F, -v OFS=, 'NR == 1 { print "gpu_type,usd_per_h,time_s"; next } { print $4, $2, $3 }' market.csv >live.csv
	run gv-sim -q -c markets.csv -r 1h --ask-every=1h --prices=live.csv --bid=0.29 --checkpoint=7h --load=5m \
		-p 'awk -f cheapest.awk' --summary=- --events=outbid.csv offers.csv
	is_status 0 "bids below some prices"
	ok "jobs are outbid" grep -q ',its GPUs are gone' outbid.csv
	ok "what they lose is counted: $(value steps_lost '')" [ "$(value steps_lost '')" != 0 ]
else
	skip "no shared data: spot"
fi
done_testing

#!/bin/sh
# gv-trace prices: price tables of spot series, and what jobs cost that follow them.
# shellcheck disable=SC2086
. "${0%/*}/lib.sh"
cp "$src"/examples/man/* .

# holds NAME [FILE...]: the command before it succeeded
holds() {
	held=$? held_name=$1
	shift
	if [ $held -eq 0 ]; then pass "$held_name"; else fail "$held_name" "$@" err; fi
}

# ---- the price table ----
run gv-trace prices spot.csv
is_out "from the first row on" <<'E'
gpu_type,usd_per_h,time_s,source
v100,0.8,0,azure/us_east/NC12s v3
k80,0.1228,0,azure/us_east/NC6
k80,0.38,79800,aws/us-east-1a/p2.xlarge
v100,0.9951,81600,aws/us-east-1c/p3.2xlarge
v100,1.24,183600,aws/us-east-1c/p3.2xlarge
v100,0.6,259200,azure/us_east/NC12s v3
E
silent "and quiet"
run gv-trace prices -v --start=2020-02-19 --clouds=aws spot.csv
is_out "from a date on, of one cloud" <<'E'
gpu_type,usd_per_h,time_s,source
k80,0.38,0,aws/us-east-1a/p2.xlarge
v100,0.9951,0,aws/us-east-1c/p3.2xlarge
v100,1.24,10800,aws/us-east-1c/p3.2xlarge
E
is_err "-v" <<'E'
gv-trace: 2 markets, 3 prices in 0.125 days
E
sed 's/2020-/1920-/' spot.csv >old.csv
run gv-trace prices -v old.csv
is_err "-v, before 1970" <<'E'
gv-trace: 4 markets, 6 prices in 3 days
E
head -n 4 spot.csv >one.csv
{ sed -n 1p spot.csv && sed 1,4d spot.csv; } >two.csv
gv-trace prices --start=2020-02-18 spot.csv >want
run gv-trace prices --start=1581984000 --regions=us-east-1,us_east two.csv one.csv
same_file out want "several files, in any order; a date as seconds"
cat >names.csv <<'E'
provider,region,zone,instance_type,gpu_type,num_gpus,timestamp_utc,usd_per_hour
aws,us-east-1,us-east-1c,p2.xlarge,k80,1,2020-01-03T15:15:54.000Z,0.4
aws,us-east-1,us-east-1c,p2.xlarge,k80,1,2020-01-03T15:15:55.999Z,0.4
aws,us-east-1,us-east-1c,p2.xlarge,k80,1,2020-01-03T15:15:56.000Z,0.5
aws,us-east-1,us-east-1c,p2.xlarge,k80,1,2020-01-03T15:15:56.500Z,0.3
E
run gv-trace prices --tsv names.csv
printf 'gpu_type\tusd_per_h\ttime_s\tsource\nk80\t0.4\t0\taws/us-east-1c/p2.xlarge\nk80\t0.3\t2\taws/us-east-1c/p2.xlarge\n' |
	is_out "other names; what does not change, or is replaced at once, is no row; TSV"
printf 'first_seen,cloud,zone,gpu,gpus,price_usd_h\n2020-02-27T01:26:08Z,gcp,c,V100,8,6.8\n' >gcp.csv
run gv-trace prices gcp.csv
out_has 'v100,0.85,0,gcp/c/8xv100' "no names of instances"
printf 'gpu_type,gpus\nv100,2\nk80,2\n' >cluster2.csv
printf 'job_id,gpu_type,steps_per_s\na,v100,10\na,k80,4\n' >rates2.csv
gv-trace prices -o prices.csv --start=2020-02-18 spot.csv
run gv-alloc -p min-cost+per-dollar --prices=prices.csv --at=172800 -c cluster2.csv rates2.csv
[ "$status" -eq 0 ] && awk -F, '$2 == "k80" && $4 == 1 { n++ } END { exit n != 1 }' out
holds "gv-alloc reads it" out

# ---- the published table ----
spot=$shared/data/spot
if [ ! -f "$spot/azure_2020.csv" ] || [ ! -f "$shared/data/profiles/gavel_isolated.csv" ]; then
	skip "no shared data"
else
	awk -F, -v OFS=, 'NR == 1 { print "job_type,scale_factor,gpu_type,steps_per_s"; next }
		{ print $1, 1, "v100", $4; print $1, 1, "p100", $3; print $1, 1, "k80", $2 }' \
		"$shared/data/profiles/gavel_isolated.csv" >t.csv
	# cost DAYS: mean dollars of 30 jobs of each model that take so many days on a V100
	cost() {
		awk -F, -v days=$1 'BEGIN { print "job_id,job_type,arrival_s,total_steps" }
			/^A3C|^CycleGAN|^LM .*80.,|^Rec.*8192|^ResNet-50 .*128|^Transformer .*256/ {
				for (i = 0; i < 30; i++) printf "%s/%d,%s,%d,%.17g\n", $1, i, $1, i * 86400, $4 * days * 86400
			}' "$shared/data/profiles/gavel_isolated.csv" >jobs30.csv
		for policy in one gpu-type multi-gpu multi-cloud dynamic; do
			gv-trace prices -p $policy --jobs=jobs30.csv -t t.csv --start=2020-02-18 \
				--regions=us-east-1,us_east,us_south_central,us_north_central "$spot/aws_2020_us.csv" "$spot/azure_2020.csv"
		done | awk -F, '$6 + 0 > 0 { c[$2, $5] += $6 / 30; m[$2, $5] += $8 / 30; t[$2] }
			END {
				for (x in t) printf "%s: %.2f %.2f %.2f %.2f %.2f, %.2f, %.1f moves\n", x, c[x, "one"], c[x, "gpu-type"],
					c[x, "multi-gpu"], c[x, "multi-cloud"], c[x, "dynamic"], c[x, "one"] / c[x, "dynamic"], m[x, "dynamic"]
			}' | sort >out
		ran="gv-trace prices on us-east-1 and Azure, 2020" status=0
	}
	cost 4
	is_out "DISPA 2020: jobs of 4 days, to the printed digits" <<'E'
A3C: 95.38 72.14 55.73 30.78 27.08, 3.52, 0.2 moves
CycleGAN: 95.38 95.38 88.13 62.10 58.21, 1.64, 1.5 moves
LM (batch size 80): 95.38 95.38 88.13 56.14 52.80, 1.81, 1.2 moves
Recommendation (batch size 8192): 95.38 94.27 72.74 40.17 34.57, 2.76, 0.2 moves
ResNet-50 (batch size 128): 95.38 95.38 88.13 64.10 62.43, 1.53, 0.2 moves
Transformer (batch size 256): 95.38 95.38 85.95 40.44 29.72, 3.21, 1.4 moves
E
	cost 8
	sed -n 's/\(A3C\|Transformer\|ResNet-50\)[^:]*: \([0-9.]*\) .* \([0-9.]*\), \([0-9.]*\), .*/\1 \2 \3 \4/p' out >got
	printf 'A3C 191.61 51.62 3.71\nResNet-50 191.61 121.09 1.58\nTransformer 191.61 55.31 3.46\n' >want
	same_file got want "and of 8 days"
	# published, of other starts: 1.00 1.00 1.02 1.07 1.17 1.28 1.41
	for days in .125 .25 .5 1 2 4 8; do
		cost $days
		sed -n 's/^Transformer[^:]*: .* \([0-9.]*\) \([0-9.]*\), .*/\1 \2/p' out
	done | awk '{ printf "%s%.2f", (NR > 1 ? " " : ""), $1 / $2 } END { print "" }' >got
	echo '1.00 1.00 1.03 1.09 1.22 1.36 1.48' >want
	same_file got want "what moving gains grows with the duration"
	# 490 lives of 2020: AWS takes 8 K80 back after 4 h and more, and never V100
	run gv-trace prices -p one --gpu-type=k80 --schedule --checkpoint=10m --lifetimes="$spot/lifetimes_2020.csv" \
		--jobs=jobs30.csv -t t.csv --start=2020-02-18 "$spot/aws_2020_us.csv"
	awk -F, 'NR > 1 && $8 > 0 { print int($8 * $8 / 1200 / 360 + 0.5) / 10, "h" }' out | sort -u >got
	awk -F, 'function s(t) { return (substr(t, 9, 2) * 24 + substr(t, 12, 2)) * 3600 + substr(t, 15, 2) * 60 + substr(t, 18, 2) }
		$1 == "aws" && $3 == "K80" && $4 == 1 { lived += s($6) - s($5); n += $7 == "preempted" }
		END { print int(lived / n / 360 + 0.5) / 10, "h" }' "$spot/lifetimes_2020.csv" >want
	same_file got want "mean times to preemption of 2020"
	run gv-trace prices -p one --gpu-type=v100 --schedule --checkpoint=10m --lifetimes="$spot/lifetimes_2020.csv" \
		--jobs=jobs30.csv -t t.csv --start=2020-02-18 "$spot/aws_2020_us.csv"
	awk -F, 'NR > 1 && $8 != ""' out >got
	[ "$status" -eq 0 ] && [ "$(wc -l <out)" -gt 180 ] && [ ! -s got ]
	holds "V100 were not taken back"
fi

# ---- by hand ----
# markets: an hour here and there; A does 1 step/s on k80, 2 on v100
cat >s.csv <<'E'
timestamp,cloud,region,zone,instance,gpu,gpus,price_usd_h
2020-01-01T00:00:00Z,aws,r,a,p2,K80,1,1
2020-01-01T01:00:00Z,aws,r,a,p2,K80,1,4
2020-01-01T00:00:00Z,aws,r,a,p3,V100,1,3
2020-01-01T00:00:00Z,aws,r,b,p3x,V100,8,20
2020-01-01T00:00:00Z,gcp,q,c,n1,V100,2,3
E
cat >t.csv <<'E'
job_type,scale_factor,gpu_type,steps_per_s
A,1,v100,2
A,1,k80,1
A,4,v100,6
B,1,k80,0
E
printf 'job_id,job_type,arrival_s,total_steps,deadline_s,scale_factor,moves,note\na,A,0,7200,,1,x,"y, z"\n' >j.csv
# costs POLICY...: cost, end, moves, slack of each job
costs() {
	run gv-trace prices --jobs=j.csv -t t.csv --every=1h -p "$@" s.csv
	awk -F, 'NR > 1 { print $(NF - 3), $(NF - 2), $(NF - 1), $NF }' out >got
}
is_cost() { cat >want && same_file got want "$1"; }
costs one
echo '3 3600 0 ' | is_cost "one: the first type of the throughputs, V100"
costs one --gpu-type=k80
echo '5 7200 0 ' | is_cost "one: another; its price is looked up again"
costs gpu-type
echo '5 7200 0 ' | is_cost "gpu-type: the cheapest at the start"
costs multi-gpu
echo '5 7200 0 ' | is_cost "multi-gpu: 8 V100 at 2.5 do not beat it"
costs multi-gpu --home=gcp
echo '1.5 3600 0 ' | is_cost "multi-gpu: at another home"
costs multi-cloud
echo '1.5 3600 0 ' | is_cost "multi-cloud"
costs dynamic --clouds=aws
echo '2.25 5400 1 ' | is_cost "dynamic: moves to where it is cheaper"
run gv-trace prices --jobs=j.csv -t t.csv --every=1h -p dynamic --clouds=aws s.csv
is_out "the row of the job stays; a column of that name is replaced" <<'E'
job_id,job_type,arrival_s,total_steps,deadline_s,scale_factor,note,policy,cost_usd,end_s,moves,slack_s
a,A,0,7200,,1,"y, z",dynamic,2.25,5400,1,
E
# where each job is follows each other, to the end that its row without --schedule has
example() {
	gv-trace prices -p dynamic --start=2020-02-18 --jobs="$src/examples/man/spot-jobs.csv" \
		-t "$src/examples/man/spot-throughputs.csv" "$@" "$src/examples/man/spot.csv"
}
example >ends && example --schedule >stays
ran='gv-trace prices -p dynamic --schedule' && cp stays out
ok "stays follow each other to the end" awk -F, '
	FNR == 1 { next }
	NR == FNR { end[$1] = $8; next }
	{ if (($1 in at ? at[$1] : 0) != $2) bad = 1; at[$1] = $3 }
	END { for (j in end) { n++; if (at[j] != end[j]) bad = 1 } exit bad || n != 2 }' ends stays
run gv-trace prices --jobs=j.csv -t t.csv --every=1h -p dynamic --clouds=aws --schedule s.csv
is_out "--schedule" <<'E'
job_id,start_s,end_s,gpu_type,source,usd_per_h,cost_usd,interval_s
a,0,3600,k80,aws/a/p2,1,1,
a,3600,5400,v100,aws/b/p3x,2.5,1.25,
E
costs dynamic --clouds=aws --move-cost=30m
echo '3.5 7200 1 ' | is_cost "--move-cost: is paid, where it is worth it"
costs dynamic --clouds=aws --move-cost=2h
echo '5 7200 0 ' | is_cost "--move-cost: stays where it is not"
costs one --gpu-type=k80 --mttp=20000s --checkpoint=100s --restart=1000s
echo '6.2 8280 0 ' | is_cost "preemptions: 1.15 times as long"
run gv-trace prices --jobs=j.csv -t t.csv --every=1h -p one --gpu-type=K80 --schedule --mttp=20000s --checkpoint=100s s.csv
out_has "a,0,3600,k80,aws/a/p2,1,1,2000" "an interval of sqrt(2 d M); types in any letters"
printf 'job_id,job_type,arrival_s,total_steps,deadline_s\na,A,0,7200,3600\nb,A,0,7200,1800\nc,A,3600,3600,9000\n' >j.csv
costs gpu-type
printf '3 3600 0 0\n3 3600 0 -1800\n1.5 5400 0 3600\n' | is_cost "deadlines: the dearer one in time, or the fastest"
is_status 1 "deadlines: status"
printf 'job_id,job_type,arrival_s,total_steps,slo_factor\na,A,0,7200,1.5\n' >j.csv
costs gpu-type
printf '3 3600 0 1800\n' | is_cost "slo_factor: of the time on the fastest market"
printf 'job_id,job_type,arrival_s,total_steps,scale_factor\na,A,0,7200,4\n' >j.csv
costs gpu-type
printf '4 1200 0 \n' | is_cost "a gang pays for all its GPUs"
printf 'job_id,job_type,arrival_s,total_steps\nb,B,0,1\nc,C,0,1\na,A,-5,1\nd,A,0,0\n' >j.csv
run gv-trace prices -v --jobs=j.csv -t t.csv -p dynamic s.csv
is_out "nowhere" <<'E'
job_id,job_type,arrival_s,total_steps,policy,cost_usd,end_s,moves,slack_s
b,B,0,1,dynamic,,,,
c,C,0,1,dynamic,,,,
a,A,-5,1,dynamic,,,,
d,A,0,0,dynamic,0,0,0,
E
is_status 1 "nowhere: status"
is_err "nowhere: why" <<'E'
gv-trace: warning: j.csv:2: job "b": no market has a price at its start and runs it
gv-trace: warning: j.csv:3: job "c": no market has a price at its start and runs it
gv-trace: warning: j.csv:4: job "a": no market has a price at its start and runs it
gv-trace: 4 jobs: 0.00 US dollars, 0 moves, 0 late, 3 nowhere
E
# a job of a thousand years ends at once: behind the last price nothing changes
printf 'job_id,job_type,total_steps\na,A,1e14\n' >j.csv
run timeout 20 gv-trace prices --every=1s --jobs=j.csv -t t.csv -p dynamic s.csv
is_status 0 "a very long job"

# ---- errors ----
usage_error() {
	run gv-trace prices $1
	[ "$status" -eq 2 ] && [ ! -s out ] && [ "$(head -n 1 err)" = "gv-trace: $2" ] && sed -n 2p err | grep -q '^usage: gv-trace prices'
	holds "$2"
}
usage_error '-p x s.csv' '--policy: unknown "x"; known: one, gpu-type, multi-gpu, multi-cloud, dynamic'
usage_error '-p one s.csv' '-p needs --jobs and -t'
usage_error '--schedule s.csv' '--jobs, -t and --schedule need -p'
usage_error '--every=0s s.csv' '--every: expected at least 1s'
usage_error '--mttp=0s s.csv' '--mttp: expected a time above 0'
usage_error '--start=yesterday s.csv' '--start: expected a date such as 2026-11-22T09:30, or seconds, got "yesterday"'
usage_error '- -' 'standard input can be read only once'
usage_error '-p one --jobs=- -t t.csv -' 'standard input can be read only once'
usage_error '--lifetimes=- -' 'standard input can be read only once'
run gv-trace prices --lifetimes=- /dev/null </dev/null
ok 'lifetimes alone may be there' test "$(grep -c 'only once' err)" -eq 0
# bad MESSAGE OPTION...: the series x come from stdin
bad() {
	message=$1
	shift
	cat >x
	run gv-trace prices "$@"
	[ "$status" -eq 2 ] && [ ! -s out ] && [ "$(head -n 1 err)" = "gv-trace: $message" ]
	holds "$message" out
}
head -n 1 s.csv | bad 'the series have no row' x
bad 'no row of the series is of these clouds and regions' --clouds=azure x <s.csv
cut -d, -f2- s.csv | bad 'x:1: missing column "timestamp" or "timestamp_utc" or "first_seen" (found: cloud, region, zone, instance, gpu, gpus, price_usd_h)' x
sed 's/,8,20$/,0,20/' s.csv | bad 'x:5: gpus: expected a number from 1 to 1e+06, got "0"' x
sed 's/,8,20$/,8,-1/' s.csv | bad 'x:5: price_usd_h: expected a number from 0 to 1e+09, got "-1"' x
sed '5s/^[^,]*/None/' s.csv | bad 'x:5: timestamp: expected a time, got "None"' x
sed '5s/^[^,]*/soon/' s.csv | bad 'x:5: timestamp: expected a date such as 2026-11-22T09:30:15, or seconds, got "soon"' x
printf 'job_id,job_type\na,A\n' >j.csv
bad 'j.csv:1: missing column "total_steps" (found: job_id, job_type)' -p one --jobs=j.csv -t t.csv s.csv </dev/null
printf 'job_id,job_type,total_steps\na,A,\n' >j.csv
bad 'j.csv:2: total_steps: expected a number, got ""' -p one --jobs=j.csv -t t.csv s.csv </dev/null
printf 'job_id,job_type,total_steps\na,A,1\n' >j.csv
bad 't.csv: no GPU type "a100"; it has v100, k80' -p one --gpu-type=a100 --jobs=j.csv -t t.csv s.csv </dev/null
l=cloud,gpu,gpus,start,end,outcome
printf '%s\naws,K80,1,2020-03-15T10:00:00Z,2020-03-15T09:00:00Z,preempted\n' $l |
	bad 'x:2: end: expected a time that is not before the start' --lifetimes=x s.csv
printf '%s\naws,K80,0,2020-03-15T10:00:00Z,2020-03-15T11:00:00Z,preempted\n' $l |
	bad 'x:2: gpus: expected a number from 1 to 1000000' --lifetimes=x s.csv
printf '%s\naws,K80,1,2020-03-15T10:00:00Z,2020-03-15T11:00:00Z,gone\n' $l |
	bad 'x:2: outcome: expected preempted or alive_at_end, got "gone"' --lifetimes=x s.csv
printf 'job_id,command\na,b\n' | bad 'x:1: this is a jobs table, not one to convert' x
done_testing

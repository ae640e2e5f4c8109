#!/bin/sh
# pipedream.sh [DIRECTORY]: PipeDream's point on hosts of this machine.  A network of VGG's
# shape is trained by the plan of gv-partition and data parallel, on 2 and on 4 hosts whose
# links are as slow, for what they compute, as those of V100s at 1, 10 and 25 Gb/s.
#
# WORKERS ("2 4"), GBPS ("1 10 25"), BATCH (64, of a micro-batch), CORE (0.4, of a core for
# each host), STEPS (72, of each run at least), RUN_S (8, seconds of it at least), WINDOW (.5s, of
# each measurement of the links) and LOSS (1.3, the mean of 8 steps that is to be reached)
# change that.
#
# Linux, root.  results.csv in DIRECTORY (default: pipedream) is what is printed; logs beside it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
PATH=${GV_BIN:-$here/../../bin}:$PATH
hosts_self=$here/hosts.sh
. "$hosts_self"
why=$(hosts_why)
[ -z "$why" ] || { echo "pipedream.sh: skipped: $why" >&2 && exit 77; }
workers=${WORKERS:-2 4} gbps=${GBPS:-1 10 25} batch=${BATCH:-64} core=${CORE:-0.4}
seconds=${RUN_S:-8} window=${WINDOW:-.5s} least=${STEPS:-72} loss=${LOSS:-1.3}
mkdir -p "${1:-pipedream}"
cd "${1:-pipedream}"
finish() {
	status=$?
	trap '' INT TERM HUP
	[ -z "${reader:-}" ] || kill "$reader" 2>/dev/null || :
	hosts_close
	exit $status
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# value NAME: of the last line of -v in "said"
value() { tr ' ' '\n' <said | sed -n "s/^$1=//p" | tail -n 1; }
calc() { awk "BEGIN { printf \"%.6g\", $1 }"; }

# train NAME PLAN WORKERS STEPS [OPTION...]: on the first hosts; NAME.times has seconds and steps
train() {
	name=$1 plan=$2 world=$3 steps=$4
	shift 4
	rm -f progress "$name".*
	mkfifo progress
	# on the switch, so that it goes with it
	ip netns exec "$hosts_name-switch" sh -c 'say() { read -r up _ </proc/uptime && echo "$up $1"; }
		say 0; while read -r _ step; do say "$step"; done' <>progress >"$name.times" 9>&- &
	reader=$!
	rank=$world pids=
	while [ "$rank" -gt 0 ]; do
		rank=$((rank - 1))
		(hosts_alone && hosts_on $rank env RANK=$rank WORLD_SIZE="$world" MASTER_ADDR=10.77.0.1 MASTER_PORT=29500 GV_THREADS=1 \
			GV_PROGRESS="$([ $rank -gt 0 ] || echo "$PWD/progress")" \
			gv-train -v --schedule=1f1b --data=digits:4000 --batch="$batch" --steps="$steps" --timeout=2m \
			--optimizer=adam --lr=.001 --log-every=1 \
			-o "$name.csv" "$@" "$plan" 2>"$name.$rank.err") &
		pids="$pids $!"
	done
	for pid in $pids; do wait "$pid" || { cat "$name".*.err >&2 && exit 1; }; done
	kill $reader
	wait $reader 2>/dev/null || :
	reader=
}
# rate NAME: samples/s of a run, behind its first third
rate() {
	awk -v b="$batch" '{ t[NR] = $1; n[NR] = $2 }
		END {
			for (i = 1; n[i] < n[NR] / 3; i++);
			printf "%.4g", b * (n[NR] - n[i]) / (t[NR] - t[i])
		}' "$1.times"
}
# reached NAME: seconds from the start of the workers to the first step at which the mean of the last
# 8 losses is LOSS; nothing when it is never
reached() {
	awk -F, -v want="$loss" 'NR > 1 { v[++n] = $3; if (n >= 8) { s = 0; for (i = 0; i < 8; i++) s += v[n - i]; if (s / 8 <= want) { print $1; exit } } }' "$1.csv" >reached
	[ ! -s reached ] || awk -v step="$(cat reached)" '$2 >= step && !done { printf "%.3g", t + ($1 - t) * (step - n) / ($2 - n) - begin; done = 1 }
		NR == 1 { begin = $1 } { t = $1; n = $2 }' "$1.times"
}
# links WORKERS MBIT: what the first hosts send each other, pair by pair and all at once, and what they
# compute less meanwhile, in "machine": options of gv-partition.  Messages that take some 10 ms each.
links() {
	size=$(awk -v r="$2" 'BEGIN { b = r * 1250; printf "%d", (b < 16384 ? 16384 : b > 262144 ? 262144 : b) }')
	rank=$1 pids=
	while [ "$rank" -gt 0 ]; do
		rank=$((rank - 1))
		(hosts_alone && hosts_on $rank env RANK=$rank WORLD_SIZE="$1" MASTER_ADDR=10.77.0.1 MASTER_PORT=29500 \
			gv-profile links -q --size="$size" --window="$window" --repeats=1 -o "links.$1.$2.csv" 2>"links.$rank.err") &
		pids="$pids $!"
	done
	for pid in $pids; do wait "$pid" || { cat links.*.err >&2 && exit 1; }; done
	awk -F, -v n="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ rate += $at["gbytes_per_s"]; cpu += $at["cpu_s_per_gbyte"] }
		sum == "" || $at["sum_gbytes_per_s"] < sum { sum = $at["sum_gbytes_per_s"] } # all wait for the slowest
		END { n1 = NR - 1; printf "-l %d@%.5gMB/s:%.5gMB/s --moving=%.5gMB/s\n", n, 1000 * rate / n1, 1000 * sum, 1000 * n1 / cpu }' \
		"links.$1.$2.csv" >machine
	echo "# $1 hosts, $2 Mbit/s: $(cat machine)"
}
# stretched: times of a whole core as they are on a host
stretched() {
	awk -F, -v OFS=, -v x="$(cat stretch)" 'NR == 1 { for (i = 1; i <= NF; i++) ms[i] = $i ~ /_ms$/ }
		NR > 1 { for (i = 1; i <= NF; i++) if (ms[i]) $i *= x }
		{ print }'
}
# predicted PLAN: seconds of a minibatch; the plan has a core's times
predicted() {
	stretched <"$1" >stretched.csv
	# shellcheck disable=SC2046 # options
	gv-partition -v -q --evaluate --timeline $(cat machine) -o /dev/null stretched.csv 2>said || { cat said >&2 && return 1; }
	value step_s
}
shape() { awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ r[$at["stage"]] = $at["replicas"]; n = $at["stage"] }
	END { for (i = 0; i <= n; i++) printf "%s%s", i ? "-" : "", r[i] }' "$1"; }

# shellcheck disable=SC2086 # numbers
most=$(printf '%s\n' $workers | sort -n | tail -n 1)
hosts_open "gvpd$$" "$most" 10000 "$core"

# How long layers take: on a whole core, stretched to what a step takes on each host while as many
# compute as a plan has.  (A layer is shorter than what a host has of a core at a time.)
# profile HOST WINDOW REPEATS
profile() {
	hosts_on "$1" gv-profile layers -v --optimizer=adam --shape=16x16 --batch="$batch" --warmup=.3s --window="$2" --repeats="$3" -o "profile.$1.csv" "$here/vgg.tsv" 2>"profile.$1.err" 9>&-
}
passed_ms() { sed -n 's/.* passed_ms=\([^ ]*\).*/\1/p' "profile.$1.err"; }
hosts_core 0 1
profile 0 2s 20
mv profile.0.csv profile.csv
whole=$(sed -n 's/.* step_ms=\([^ ]*\).*/\1/p' profile.0.err)
hosts_core 0 "$core"
# stretch HOSTS: what a step takes on each of so many hosts that compute, over what it takes on a core;
# just before what is made of it, since others on the machine come and go
stretch() {
	pids=
	for i in $(seq 0 $(($1 - 1))); do (hosts_alone && profile "$i" 2s 6) & pids="$pids $!"; done
	for pid in $pids; do wait "$pid"; done
	for i in $(seq 0 $(($1 - 1))); do passed_ms "$i"; done |
		awk -v w="$whole" '{ s += $1 } END { printf "%.4g\n", s / NR / w }' >stretch
}
stretch "$most"
echo "# a step of $batch takes $whole ms on a core, and $(cat stretch) times that on a host while $most compute"
stretched <profile.csv >layers.csv
gv-partition -q -v -l 1@1GB/s -o /dev/null layers.csv 2>said
single=$(value single_s)
bytes=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "parameter_bytes") c = i } NR > 1 { n += $c } END { print n }' layers.csv)
echo "# minibatch of $batch: $single s, weights: $bytes bytes"

echo workers,v100_gbps,mbit,plan,predicted_samples_per_s,samples_per_s,dp_predicted_samples_per_s,dp_samples_per_s,predicted_gain,gain,s_to_loss,dp_s_to_loss | tee results.csv
for n in $workers; do
	for g in $gbps; do
		# VGG-16 of PipeDream's profile: 553.4 MB of weights, .6725 s for 128 samples; 64 on each V100
		mbit=$(calc "int($g * 1000 * ($bytes / 553.4e6) / ($single / (.6725 / 2)) + .5)")
		hosts_rate "$mbit"
		links "$n" "$mbit"
		stretch "$n"
		# shellcheck disable=SC2046 # options
		stretched <profile.csv | gv-partition -q --rank=1 --schedule=1f1b $(cat machine) -o placed.csv
		awk -F, -v OFS=, 'NR == FNR { at[FNR] = $0; next } FNR == 1 { for (i = NF; $i != "stage"; i--); from = i }
			{ row = at[FNR]; for (i = from; i <= NF; i++) row = row OFS $i; print row }' profile.csv placed.csv >plan.csv
		awk -F, -v OFS=, -v n="$n" '{ print $0, NR == 1 ? "stage" : 0, NR == 1 ? "replicas" : n }' profile.csv >dp.csv
		line=$n,$g,$mbit,$(shape plan.csv) gain='' ends=''
		for kind in plan dp; do
			[ $kind = dp ] && m=$n || m=$(shape plan.csv | tr '-' '\n' | awk '{ s += $1 } END { print s }')
			stretch "$m"
			echo "# $kind: $m hosts, a step $(cat stretch) times as long"
			s=$(predicted $kind.csv)
			steps=$(calc "int($seconds / $s / 12 + 1) * 12")
			[ "$steps" -ge "$least" ] || steps=$least
			run=$kind.$n.$g
			train "$run" $kind.csv "$m" "$steps"
			p=$(calc "$batch / $s") r=$(rate "$run")
			line=$line,$p,$r
			gain="$gain $p $r"
			ends=$ends,$(reached "$run")
		done
		# shellcheck disable=SC2086 # numbers
		set -- $gain
		echo "$line,$(calc "$1 / $3"),$(calc "$2 / $4")$ends" | tee -a results.csv
	done
done

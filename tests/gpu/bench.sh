#!/bin/sh
# bench.sh: make bench-gpu.  Arrays of B models on a GPU: T(B)/T(1), against K processes at
# once, against torch.func's vmap (eager and compiled) and JAX's vmap and jit on the same card
# in the same run, beside the arithmetic of a model alone (fixed + B * per model).  All of it
# is measured here; rows go to $GV_BENCH_OUT (bench-gpu.csv), a table is printed.
#
# Then one model at a time beside PyTorch, eager and compiled: a GPT in bfloat16 with the
# share of the card's measured matrix rate and what the shapes let expect (gpt.sh), a wide
# MLP and a CNN; and the time from gv-train typed to its first step.
#
# $PART is some of W1 .. W5, gpt, mlp, cnn and first (step), as PART="W1 gpt"; all otherwise.
# What is not begun after $GV_BENCH_LIMIT_S seconds (420) is left out and named, and no
# command takes more than 120, so that all ends within ten minutes.  With $OUT rows go to
# $OUT/bench-gpu.csv and what is printed to $OUT/bench-gpu.txt, too.
# $GV_DEVICE is another device than cuda; GV_BENCH_MOST the largest array (128), GV_BENCH_S
# seconds of each measurement (1), GV_BENCH_K processes at once (8), GV_BENCH_WORKLOADS of
# W1..W5, GV_BENCH_MATH of "fp32 tf32"; GV_BENCH_MODELS of mlp, cnn and gpt:HIDDEN:LAYERS:
# TOKENS:BATCH:WORDS; GV_PYTHON a Python with PyTorch or JAX, GV_BENCH_COMPILE=0 without
# compiled PyTorch.
# shellcheck disable=SC2086
set -u
if [ -n "${OUT:-}" ] && [ -z "${GV_BENCH_INNER:-}" ]; then
	text=$OUT/bench-gpu.txt
	mkdir -p "$OUT" && { { GV_BENCH_INNER=1 sh "$0" || echo "status $?"; } 2>&1 | tee "$text"; }
	! tail -n 1 "$text" | grep -q '^status [1-9]'
	exit
fi
began=$(date +%s)
here=$(cd "${0%/*}" && pwd)
bin=${GV_BIN:-$here/../../bin}
device=${GV_DEVICE:-cuda} most=${GV_BENCH_MOST:-128} seconds=${GV_BENCH_S:-1} processes=${GV_BENCH_K:-8}
workloads=${GV_BENCH_WORKLOADS:-W1 W2 W3 W4 W5} python=${GV_PYTHON:-python3}
rows=${GV_BENCH_OUT:-${OUT:-.}/bench-gpu.csv}
missing=
for tool in awk cut date grep mktemp sed tail timeout tr uname; do command -v $tool >/dev/null 2>&1 || missing="$missing $tool"; done
[ -z "$missing" ] || { echo "bench.sh: what is needed and not there:$missing" >&2 && exit 2; }
. "$here/libraries.sh"
models="gpt:2048:4:1024:8:50304 gpt:4096:2:1024:8:50304 mlp cnn"
[ "$device" != cpu ] || models="gpt:64:2:32:2:256" # the others take minutes there, and its memory
models=${GV_BENCH_MODELS-$models}
maths=${GV_BENCH_MATH:-fp32 tf32}
first=yes left=
if [ -n "${PART:-}" ]; then
	of_models=$models workloads='' models='' first=''
	for part in $PART; do
		case $part in
		W[1-5]) workloads="$workloads $part" ;;
		first) first=yes ;;
		gpt | mlp | cnn) for i in $of_models; do case $i in "$part" | "$part":*) models="$models $i" ;; esac done ;;
		*) echo "bench.sh: no part $part: there are W1 .. W5, gpt, mlp, cnn and first" >&2 && exit 2 ;;
		esac
	done
fi
# in_time WHAT: whether it is still begun
in_time() {
	[ $(($(date +%s) - began)) -lt "${GV_BENCH_LIMIT_S:-420}" ] && return 0
	left="$left $1"
	return 1
}
[ "$device" != cpu ] || maths=fp32
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# the nets of the workloads, and the options of gv-profile that give them samples
net() { # NAME: rows of id op from out k act
	printf 'id\top\tfrom\tout\tk\tact\n' >"$work/$1.tsv"
	awk -v OFS='\t' '{ $6 = $6; for (i = 1; i <= 6; i++) if ($i == "-") $i = ""; print }' >>"$work/$1.tsv"
}
net W1 <<'EOF'
1 linear - 64 - relu
2 linear
3 xent
EOF
net W2 <<'EOF'
1 linear - 128 - relu
2 linear
3 xent
EOF
net W3 <<'EOF'
1 conv - 32 1
2 bn - - - relu
3 conv - 64 1
4 bn - - - relu
5 conv - 128 1
6 bn - - - relu
7 maxpool
8 linear - 64 - relu
9 linear
10 xent
EOF
net W4 <<'EOF'
1 conv - 8 3 relu
2 maxpool - - 2
3 conv - 16 3 relu
4 maxpool - - 2
5 linear
6 xent
EOF
# two layers of 128 channels and two heads, the mean of the places
awk -v OFS='\t' '
	function row(op, from, out, k, g) { print ++id, op, from, out, k, g, ""; return id }
	BEGIN {
		print "id", "op", "from", "out", "k", "g", "act"
		x = row("embed", 0, 128, 256)
		for (l = 0; l < 2; l++) {
			row("ln", x); row("linear", id, 384, 1); row("attention", id, "", "", 2)
			row("linear", id, 128, 1); x = row("add", x ";" id)
			row("ln", x); row("linear", id, 512, 1); row("gelu", id)
			row("linear", id, 128, 1); x = row("add", x ";" id)
		}
		row("ln", x); row("avgpool", id); row("linear", id); row("xent", id)
	}' >"$work/W5.tsv"
net mlp <<'EOF'
1 linear - 2048 - relu
2 linear - 2048 - relu
3 linear
4 xent
EOF
{
	printf 'id\top\tout\tk\ts\tp\tact\n'
	printf '%s\tconv\t%s\t3\t%s\t1\trelu\n' 1 64 1 2 64 1 3 128 2 4 128 1 5 256 2 6 256 1
	printf '%s\t\t\t\t\t\n' '7\tavgpool' '8\tlinear' '9\txent' | sed 's/\\t/\t/g'
} >"$work/cnn.tsv"
shape() {
	case $1 in
	W1) echo --batch=32 --shape=8x8 ;;
	W2) echo --batch=64 --shape=28x28 ;;
	W3) echo --batch=16 --shape=128x1x3 ;;
	W4) echo --batch=16 --shape=16x16 ;;
	W5) echo --batch=32 --shape=32x1 ;;
	esac
}

printf 'id\top\n1\tlinear\n2\txent\n' >"$work/probe.tsv"
if ! "$bin/gv-profile" memory -q --device="$device" --batch=2 --shape=2x2 "$work/probe.tsv" >/dev/null 2>"$work/err"; then
	echo "nothing is measured: $(sed 's/^gv-profile: //' "$work/err" | head -n 1)"
	exit 0
fi
echo "machine: $(uname -srm); $("$bin/gv-profile" devices -q --list | sed -n 2p)"
[ "$device" = cpu ] || "$bin/gv-profile" devices -q --measure

echo program,workload,math,models,step_ms,samples_per_s >"$rows"
for math in $maths; do
	for w in $workloads; do
		in_time "$w($math)" || continue
		options="$(shape $w) --device=$device --math=$math --warmup=0.2s --window=${seconds}s --repeats=5"
		if ! timeout 120 "$bin/gv-profile" arrays -q -v --most="$most" $options "$work/$w.tsv" >"$work/arrays" 2>"$work/err"; then
			echo "$w, $math: $(sed 's/^gv-profile: //' "$work/err" | head -n 1)"
			continue
		fi
		sed "s/^gv-profile: /$w, $math: /" "$work/err"
		awk -F, -v w=$w -v m=$math 'NR > 1 { print "gv," w "," m "," $1 "," $2 "," $7 }' "$work/arrays" >>"$rows"
		# as many processes at once, each a model alone; all begin together
		i=0
		while [ $i -lt "$processes" ]; do
			timeout 120 "$bin/gv-profile" arrays -q --most=1 $options "$work/$w.tsv" >"$work/alone.$i" 2>/dev/null &
			i=$((i + 1))
		done
		wait
		cat "$work"/alone.* | awk -F, -v w=$w -v m=$math -v k="$processes" '
			$1 == 1 { n++; s += $7; t += $2 } END { if (n == k) print "gv-processes," w "," m "," k "," t / n "," s }' >>"$rows"
		rm -f "$work"/alone.*
	done
	if [ -z "$workloads" ] || ! command -v "$python" >/dev/null 2>&1; then continue; fi
	for script in torch_vmap jax_vmap; do
		if timeout 60 "$python" -c "import ${script%_vmap}" 2>/dev/null; then
			in_time "$script($math)" || continue
			timeout 120 "$python" "$here/$script.py" "$device" "$most" $math "$seconds" $workloads >>"$rows"
		else
			echo "no ${script%_vmap}: its rows are left out ($python)"
		fi
	done
done

# ---- one model at a time ----
# the card's matrix rate in 10^9 operations a second, of a kind of math
rate() {
	"$bin/gv-profile" devices -q --measure 2>/dev/null | awk -F, -v name="$1_gflops_per_s" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } NR == 2 && c { print $c }'
}
# shellcheck disable=SC2046
one() { # WORKLOAD MATH: the options of gv-profile, and its table
	case $1 in
	gpt:*)
		set -- $(echo "$1" | tr : ' ') "$2"
		sh "$here/gpt.sh" table "$2" "$3" >"$work/one.tsv"
		echo "--batch=$5 --shape=$4x1 --classes=$6 --optimizer=adamw --math=$7"
		;;
	mlp) cp "$work/mlp.tsv" "$work/one.tsv" && echo "--batch=256 --shape=28x28 --math=$2" ;;
	cnn) cp "$work/cnn.tsv" "$work/one.tsv" && echo "--batch=128 --shape=32x32x3 --math=$2" ;;
	esac
}
half=bf16
[ "$device" != cpu ] || half=fp32
for w in $models; do
	in_time "${w%%:*}" || continue
	options="$(one "$w" $half) --device=$device --warmup=0.2s --window=${seconds}s --repeats=5"
	if ! timeout 120 "$bin/gv-profile" arrays -q --most=1 $options "$work/one.tsv" >"$work/one" 2>"$work/err"; then
		echo "$w: $(sed 's/^gv-profile: //' "$work/err" | head -n 1)"
		continue
	fi
	awk -F, -v w="$w" -v m=$half 'NR == 2 { print "gv-one," w "," m ",1," $2 "," $7 }' "$work/one" >>"$rows"
	case $w in gpt:*) ;; *) continue ;; esac
	echo "$w, predicted (rates of an H100, not measured here):"
	# shellcheck disable=SC2046
	sh "$here/gpt.sh" roofline $(echo "${w#gpt:}" | tr : ' ') | tail -n 2
	# shellcheck disable=SC2046
	[ "$device" = cpu ] || GV_TFLOPS=$(rate bf16 | awk '{ print $1 / 1000 }') STEP_MS=$(sed -n 2p "$work/one" | cut -d, -f2) \
		sh "$here/gpt.sh" share $(echo "${w#gpt:}" | tr : ' ')
done
if [ -n "$models" ] && timeout 60 "$python" -c 'import torch' 2>/dev/null && in_time torch_models; then
	timeout 180 "$python" "$here/torch_models.py" "$device" $half "$seconds" $models >>"$rows"
fi
awk -F, '
	$1 == "gv-one" { gv[$2] = $5; order[++n] = $2 }
	/^torch-(eager|compile),(gpt:|mlp|cnn)/ { t[$1, $2] = $5 }
	function beside(v, ms) { return v == "" ? "-" : sprintf("%.4g (%.2f)", v, v / ms) }
	END {
		if (n > 0) printf "\n%-28s %12s %22s %22s\n", "one model, ms a step", "gv", "torch eager (/gv)", "compiled (/gv)"
		for (i = 1; i <= n; i++) printf "%-28s %12.4g %22s %22s\n", order[i], gv[order[i]],
			beside(t["torch-eager", order[i]], gv[order[i]]), beside(t["torch-compile", order[i]], gv[order[i]])
	}' "$rows"

start=$(date +%s.%N)
[ -n "$first" ] && timeout 120 "$bin/gv-train" --device="$device" --data=digits:64 --steps=1 "$work/W1.tsv" >/dev/null 2>&1 &&
	echo "from gv-train typed to one step done: $(echo "$start $(date +%s.%N)" | awk '{ printf "%.2f s", $2 - $1 }')"

echo
echo "T(B) samples/s of all models; beside them T(B)/T(1), and gv's over the better of the others"
awk -F, '
	NR == 1 { next }
	{
		if ($2 !~ /^W/) next
		key = $2 " " $3
		if (!(key in seen)) { seen[key] = 1; order[++n] = key }
		if ($1 == "gv") { t[key, $4] = $6; if ($4 > most[key]) most[key] = $4; if (!(key in first)) first[key] = $6 }
		else if ($1 == "gv-processes") { p[key] = $6; k = $4 }
		else if ($6 > other[key]) { other[key] = $6; who[key] = $1 " B=" $4 }
	}
	END {
		printf "%-10s %6s %12s %8s %12s %14s %10s %s\n", "workload", "best B", "T(B)", "T(B)/T(1)", "T(" k " proc.)", "best other", "gv/other", "who"
		for (i = 1; i <= n; i++) {
			key = order[i]; best = 0
			for (b = 1; b <= most[key]; b++) if ((key, b) in t && t[key, b] > best) { best = t[key, b]; at = b }
			if (best == 0) continue
			printf "%-10s %6d %12.6g %8.2f %12s %14s %10s %s\n", key, at, best, best / first[key], key in p ? sprintf("%.6g", p[key]) : "-",
				key in other ? sprintf("%.6g", other[key]) : "-", key in other ? sprintf("%.2f", best / other[key]) : "-", who[key]
		}
	}' "$rows"
[ -z "$left" ] || echo "after ${GV_BENCH_LIMIT_S:-420} s these were left out:$left (PART=)"
exit 0

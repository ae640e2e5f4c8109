#!/bin/sh
# bench.sh: make bench-gpu.  Arrays of B models on a GPU: T(B)/T(1), against K processes at
# once, against torch.func's vmap (eager and compiled) and JAX's vmap and jit on the same card
# in the same run, beside the arithmetic of a model alone (fixed + B * per model).  All of it
# is measured here; rows go to $GV_BENCH_OUT (bench-gpu.csv), a table is printed.
#
# W5 is the shipped encoder, which has no counterpart among the others.
#
# $GV_DEVICE is another device than cuda; GV_BENCH_MOST the largest array (128), GV_BENCH_S
# seconds of each measurement (1), GV_BENCH_K processes at once (8), GV_BENCH_WORKLOADS of
# W1..W5, GV_BENCH_MATH of "fp32 tf32"; GV_PYTHON a Python with PyTorch or JAX.
# shellcheck disable=SC2086
set -u
here=$(cd "${0%/*}" && pwd)
bin=${GV_BIN:-$here/../../bin}
device=${GV_DEVICE:-cuda} most=${GV_BENCH_MOST:-128} seconds=${GV_BENCH_S:-1} processes=${GV_BENCH_K:-8}
workloads=${GV_BENCH_WORKLOADS:-W1 W2 W3 W4 W5} python=${GV_PYTHON:-python3}
rows=${GV_BENCH_OUT:-bench-gpu.csv}
others=$(echo "$workloads" | sed "s/W5//")
maths=${GV_BENCH_MATH:-fp32 tf32}
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
cp "$here/../../share/models/encoder.tsv" "$work/W5.tsv"
shape() {
	case $1 in
	W1) echo --batch=32 --shape=8x8 ;;
	W2) echo --batch=64 --shape=28x28 ;;
	W3) echo --batch=16 --shape=128x1x3 ;;
	W4) echo --batch=16 --shape=16x16 ;;
	W5) echo --batch=32 --shape=32x1 ;;
	esac
}
batch() { shape "$1" | sed 's/--batch=\([0-9]*\).*/\1/'; }

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
		options="$(shape $w) --device=$device --math=$math --warmup=0.2s --window=${seconds}s --repeats=5"
		if ! "$bin/gv-profile" arrays -q -v --most="$most" $options "$work/$w.tsv" >"$work/arrays" 2>"$work/err"; then
			echo "$w, $math: $(sed 's/^gv-profile: //' "$work/err" | head -n 1)"
			continue
		fi
		sed "s/^gv-profile: /$w, $math: /" "$work/err"
		awk -F, -v w=$w -v m=$math 'NR > 1 { print "gv," w "," m "," $1 "," $2 "," $7 }' "$work/arrays" >>"$rows"
		# as many processes at once, each a model alone; all begin together
		i=0
		while [ $i -lt "$processes" ]; do
			"$bin/gv-profile" arrays -q --most=1 $options "$work/$w.tsv" >"$work/alone.$i" 2>/dev/null &
			i=$((i + 1))
		done
		wait
		cat "$work"/alone.* | awk -F, -v w=$w -v m=$math -v k="$processes" '
			$1 == 1 { n++; s += $7; t += $2 } END { if (n == k) print "gv-processes," w "," m "," k "," t / n "," s }' >>"$rows"
		rm -f "$work"/alone.*
	done
	command -v "$python" >/dev/null 2>&1 || continue
	for script in torch_vmap jax_vmap; do
		if "$python" -c "import ${script%_vmap}" 2>/dev/null; then
			"$python" "$here/$script.py" "$device" "$most" $math "$seconds" $others >>"$rows"
		else
			echo "no ${script%_vmap}: its rows are left out ($python)"
		fi
	done
done

echo
echo "T(B) samples/s of all models; beside them T(B)/T(1), and gv's over the better of the others"
awk -F, '
	NR == 1 { next }
	{
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

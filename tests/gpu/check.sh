#!/bin/sh
# check.sh: make check-gpu.  Every operator and net on the GPU against the CPU; the same
# bytes with CUDA graphs and without, and from run to run; arrays against models alone;
# kill and resume; compute-sanitizer when it is installed.  TAP; skips without a GPU.
# $GV_DEVICE is another device than cuda, $GV_CHECK_MODELS other nets, $GV_CHECK_STEPS so many
# steps.  The machine is named in front; all numbers are measured here.
# shellcheck disable=SC2034,SC2086
GV_TEST_CLEAN=1
export LC_ALL=C GV_TEST_CLEAN
. "${0%/*}/../lib.sh"

PATH=$bin:$PATH
GV_DATA=$src/share
export PATH GV_DATA
device=${GV_DEVICE:-cuda}
cp "$src/share/models/"*.tsv .
printf 'id\top\tout\n1\tlinear\t\n2\txent\t\n' >probe.tsv
run gv-train --device="$device" --data=digits:8 --batch=8 --steps=1 probe.tsv
if [ "$status" -ne 0 ]; then
	skip "$(sed -n 's/^gv-train: //p' err | head -n 1)"
	done_testing
	exit 0
fi
echo "# $(gv-profile devices -q --list | sed -n 2p)"
echo "# $(uname -srm), $(date -u +%Y-%m-%dT%H:%MZ)"

# one operator each, with what it needs around it
table() {
	printf 'id\top\tfrom\tout\tk\ts\tp\tg\tact\n' >"$1.tsv"
	cat >>"$1.tsv"
}
tab=$(printf '\t')
net() { sed "s/ /$tab/g; s/$tab*\$//" | awk -F'\t' -v OFS='\t' '{ $9 = $9; for (i = 1; i <= 9; i++) if ($i == "-") $i = ""; print }' | table "$1"; }
net op-linear <<'EOF'
1 linear - 33 - - - - relu
2 linear - 17
3 linear - -
4 xent
EOF
net op-conv <<'EOF'
1 conv - 6 3 1 1 - relu
2 conv - 8 5 2 2 2
3 conv - 8 3 1 1 8 relu
4 conv - 5 1
5 linear - -
6 xent
EOF
net op-pools <<'EOF'
1 conv - 4 3 1 1
2 maxpool - - 3 2 1
3 avgpool - - 2 1
4 maxpool - - 2
5 linear - -
6 xent
EOF
net op-pointwise <<'EOF'
1 linear - 24
2 relu 1
3 gelu 1
4 add 1;2;3 - - - - - relu
5 linear - -
6 xent
EOF
net op-bn <<'EOF'
1 conv - 6 3 1 1
2 bn - - - - - - relu
3 avgpool
4 linear - -
5 xent
EOF

data='--data=digits:256 --batch=32 --steps=20 --log-every=1'
# losses FILE: of the rows of gv-train
near() { # FILE FILE LIMIT
	paste -d, "$1" "$2" | awk -F, -v limit="$3" 'NR > 1 { d = $3 - $8; if (d < 0) d = -d; if (d > m) m = d; n++ }
		END { printf "%.3g\n", m; exit !(n > 0 && m <= limit) }' >apart
}
for model in ${GV_CHECK_MODELS:-op-linear op-conv op-pools op-pointwise op-bn mlp cnn cnn-small cnn-bn resnet-small
	encoder}; do
	[ -f "$model.tsv" ] || continue
	for optimizer in 'sgd --momentum=.9' adamw; do
		run gv-train --device="$device" $data --optimizer=$optimizer "$model.tsv"
		if grep -q 'no kernels for GPUs' err; then
			skip "$model: $(sed 's/^gv-train: //' err)"
			continue
		fi
		is_status 0 "$model, $optimizer: trains"
		cp out gpu
		gv-train $data --optimizer=$optimizer "$model.tsv" >cpu
		near cpu gpu 1e-4 || :
		ok "$model, $optimizer: losses of 20 steps within 1e-4 of the CPU: $(cat apart)" test -s apart -a "$(awk '{ print ($1 <= 1e-4) }' apart)" = 1
		gv-train --device="$device" $data --optimizer=$optimizer "$model.tsv" >again
		same_file gpu again "$model, $optimizer: from run to run"
		GV_CUDA_NO_GRAPHS=1 gv-train --device="$device" $data --optimizer=$optimizer "$model.tsv" >again
		same_file gpu again "$model, $optimizer: graphs and none"
	done
	for math in tf32 bf16; do
		run gv-train --device="$device" $data --math=$math "$model.tsv"
		if [ "$status" -ne 0 ]; then
			skip "$math: $(sed -n '1s/^gv-train: //p' err)"
			continue
		fi
		cp out fast
		gv-train $data "$model.tsv" >cpu
		near cpu fast 0.1 || :
		ok "$model: $math within 0.1 of the CPU: $(cat apart)" test "$(awk '{ print ($1 <= .1) }' apart)" = 1
	done
done

# ---- arrays: each model as alone ----
printf 'seed,lr\n1,.1\n2,.05\n3,.02\n4,.01\n5,.2\n' >array.csv
gv-train --device="$device" $data --array=array.csv mlp.tsv >array
gv-train --device="$device" $data --seed=3 --lr=.02 mlp.tsv >alone
awk -F, -v OFS=, 'NR == 1 || $2 == 2 { if (NR > 1) $2 = 0; print }' array >third
near third alone 1e-5 || :
ok "model 2 of an array of 5 as alone, within 1e-5: $(cat apart)" test "$(awk '{ print ($1 <= 1e-5) }' apart)" = 1

# ---- kill and resume; from one device to the other ----
long="--data=digits:256 --batch=32 --steps=${GV_CHECK_STEPS:-200} --checkpoint-steps=20 --log-every=20"
gv-train --device="$device" $long --checkpoint=whole mlp.tsv >/dev/null
i=0
while [ $i -lt 5 ]; do
	timeout -s KILL 0.$((i + 3)) gv-train --device="$device" $long --checkpoint=parts mlp.tsv >/dev/null 2>&1 || :
	i=$((i + 1))
done
gv-train --device="$device" $long --checkpoint=parts mlp.tsv >/dev/null
same_file whole/gv-train.ckpt parts/gv-train.ckpt "killed and resumed: the same checkpoint"
gv-train $long --checkpoint=whole --steps=$((${GV_CHECK_STEPS:-200} + 20)) mlp.tsv >here
gv-train --device="$device" $long --checkpoint=parts --steps=$((${GV_CHECK_STEPS:-200} + 20)) mlp.tsv >there
near here there 1e-4 || :
ok "a checkpoint of the GPU goes on on the CPU, within 1e-4: $(cat apart)" test "$(awk '{ print ($1 <= 1e-4) }' apart)" = 1

# ---- time until the first step ----
start=$(date +%s.%N)
gv-train --device="$device" --data=digits:64 --steps=1 mlp.tsv >/dev/null
echo "# from gv-train typed to one step: $(echo "$start $(date +%s.%N)" | awk '{ printf "%.2f s", $2 - $1 }')"

if have compute-sanitizer && [ "$device" = cuda ]; then
	for tool in memcheck racecheck initcheck synccheck; do
		run compute-sanitizer --error-exitcode=9 --tool=$tool "$bin/gv-train" --device="$device" \
			--data=digits:64 --batch=32 --steps=3 cnn-bn.tsv
		is_status 0 "compute-sanitizer: $tool"
	done
else
	skip "no compute-sanitizer"
fi
done_testing

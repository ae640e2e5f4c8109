#!/bin/sh
# check.sh: make check-gpu.  Every operator and net on the GPU against the CPU; the same
# bytes with CUDA graphs and without, and from run to run; arrays against models alone;
# kill and resume; PyTorch from the same weights, where $GV_PYTHON has it; compute-sanitizer
# when it is installed.  TAP; skips without a GPU.
# $PART is some of its parts, as PART="ops kill": ops, nets, torch, arrays, kill, first (step),
# sanitize; all otherwise.  No run takes more than $GV_CHECK_RUN_S seconds (120), and what is
# not begun after $GV_CHECK_S (540) is skipped and named, so that all ends within ten minutes.
# With $OUT what is printed is in $OUT/check-gpu.tap, too; all else is in a folder that goes.
# $GV_DEVICE is another device than cuda, $GV_CHECK_MODELS other nets, $GV_CHECK_STEPS so many
# steps (2000) in which it is killed.  The machine is named in front; all numbers are measured
# here.
# shellcheck disable=SC2034,SC2046,SC2086
GV_TEST_CLEAN=1
export LC_ALL=C GV_TEST_CLEAN
if [ -n "${OUT:-}" ] && [ -z "${GV_CHECK_INNER:-}" ]; then
	tap=$OUT/check-gpu.tap
	mkdir -p "$OUT" && { { GV_CHECK_INNER=1 sh "$0" || echo "# status $?"; } | tee "$tap"; }
	! tail -n 1 "$tap" | grep -q '^# status [1-9]'
	exit
fi
began=$(date +%s)
. "${0%/*}/../lib.sh"

missing=
for tool in awk cut date grep paste sed sort stat tail timeout tr uname; do have $tool || missing="$missing $tool"; done
if [ -n "$missing" ]; then
	ran="have$missing" status=127
	fail "what is needed and not there:$missing"
	done_testing
	exit
fi
all_parts='ops nets torch arrays kill first sanitize'
parts=${PART:-$all_parts}
for part in $parts; do
	case " $all_parts " in
	*" $part "*) ;;
	*)
		ran="PART=$parts" status=2
		fail "no part $part: there are $all_parts"
		done_testing
		exit
		;;
	esac
done
# wants PART: whether it is one of those, and there is time for it
wants() {
	case " $parts " in *" $1 "*) ;; *) return 1 ;; esac
	[ $(($(date +%s) - began)) -lt "${GV_CHECK_S:-540}" ] && return 0
	case $left in *" $1 "*) ;; *) left="$left$1 " ;; esac
	return 1
}
left=' '

# nothing takes for ever
mkdir limited
printf '#!/bin/sh\nexec timeout %s "%s" "$@"\n' "${GV_CHECK_RUN_S:-120}" "$bin/gv-train" >limited/gv-train
chmod +x limited/gv-train
PATH=$PWD/limited:$bin:$PATH
GV_DATA=$src/share
export PATH GV_DATA
device=${GV_DEVICE:-cuda} python=${GV_PYTHON:-python3}
. "$src/tests/gpu/libraries.sh"
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
	printf 'id\top\tfrom\tout\tk\ts\tp\tg\tact\trate\tdir\n' >"$1.tsv"
	cat >>"$1.tsv"
}
tab=$(printf '\t')
net() { sed "s/ /$tab/g; s/$tab*\$//" | awk -F'\t' -v OFS='\t' '{ $11 = $11; for (i = 1; i <= 11; i++) if ($i == "-") $i = ""; print }' | table "$1"; }
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

net op-acts <<'EOF'
1 conv - 6 3 1 1 - leaky
2 linear - 24 - - - - tanh
3 linear - 24 - - - - sigmoid
4 linear - -
5 xent
EOF
net op-concat <<'EOF'
1 conv - 4 3 1 1
2 conv - 3 3 1 1 - relu
3 concat 1;2
4 dropout - - - - - - - 0.2
5 maxpool
6 linear - -
7 xent
EOF
net op-tconv <<'EOF'
1 conv - 8 4 2 1 - relu
2 tconv - 6 4 2 1 2 relu
3 tconv - 1 3 1 1
4 mse
EOF
net op-lstm <<'EOF'
1 embed - 12
2 lstm - 10 - - - - - - both
3 lstm - 10 - - - - - - back
4 ln
5 lstm - 7
6 linear - - 1
7 xent
EOF
net op-attention <<'EOF'
1 embed - 24
2 ln
3 linear - 72 1
4 attention - - - - - 3
5 linear - 72 1
6 causal - - - - - 2
7 linear - - 1
8 xent
EOF
net op-head-256 <<'EOF'
1 embed - 16
2 linear - 768 1
3 causal - - - - - 1
4 linear - - 1
5 xent
EOF

digits='--data=digits:256' words='--data=sentences:128 --context=24'
# samples MODEL: those that it takes
samples() {
	case $1 in
	op-lstm) echo --data=sentences:128 ;;
	op-attention | op-head-256 | gpt-*) echo "$words" ;;
	gnmt-*) echo --data=sentences:128 ;;
	op-tconv | dcgan-small) echo "$digits --autoencode" ;;
	*) echo "$digits" ;;
	esac
}
all='op-linear op-conv op-pools op-pointwise op-bn op-acts op-concat op-tconv op-lstm op-attention op-head-256 mlp cnn
	cnn-small cnn-bn resnet-small vgg-small mobilenet-small pointnet-small dcgan-small gnmt-small encoder gpt-tiny'
echo "# operators: $(for model in $all; do sed 1d "$model.tsv"; done | cut -f2 | sort -u | tr '\n' ' ')"

steps='--batch=32 --steps=20 --log-every=1'
data="$digits $steps"
# near FILE FILE LIMIT: as many losses, all numbers, no two further apart; ./apart says how far
near() {
	paste -d, "$1" "$2" | awk -F, -v limit="$3" '
		function number(v) { return v ~ /^[-+]?[0-9.]+([eE][-+]?[0-9]+)?$/ }
		NR > 1 {
			if (!number($3) || !number($8)) { bad = $3 " and " $8; next }
			d = $3 - $8; if (d < 0) d = -d; if (d > m) m = d; n++
		}
		END {
			if (bad != "" || n == 0) { print bad == "" ? "no losses" : bad; exit 1 }
			printf "%.3g\n", m
			exit !(m <= limit)
		}' >apart
}
# is_near NAME FILE FILE LIMIT
is_near() {
	if near "$2" "$3" "$4"; then pass "$1 $4: $(cat apart)"; else fail "$1 $4: $(cat apart)" "$2" "$3"; fi
}
printf 'step,model,loss,,\n1,0,nan,,\n' >nan
! near nan nan 1
ok "what is no number is near nothing" test $? -eq 0
for model in ${GV_CHECK_MODELS:-$all}; do
	case $model in op-*) wants ops ;; *) wants nets ;; esac || continue
	if [ ! -f "$model.tsv" ]; then
		ran="ls $model.tsv" status=1
		fail "$model: there is no such table"
		continue
	fi
	those="$(samples "$model") $steps"
	for optimizer in 'sgd --momentum=.9' adamw; do
		run gv-train --device="$device" $those --optimizer=$optimizer "$model.tsv"
		is_status 0 "$model, $optimizer: trains"
		cp out gpu
		gv-train $those --optimizer=$optimizer "$model.tsv" >cpu
		# Adam divides by the size of gradients: what rounding makes of small ones grows from step to step
		many=20
		[ "$optimizer" != adamw ] || many=8
		sed $((many + 1))q cpu >cpu.some
		sed $((many + 1))q gpu >gpu.some
		is_near "$model, $optimizer: losses of $many steps as the CPU's, within" cpu.some gpu.some 1e-4
		gv-train --device="$device" $those --optimizer=$optimizer "$model.tsv" >again
		same_file gpu again "$model, $optimizer: from run to run"
		GV_CUDA_NO_GRAPHS=1 gv-train --device="$device" $those --optimizer=$optimizer "$model.tsv" >again
		same_file gpu again "$model, $optimizer: graphs and none"
	done
	for math in tf32 bf16; do
		run gv-train --device="$device" $those --math=$math "$model.tsv"
		if grep -q -e 'no cuBLAS' -e '--math: the CPU has' err; then
			skip "$math: $(sed -n '1s/^gv-train: //p' err)"
			continue
		fi
		is_status 0 "$model, $math: trains"
		cp out fast
		gv-train $those "$model.tsv" >cpu
		is_near "$model: $math as the CPU, within" cpu fast 0.1
		gv-train --device="$device" $those --math=$math "$model.tsv" >again
		same_file fast again "$model, $math: from run to run"
	done
done

# ---- PyTorch, on the CPU, from the same weights ----
# without a bias: bn takes that of a filter that is on everywhere away again, and Adam steps by the rounding
# of its gradient
printf 'id,op,out,k,p,act,bias\n1,conv,5,3,1,relu,0\n2,maxpool,,2,,,\n3,bn,,,,,\n4,linear,,,,,\n5,xent,,,,,\n' >conv.csv
printf 'id,op,out,act\n1,linear,48,relu\n2,linear,,\n3,xent,,\n' >dense.csv
gv-train --export=digits.csv --data=digits:32
# as_torch NET OPTION=VALUE...: both train from the same file for 12 steps
as_torch() {
	net=$1 batch='--data=digits:32 --scale=unit --batch=32' options=
	shift
	for o; do options="$options --$o"; done
	gv-train $batch --steps=0 --weights=begin.safetensors $net >/dev/null
	gv-train --device="$device" $batch $options --steps=12 --log-every=1 --init=begin.safetensors \
		--weights=end.safetensors $net >losses.csv
	run timeout 120 "$python" "$src/tests/gv-train-weights.py" torch $net digits.csv begin.safetensors end.safetensors losses.csv \
		steps=12 lr-schedule=constant "$@"
	is_status 0 "as PyTorch, within 1e-5: $net $* ($(cat out))"
}
if ! wants torch; then
	:
elif timeout 60 "$python" -c 'import torch' 2>/dev/null; then
	for net in dense.csv conv.csv; do
		as_torch $net optimizer=sgd lr=0.1 momentum=0.9 weight-decay=0.01
		as_torch $net optimizer=adamw lr=0.01 weight-decay=0.1
	done
else
	skip "no torch"
fi

# ---- arrays: each model as alone ----
if wants arrays; then
	printf 'seed,lr\n1,.1\n2,.05\n3,.02\n4,.01\n5,.2\n' >array.csv
	gv-train --device="$device" $data --array=array.csv mlp.tsv >array
	gv-train --device="$device" $data --seed=3 --lr=.02 mlp.tsv >alone
	awk -F, -v OFS=, 'NR == 1 || $2 == 2 { if (NR > 1) $2 = 0; print }' array >third
	is_near "model 2 of an array of 5 as alone, within" third alone 1e-5
fi

# ---- kill and resume; from one device to the other ----
if wants kill; then
	many=${GV_CHECK_STEPS:-2000}
	long="--data=digits:256 --batch=32 --checkpoint-steps=20 --log-every=20"
	gv-train --device="$device" $long --steps=$many --checkpoint=whole mlp.tsv >/dev/null
	# which checkpoint is there: a new one is another file
	which() { stat -c %i.%Y.%s parts/gv-train.ckpt 2>/dev/null || echo none; }
	i=0 hits=0
	while [ $i -lt 5 ] && wants kill; do
		before=$(which)
		"$bin/gv-train" --device="$device" $long --steps=$many --checkpoint=parts mlp.tsv >/dev/null 2>&1 &
		pid=$!
		while [ "$(which)" = "$before" ] && kill -0 $pid 2>/dev/null && wants kill; do sleep .01; done
		kill -KILL $pid 2>/dev/null
		killed=0
		wait $pid 2>/dev/null || killed=$?
		[ $killed -ne 137 ] || hits=$((hits + 1))
		i=$((i + 1))
	done
	ok "killed in the middle, a checkpoint behind it: $hits of $i times" test $hits -gt 0
	gv-train --device="$device" $long --steps=$many --checkpoint=parts mlp.tsv >/dev/null
	same_file whole/gv-train.ckpt parts/gv-train.ckpt "killed and resumed: the same checkpoint"
	gv-train $long --checkpoint=whole --steps=$((many + 20)) mlp.tsv >here
	gv-train --device="$device" $long --checkpoint=parts --steps=$((many + 20)) mlp.tsv >there
	is_near "a checkpoint of the GPU goes on on the CPU, within" here there 1e-4
fi

# ---- time until the first step ----
if wants first; then
	start=$(date +%s.%N)
	gv-train --device="$device" --data=digits:64 --steps=1 mlp.tsv >/dev/null
	echo "# from gv-train typed to one step: $(echo "$start $(date +%s.%N)" | awk '{ printf "%.2f s", $2 - $1 }')"
fi

# sanitize TOOL MODEL MATH: all kernels of a net, a few steps
sanitize() {
	wants sanitize || return 0
	run timeout "${GV_CHECK_RUN_S:-120}" compute-sanitizer --error-exitcode=9 --tool="$1" "$bin/gv-train" --device="$device" \
		$(samples "$2") --batch=32 --steps=3 --math="$3" "$2.tsv"
	is_status 0 "compute-sanitizer: $1, $2, $3"
}
if ! wants sanitize; then
	:
elif have compute-sanitizer && [ "$device" != cpu ]; then
	for model in op-conv op-bn op-pools op-acts op-concat op-lstm op-attention op-head-256; do
		sanitize memcheck $model fp32
		sanitize memcheck $model bf16
	done
	sanitize memcheck op-conv tf32
	for tool in racecheck synccheck; do
		for model in cnn-bn op-lstm op-attention; do
			sanitize $tool $model fp32
			sanitize $tool $model bf16
		done
	done
	# not bf16: cuBLAS's own memory is its matter
	for model in cnn-bn op-lstm op-attention; do sanitize initcheck $model fp32; done
else
	skip "no compute-sanitizer"
fi
# shellcheck disable=SC2154
[ "$left" = ' ' ] || skip "after ${GV_CHECK_S:-540} s these were not done, or in part (PART=): ${left# }"
done_testing

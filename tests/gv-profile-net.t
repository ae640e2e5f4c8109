#!/bin/sh
# gv-profile on nets and devices: memory over a step, arrays, how fast a device is; on the
# CPU, and on the fake GPU of tests/cuda/.
. "${0%/*}/lib.sh"

fake=$build/fake
models=$src/share/models
gpu() { run env GV_PLUGINS="$fake" LD_LIBRARY_PATH="$fake" GV_FAKE_CUDA="${GV_FAKE:-}" "$@"; }
have_fake() { [ -f "$fake/libcuda.so.1" ]; }
# total TENSOR: the sum of its changes that are above 0
total() { awk -F, -v t="$1" 'NR > 1 && $4 == t && $3 > 0 { s += $3 } END { printf "%d\n", s }' out; }

# ---- memory: the bytes are those of the shapes ----
for model in mlp cnn-bn resnet-small; do
	run gv-profile memory --shape=16x16 --batch=6 --models=3 --optimizer=adam "$model"
	silent "$model: memory"
	gv-train --shapes --data=digits:1 "$model" >shapes
	awk -F'\t' '
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		{ p += $c["parameters"]; print "y." $c["id"], 18 * $c["activation_bytes"] }
		END { print "parameters", 12 * p; print "gradients", 12 * p + 12 }' shapes | sort >want
	while read -r tensor bytes; do echo "$tensor $(total "$tensor")"; done <want >got
	same_file want got "$model: outputs, parameters and gradients are those of the shapes"
	awk -F, 'NR > 1 && $4 ~ /^dy\./ { if ($3 > 0) print substr($4, 4), $3 }' out | sort >got
	awk -F, 'NR > 1 && $4 ~ /^y\./ { if ($3 > 0) print substr($4, 3), $3 }' out | sort >want
	sed -i "/^$(awk 'END { print NR - 1 }' shapes) /d" want
	same_file want got "$model: a gradient for each output but the head's"
	awk -F, '
		NR == 1 { next }
		{ sum += $3; if ($2 != sum) bad = bad " sum:" NR; if ($1 < last) bad = bad " time:" NR; last = $1 }
		$4 !~ /^d?y\./ { base += $3 }
		END { if ($2 != base && sum != base) bad = bad " end"; print bad }' out >bad
	ok "$model: bytes are the sum of changes, times rise, in the end all outputs are gone" test -z "$(cat bad)"
	cp out cpu
	if have_fake; then
		gpu gv-profile memory --shape=16x16 --batch=6 --models=3 --optimizer=adam --device=cuda "$model"
		is_status 0 "$model: on a GPU"
		for f in cpu out; do awk -F, '$4 ~ /^d?y\./ { print $3, $4 }' $f | sort >$f.y; done
		same_file cpu.y out.y "$model: the same outputs as on the CPU"
		gpu gv-profile memory --shape=16x16 --batch=6 --models=3 --optimizer=adam --device=cuda --math=bf16 "$model"
		is_status 0 "$model: on a GPU in bf16"
		awk '{ print $1 / 2, $2 }' cpu.y | sort >cpu.half
		awk -F, '$4 ~ /^d?y\./ { print $3, $4 }' out | sort >out.y
		same_file cpu.half out.y "$model: bf16: half of the bytes"
		ok "$model: bf16: parameters and gradients as ever" test "$(total parameters) $(total gradients)" = "$(awk -F, '
			$4 == "parameters" { p = $3 } $4 == "gradients" { g = $3 } END { print p, g }' cpu)"
	fi
done
run gv-profile memory -v mlp
ok "-v: the most" grep -qx 'gv-profile: at most [0-9]* bytes' err
run gv-profile memory --models=0 mlp
is_status 2 "no models"
if have_fake; then
	GV_FAKE=memory=1000000 gpu gv-profile memory --device=cuda "$models/cnn.tsv"
	is_status 2 "a GPU with little memory: status"
	err_has "too little memory on Fake H100 (GPU 0): " "a GPU with little memory"
	GV_FAKE=fail=cuLaunchKernel:12:719 gpu gv-profile memory --device=cuda mlp
	is_status 2 "a GPU that dies"
	err_has "a step: Fake H100 (GPU 0): " "a GPU that dies: message"
fi

# ---- arrays: a line through step times ----
run gv-profile arrays -v --most=6 --warmup=0s --window=0s --repeats=3 --batch=4 cnn-small
is_status 0 "arrays"
ok "1, 2, 4 models, and the most" test "$(cut -d, -f1 out | tr '\n' ' ')" = 'models 1 2 4 6 '
awk -F, '
	function off(a, b) { return a < b * (1 - 1e-4) || a > b * (1 + 1e-4) }
	NR == 2 { t1 = $2 }
	NR > 1 {
		f = $5 + $1 * $6
		if (off($4 + 1000, f + 1000) || off($7, $1 * 4000 / $2) || off($8, $1 * t1 / $2)) print "row " NR
		w = 1 / ($2 * $2); r += w * (f - $2); rx += w * (f - $2) * $1; n += w * $2
	}
	END { if (r > 1e-3 * n || r < -1e-3 * n || rx > 1e-2 * n || rx < -1e-2 * n) print "not the least squares", r, rx }' out >bad
if [ ! -s bad ]; then pass "samples/s, speedup, and the line of least squares"; else fail "samples/s, speedup, and the line of least squares" bad out; fi
ok "-v: the fit" grep -q '^gv-profile: fixed_ms=.* per_model_ms=.* worst_relative_error=' err
run gv-profile arrays -q --most=1 --warmup=0s --window=0s --repeats=3 --batch=4 mlp
ok "one alone: all is per model" awk -F, 'NR == 2 && $5 == 0 && $6 == $2 { ok = 1 } END { exit !ok }' out
run gv-profile arrays --most=0 mlp
is_status 2 "arrays of none"
if have_fake; then
	gpu gv-profile arrays -q --most=2 --warmup=0s --window=0s --repeats=2 --batch=2 --device=cuda --math=tf32 mlp
	is_status 0 "arrays on a GPU"
	gpu gv-profile layers -q --warmup=0s --window=0s --repeats=2 --batch=2 --device=cuda cnn-bn
	is_status 0 "layers on a GPU"
	ok "every layer has its time" awk -F'[,\t]' '
		/^src/ { exit }
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		NF > 1 && $c["forward_ms"] <= 0 { bad = 1 }
		END { exit bad }' out
	run env GV_PLUGINS=/nowhere gv-profile layers --warmup=0s --window=0s --repeats=2 --device=auto mlp
	err_has "warning: measured on the CPU: no support for GPUs: " "layers: --device=auto without a GPU"
fi
run gv-profile layers --device=tpu mlp
err_has '--device: expected cpu, cuda, cuda:N or auto, got "tpu"' "a device that is none"

# ---- devices --measure ----
run gv-profile devices --cpu --measure
is_status 0 "devices --measure"
head -n 1 out >got
echo 'gpu_type,gpus,node,memory_bytes,threads,ids,copy_gbytes_per_s,fp32_gflops_per_s,tf32_gflops_per_s,bf16_gflops_per_s,launch_us' >want
same_file want got "its columns"
ok "the CPU: copies, fp32, a launch" awk -F, '$1 == "cpu" && $7 > .1 && $8 > .01 && $9 == "" && $10 == "" && $11 > 0 { ok = 1 } END { exit !ok }' out
if have_fake; then
	printf 'GPU-1|NVIDIA H100 80GB HBM3|0000:01:00.0|85520809984|85520809984|ok\n' >gpus
	mkdir lib
	cp "$build/preload/nvml.so" lib/libnvidia-ml.so.1
	ln -s "$fake"/* lib/
	run env GV_PLUGINS=/nowhere LD_LIBRARY_PATH=lib GV_FAKE_NVML=gpus gv-profile devices --measure
	err_has "warning: GPU 0: not all is measured: no support for GPUs: " "a GPU, and no gv-cuda.so"
	ok "its row is there" grep -q '^h100-80gb-hbm3,1,,85520809984,,0,,,,,$' out
	if [ -n "${GV_LONG:-}" ]; then
		run env GV_PLUGINS="$fake" LD_LIBRARY_PATH=lib GV_FAKE_NVML=gpus gv-profile devices --measure
		ok "a GPU, in all kinds of math" awk -F, '$7 > 0 && $8 > 0 && $9 > 0 && $10 > 0 && $11 > 0 { ok = 1 } END { exit !ok }' out
	else
		skip "long: a minute of emulated products"
	fi
fi
done_testing

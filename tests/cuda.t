#!/bin/sh
# gv-train on a GPU that is a fake: gv-cuda.so as it is, over a driver of the tests
# (tests/cuda/fake.c), with kernels that are emulated.  What it says where something
# is missing.
. "${0%/*}/lib.sh"

fake=$build/fake
if [ ! -f "$fake/libcuda.so.1" ]; then
	skip "no C++ compiler: kernels are not emulated"
	done_testing
	exit 0
fi
# train [WORD=VALUE...] -- OPTION...: on the fake, whose words these are
gpu() { run env GV_PLUGINS="$fake" LD_LIBRARY_PATH="$fake" GV_FAKE_CUDA="$GV_FAKE" gv-train --data=digits:64 --batch=16 --steps=4 --log-every=1 "$@" mlp.tsv; }
GV_FAKE=
printf 'id\top\tout\tact\n1\tlinear\t12\trelu\n2\tlinear\t\t\n3\txent\t\t\n' >mlp.tsv
# says NAME MESSAGE: the program ended with it, and nothing else
says() {
	is_status 2 "$1: status"
	printf 'gv-train: %s\n' "$2" | is_err "$1"
}

# ---- it trains, and as the CPU does ----
gv-train --data=digits:64 --batch=16 --steps=4 --log-every=1 mlp.tsv >cpu
GV_FAKE=log=calls
gpu --device=cuda
is_status 0 "--device=cuda"
same_file cpu out "the losses of the CPU"
ok "kernels were launched" grep -q '^cuLaunchKernel' calls
ok "and graphs" grep -q '^cuGraphLaunch' calls
GV_FAKE=
gpu --device=cuda --math=bf16
is_status 0 "--math=bf16"
ok "--math=bf16: near, but not the same" test "$(cut -d, -f1 out)" = "$(cut -d, -f1 cpu)" -a "$(cat out)" != "$(cat cpu)"
gpu --device=cuda --math=tf32 --test=digits:32
is_status 0 "--math=tf32, with a test"
printf 'seed,lr\n1,.1\n2,.01\n3,.001\n' >array.csv
gv-train --data=digits:64 --batch=16 --steps=4 --log-every=1 --array=array.csv --test=digits:50 --test-every=2 mlp.tsv >cpu
gpu --device=cuda:0 --array=array.csv --test=digits:50 --test-every=2
same_file cpu out "an array, and tests on the way"

# as many multiprocessors as no GPU has yet: more parts of sums than on others, with room for them
columns() { awk -v n="$1" 'BEGIN { for (r = 0; r < 17; r++) { for (c = 0; c < n; c++) printf "%s,", r ? (r * 7 + c * 13) % 31 / 31 : "x" c; print r ? r % 2 : "label" } }'; }
printf 'id\top\tout\tk\ts\tp\tact\n1\ttconv\t600\t4\t2\t1\trelu\n2\tlinear\n3\txent\n' | awk -F'\t' -v OFS='\t' '{ $7 = $7; print }' >tconv.tsv
for i in wide:lstm:130 deep:lstm:450 flat:linear:600; do echo "$i" | awk -F: -v OFS='\t' '{ file = $1 ".tsv"; print "id", "op", "out" >file; print 1, $2, $3 >file; print 2, "linear", "" >file; print 3, "xent", "" >file }'; done
for i in tconv:2x2x64:256 wide:2x1x1024:2048 deep:2x1x8:16 flat:2x1x1024:2048; do
	model=${i%%:*} n=${i##*:} shape=${i#*:}
	columns "$n" >many.csv
	run gv-train --data=csv:many.csv --label=label --shape="${shape%:*}" --batch=8 --steps=2 --log-every=1 "$model.tsv"
	cp out cpu
	for GV_FAKE in '' processors=2000; do
		run env GV_PLUGINS="$fake" LD_LIBRARY_PATH="$fake" GV_FAKE_CUDA="$GV_FAKE" gv-train --device=cuda --data=csv:many.csv --label=label --shape="${shape%:*}" --batch=8 --steps=2 --log-every=1 "$model.tsv"
		is_status 0 "$model${GV_FAKE:+, $GV_FAKE}"
		same_file cpu out "the losses of the CPU"
	done
done
GV_FAKE=

# losses come later than their steps: a model that diverges, one that ends, all that diverge
printf 'seed,lr,steps\n1,.1,30\n2,1e30,30\n3,.01,11\n' >array.csv
# shellcheck disable=SC2086
for i in "" "--checkpoint=c --checkpoint-steps=4"; do
	rm -rf c
	gv-train --data=digits:64 --batch=16 --steps=30 --log-every=3 --array=array.csv $i mlp.tsv >cpu 2>cpu.err
	rm -rf c
	gpu --device=cuda --steps=30 --log-every=3 --array=array.csv $i
	is_status 0 "a model diverges${i:+, with checkpoints}"
	same_file cpu out "the losses of the CPU"
	same_file cpu.err err "and what it says"
done
gv-train --data=digits:64 --batch=16 --steps=30 --lr=1e30 --log-every=1 mlp.tsv >cpu
gpu --device=cuda --lr=1e30 --steps=30
is_status 1 "the only model diverges"
same_file cpu out "and no step is told of behind that"
printf 'seed,order_seed\n1,1\n2,7\n' >orders.csv
gv-train --data=digits:64 --batch=16 --steps=12 --log-every=5 --array=orders.csv mlp.tsv >cpu
gpu -v --device=cuda --steps=12 --log-every=5 --array=orders.csv
same_file cpu out "orders of their own: the losses of the CPU"
err_has "the GPU is waited for in every step: models visit samples in orders of their own" "-v says that they wait"
gpu -v --device=cuda --clip-norm=1
err_has "the GPU is waited for in every step: gradients are clipped on the CPU" "-v says that clipping waits"
# a stop while losses are on their way: all steps that were done are in the table
GV_FAKE=
rm -rf c
mkdir c
env GV_PLUGINS="$fake" LD_LIBRARY_PATH="$fake" gv-train --device=cuda --data=digits:64 --batch=16 --steps=1000000 \
	--log-every=1 --checkpoint=c mlp.tsv >out &
pid=$!
until [ -s c/losses.csv ] && [ "$(wc -l <c/losses.csv)" -gt 20 ]; do sleep .05; done
kill -TERM $pid
wait $pid
ok "a stop: status" test $? -eq 143
n=$(tail -n 1 out | cut -d, -f1)
run gv-train --data=digits:64 --batch=16 --steps="$n" --log-every=1 --checkpoint=stopped mlp.tsv
ok "a stop on the way: every step has its row" test "$(wc -l <c/losses.csv)" -eq $((n + 1))
cut -d, -f1-3 stopped/losses.csv >a
cut -d, -f1-3 c/losses.csv >b
same_file a b "and they are the CPU's"

# ---- checkpoints from one device to the other ----
gv-train --data=digits:64 --batch=16 --steps=4 --momentum=.9 --checkpoint=whole mlp.tsv >/dev/null
gv-train --data=digits:64 --batch=16 --steps=2 --momentum=.9 --checkpoint=parts mlp.tsv >/dev/null
gpu --device=cuda --momentum=.9 --checkpoint=parts
is_status 0 "a checkpoint of the CPU goes on on the GPU"
same_file whole/gv-train.ckpt parts/gv-train.ckpt "and ends as if it had never left"
rm -r parts
gpu --device=cuda --momentum=.9 --checkpoint=parts --steps=2
run gv-train --data=digits:64 --batch=16 --steps=4 --momentum=.9 --checkpoint=parts mlp.tsv
same_file whole/gv-train.ckpt parts/gv-train.ckpt "and one of the GPU on the CPU"

# ---- what is missing ----
run env GV_PLUGINS=/nowhere gv-train --device=cuda --data=digits:8 --steps=1 mlp.tsv
says "no gv-cuda.so" "no support for GPUs: /nowhere/gv-cuda.so is not there (gv was built without nvcc)"
mkdir plug
echo nothing >plug/gv-cuda.so
run env GV_PLUGINS=plug gv-train --device=cuda --data=digits:8 --steps=1 mlp.tsv
is_status 2 "a file that is no library: status"
err_has "no support for GPUs: plug/gv-cuda.so: " "a file that is no library"
cp "$fake/libcuda.so.1" plug/gv-cuda.so
run env GV_PLUGINS=plug gv-train --device=cuda --data=digits:8 --steps=1 mlp.tsv
says "a library that is none of ours" "no support for GPUs: plug/gv-cuda.so is no plug-in of gv"
if have cc; then
	for i in 'unsigned gv_nn_plugin[32] = {99};' \
		'struct { unsigned i; unsigned long size[5]; const char *v; } gv_nn_plugin = {1, {1, 2, 3, 4, 5}, "0.0"};'; do
		echo "$i" >p.c
		cc -shared -fPIC -o plug/gv-cuda.so p.c
		run env GV_PLUGINS=plug gv-train --device=cuda --data=digits:8 --steps=1 mlp.tsv
		is_status 2 "a plug-in of another version: status"
		err_has "plug/gv-cuda.so is of another build of gv (" "a plug-in of another version"
		err_has " here): install both from one" "and what to do"
	done
else
	skip "no cc"
fi
mkdir no-driver
ln -s "$fake/gv-cuda.so" no-driver/
if [ -e /usr/lib/x86_64-linux-gnu/libcuda.so.1 ]; then skip "a driver is here"; else
	run env GV_PLUGINS=no-driver gv-train --device=cuda --data=digits:8 --steps=1 mlp.tsv
	says "no driver" "no NVIDIA driver: libcuda.so.1 is not there"
	run env GV_PLUGINS=no-driver gv-train --device=auto --data=digits:8 --steps=1 mlp.tsv
	is_status 0 "--device=auto without a driver: the CPU"
	ok "in silence" test ! -s err
	run env GV_PLUGINS=no-driver gv-train -v --device=auto --data=digits:8 --steps=1 mlp.tsv
	err_has "training on the CPU: no NVIDIA driver: libcuda.so.1 is not there" "-v says why"
fi
if have cc; then
	echo 'int cuInit(unsigned f) { return (int)f; }' >p.c
	cc -shared -fPIC -o no-driver/libcuda.so.1 p.c
	run env GV_PLUGINS=no-driver LD_LIBRARY_PATH=no-driver gv-train --device=cuda --data=digits:8 --steps=1 mlp.tsv
	says "a driver that lacks functions" "the NVIDIA driver is too old: libcuda.so.1 has no cuDriverGetVersion"
	cp "$fake/libcuda.so.1" no-driver/libcuda.so.1
	cc -shared -fPIC -o no-driver/libcublas.so.13 p.c
	run env GV_PLUGINS=no-driver LD_LIBRARY_PATH=no-driver gv-train --device=cuda --math=tf32 --data=digits:8 --steps=1 mlp.tsv
	says "a cuBLAS that lacks functions" "cuBLAS is too old: it has no cublasCreate_v2"
else
	skip "no cc"
fi
GV_FAKE=driver=11040
gpu --device=cuda
says "an old driver" "the NVIDIA driver is too old: it has CUDA 11.4, at least 12.0 is needed"
GV_FAKE=devices=0
gpu --device=cuda
says "no GPU" "the NVIDIA driver sees no GPU"
GV_FAKE=devices=2
gpu --device=cuda:2
says "no such GPU" "there is no GPU 2: the driver sees 2"
GV_FAKE=driver=12040,capability=75
gpu --device=cuda
says "an old GPU, whatever the driver is" "Fake H100 (GPU 0): compute capability 7.5 is not one that the kernels were built for (8.0 and up)"
GV_FAKE=capability=75
gpu --device=cuda
says "an old GPU" "Fake H100 (GPU 0): compute capability 7.5 is not one that the kernels were built for (8.0 and up)"
# whatever it says of them: 200 no image, 209 none for this GPU, 222 a PTX of no known version
for i in 200 209 222; do
	GV_FAKE=driver=12040,fail=cuModuleLoadData:1:$i
	gpu --device=cuda
	says "a driver older than the kernels, $i" "Fake H100 (GPU 0): the NVIDIA driver has CUDA 12.4 and does not take the kernels, which CUDA 13.0 made: it is too old"
done
gpu --device=auto -v
is_status 0 "a driver older than the kernels: on the CPU"
err_has "training on the CPU: Fake H100 (GPU 0): the NVIDIA driver has CUDA 12.4 and does not take" "which -v says"
GV_FAKE=driver=12040
gpu --device=cuda
is_status 0 "unless it takes them"
GV_FAKE=driver=13010,fail=cuModuleLoadData:1:200
gpu --device=cuda
says "a newer driver that does not take them" "the kernels: CUDA error 200"
GV_FAKE=driver=12040,fail=cuModuleLoadData:1:2
gpu --device=cuda
is_status 2 "no memory for them: status"
err_has "the kernels: out of memory" "no memory for them"
GV_FAKE=memory=20000
gpu --device=cuda
is_status 2 "little memory: status"
err_has "too little memory on Fake H100 (GPU 0): " "little memory"
GV_FAKE=memory=1000000
gpu --device=cuda --math=bf16
says "no memory for cuBLAS" "too little memory on Fake H100 (GPU 0): 33554432 bytes wanted for cuBLAS"
GV_FAKE=fail=cuMemAlloc_v2:1:999
gpu --device=cuda
says "memory that fails otherwise" "Fake H100 (GPU 0): no memory: unknown error (CUDA_ERROR_UNKNOWN)"
GV_FAKE=fail=cublasCreate_v2:1:3
gpu --device=cuda --math=bf16
says "cuBLAS fails" "Fake H100 (GPU 0): cuBLAS does not start; is memory left?"
GV_FAKE=fail=cublasSetStream_v2:1:3
gpu --device=cuda --math=bf16
says "cuBLAS fails later" "Fake H100 (GPU 0): cuBLAS does not take a stream"
GV_FAKE=fail=cuLaunchKernel:20:719
gpu --device=cuda
is_status 2 "a kernel that dies: status"
err_has "unspecified launch failure (CUDA_ERROR_LAUNCH_FAILED)" "a kernel that dies"
GV_FAKE=fail=cuMemcpyDtoHAsync_v2:5:999
gpu --device=cuda --test=digits:20
says "a test that fails" "testing after step 4: Fake H100 (GPU 0): a copy from the device: unknown error (CUDA_ERROR_UNKNOWN)"
GV_FAKE=
printf 'id\top\tout\tk\tg\n1\tembed\t4\t\t\n2\tlinear\t1200\t1\t\n3\tcausal\t\t\t1\n4\tlinear\t\t1\t\n5\txent\t\t\t\n' >wide.tsv
run env GV_PLUGINS="$fake" LD_LIBRARY_PATH="$fake" gv-train --device=cuda --data=sentences:20 --context=4 --batch=2 --steps=1 wide.tsv
says "heads wider than kernels have" "row 3 of the model: causal with heads of more than 256 channels has no kernels for GPUs yet"
run gv-train --device=gpu --data=digits:8 --steps=1 mlp.tsv
is_status 2 "a device that is none: status"
err_has '--device: expected cpu, cuda, cuda:N or auto, got "gpu"' "a device that is none"
run gv-train --math=tf32 --data=digits:8 --steps=1 mlp.tsv
err_has "--math: the CPU has fp32 alone" "--math on the CPU"
run env GV_PLUGINS=/nowhere gv-train -v --device=auto --data=digits:8 --steps=1 mlp.tsv
err_has "training on the CPU: no support for GPUs: " "--device=auto without gv-cuda.so"

# ---- make check-gpu, on the fake; make bench-gpu without a GPU ----
run env GV_PLUGINS="$fake" LD_LIBRARY_PATH="$fake" GV_CHECK_MODELS=op-bn GV_CHECK_STEPS=40 sh "$src/tests/gpu/check.sh"
is_status 0 "make check-gpu"
ok "it compared" grep -q '^ok .* - op-bn, adamw: graphs and none' out
ok "it names the machine" grep -q '^# 0,' out
sed -n 's/^    \[GV_OP_[A-Z]*\] = {\.name = "\([a-z]*\)".*/\1/p' "$src/common/nn/ops.c" | sort >want
sed -n 's/^# operators: //p' out | tr ' ' '\n' | grep . >got
same_file want got "its nets have every operator"
ok "kills hit it in the middle" grep -q '^ok .* killed in the middle, a checkpoint behind it: [1-5] of 5' out
ok "what is no number is near nothing" grep -q '^ok .* what is no number is near nothing' out
gpu_check() { run env GV_PLUGINS="$fake" LD_LIBRARY_PATH="$fake" "$@" sh "$src/tests/gpu/check.sh"; }
gpu_check PART="arrays first" OUT="$PWD/gpu-out"
is_status 0 "two parts of make check-gpu"
ok "they are those" test "$(grep -c '^ok' out)" -eq 2
same_file out gpu-out/check-gpu.tap "OUT has what is printed"
gpu_check PART=everything
ok "no such part" grep -q '^not ok 1 - no part everything: there are ops nets torch arrays kill first sanitize' out
gpu_check PART=everything OUT="$PWD/gpu-out"
is_status 1 "a failure shows through OUT"
gpu_check GV_CHECK_S=0
is_status 0 "no time"
ok "says what is left" grep -q '^ok .* # SKIP after 0 s these were not done, or in part (PART=): ops nets torch arrays kill first sanitize' out
run env GV_PLUGINS=/nowhere sh "$src/tests/gpu/check.sh"
is_status 0 "make check-gpu without a GPU"
ok "a clear skip" grep -q '^ok 1 # SKIP no support for GPUs: ' out
run env GV_PLUGINS=/nowhere sh "$src/tests/gpu/bench.sh"
is_status 0 "make bench-gpu without a GPU"
ok "a clear end" grep -q '^nothing is measured: no support for GPUs: ' out
run env GV_DEVICE=cpu GV_BENCH_MOST=2 GV_BENCH_S=.05 GV_BENCH_WORKLOADS=W1 GV_BENCH_K=2 GV_PYTHON=/nonexistent GV_BENCH_OUT=bench.csv \
	sh "$src/tests/gpu/bench.sh"
is_status 0 "make bench-gpu, the CPU in its place"
ok "rows of arrays, and of processes" test "$(grep -c '^gv[^,]*,W1' bench.csv)" -eq 3
ok "and a table of ratios" grep -q '^W1 ' out
run env GV_DEVICE=cpu GV_BENCH_MOST=2 GV_BENCH_S=.05 GV_BENCH_K=2 GV_PYTHON=/nonexistent PART="W2 first" OUT="$PWD/gpu-out" \
	sh "$src/tests/gpu/bench.sh"
is_status 0 "two parts of make bench-gpu"
ok "its rows" test "$(cut -d, -f1,2 gpu-out/bench-gpu.csv | sed 1d | sort -u | tr '\n' ' ')" = "gv,W2 gv-processes,W2 "
same_file out gpu-out/bench-gpu.txt "OUT has what is printed"
run env GV_DEVICE=cpu GV_BENCH_LIMIT_S=0 GV_PYTHON=/nonexistent GV_BENCH_OUT=none.csv sh "$src/tests/gpu/bench.sh"
ok "what there is no time for is named" grep -q '^after 0 s these were left out: W1(fp32) .* gpt (PART=)' out
run env GV_DEVICE=cpu PART=W6 sh "$src/tests/gpu/bench.sh"
is_status 2 "no such part of make bench-gpu"

# ---- what it is made of ----
run nm -D --undefined-only "$fake/gv-cuda.so"
if [ "$status" -eq 0 ] && ! grep -qE ' U (cu[A-Z]|cublas|cuda|nccl|glp_)' out; then
	pass "gv-cuda.so links neither CUDA nor GLPK"
else
	fail "gv-cuda.so links neither CUDA nor GLPK" out
fi
run nm -D --defined-only "$fake/gv-cuda.so"
ok "it shows one name" test "$(awk '{ print $3 }' out | grep -v '^_')" = gv_nn_plugin
# our declarations against NVIDIA's, where there are some
include=/usr/local/cuda/include
if have cc && [ -f "$include/cuda.h" ] && [ -f "$include/cublas_v2.h" ]; then
	cat >same.c <<'EOF'
#include <cuda.h>
#include <cublas_v2.h>
#include "cuda/driver.h"
#define Y(field, symbol, args) void check_it_##field(void); void check_it_##field(void) { struct gv_cuda_driver d; d.field = (void *)symbol; (void)d; }
GV_CUDA_DRIVER(Y)
_Static_assert(GV_CU_OUT_OF_MEMORY == CUDA_ERROR_OUT_OF_MEMORY && GV_CU_NO_DEVICE == CUDA_ERROR_NO_DEVICE &&
	GV_CU_NO_BINARY_FOR_GPU == CUDA_ERROR_NO_BINARY_FOR_GPU && GV_CU_LAUNCH_FAILED == CUDA_ERROR_LAUNCH_FAILED &&
	GV_CU_MAJOR == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR && GV_CU_MINOR == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR &&
	GV_CU_PROCESSORS == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT && GV_CU_NON_BLOCKING == CU_STREAM_NON_BLOCKING &&
	GV_CU_CAPTURE_THREAD == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, "driver");
_Static_assert(GV_CU_BLAS_T == CUBLAS_OP_T && GV_CU_R_32F == CUDA_R_32F && GV_CU_COMPUTE_32F_FAST_TF32 == CUBLAS_COMPUTE_32F_FAST_TF32 &&
	GV_CU_COMPUTE_32F_FAST_16BF == CUBLAS_COMPUTE_32F_FAST_16BF && GV_CU_BLAS_DEFAULT == CUBLAS_GEMM_DEFAULT, "cuBLAS");
EOF
	run cc -std=gnu17 -w -I"$include" -I"$src/gpu" -I"$src/common" -c -o same.o same.c
	if [ "$status" -eq 0 ]; then pass "numbers and names are those of cuda.h"; else fail "numbers and names are those of cuda.h" err; fi
else
	skip "no headers of CUDA"
fi
done_testing

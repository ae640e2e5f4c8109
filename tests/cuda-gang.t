#!/bin/sh
# Gangs whose ranks have GPUs that are fakes: NCCL of the tests (tests/cuda/fake_nccl.c)
# moves what is in the memory of the fake devices; when it is chosen, and what is said.
. "${0%/*}/lib.sh"
. "${0%/*}/ranks.sh"

printf 'id\top\tout\tact\n1\tlinear\t12\trelu\n2\tlinear\t\t\n3\txent\t\t\n' >mlp.tsv
printf 'id\top\tout\tk\tact\n1\tconv\t4\t3\t\n2\tbn\t\t\trelu\n3\tmaxpool\t\t2\t\n4\tlinear\t\t\t\n5\txent\t\t\t\n' >bn.tsv
train="--data=digits:64 --batch=16 --steps=10 --log-every=1"
# gang N OPTION...
gang() {
	begin "$@"
	end
}
# shellcheck disable=SC2086
alone() { gv-train $train "$@"; }

# ---- in the order of the ranks: the bits of one process ----
for model in mlp bn; do
	alone --momentum=.9 $model.tsv >cpu
	gang 2 -v --momentum=.9 $model.tsv
	ok "$model: two ranks" test "$statuses" = "0 0"
	same_file cpu out.0 "$model: the losses of one process on the CPU"
	ok "$model: -v says how they sum" grep -q 'gradients are summed by NCCL, in the order of the ranks (--math=fp32)' err.0
done
gang 4 --optimizer=adam mlp.tsv
alone --optimizer=adam mlp.tsv >cpu
ok "four ranks" test "$statuses" = "0 0 0 0"
same_file cpu out.0 "four ranks: the losses of one process"
# gradients of micro-batches are added up before ranks are
gang 4 --micro-batches=2 --transport=tcp mlp.tsv
ok "micro-batches over TCP: all end" test "$statuses" = "0 0 0 0"
cp out.0 tcp
gang 4 --micro-batches=2 mlp.tsv
ok "micro-batches: all end" test "$statuses" = "0 0 0 0"
same_file tcp out.0 "micro-batches: as over TCP"
printf 'seed,lr\n1,.1\n2,1e30\n3,.001\n' >array.csv
GV_FAKE=log=calls ON=0
gang 2 --array=array.csv --steps=20 --test=digits:30 --test-every=7 mlp.tsv
alone --array=array.csv --steps=20 --test=digits:30 --test-every=7 mlp.tsv >cpu
same_file cpu out.0 "an array, one model diverges, tests on the way"
ok "NCCL was called" grep -q '^ncclSend' calls
ok "and nobody reduced in its own order" test "$(grep -c '^ncclAllReduce' calls)" -eq 0
gang 2 -v --math=bf16 mlp.tsv
ok "--math=bf16: NCCL's order" grep -q 'gradients are summed by NCCL, in its own order' err.0
ok "by ncclAllReduce" grep -q '^ncclAllReduce' calls
gang 2 --math=fp32 --steps=40 mlp.tsv
ok "nobody waits for all of a device in a step" test "$(sed -n 's/cuStreamSynchronize //p' calls)" -lt 5
GV_FAKE=

# workers of one host that see all of its GPUs
GV_FAKE=devices=2 ON='' HOST=one
gang 2 -v mlp.tsv
ok "LOCAL_RANK: each takes its own" grep -q 'gradients are summed by NCCL' err.0
gang 2 -v --device=cuda:1 mlp.tsv
ok "unless told which" grep -q 'ranks 0 and 1 have the same GPU (0000:1C:00.0)' err.0
HOST='' GV_FAKE=''

# ---- when it is not NCCL ----
alone mlp.tsv >cpu
HOST=one
gang 2 -v mlp.tsv
HOST=
same_file cpu out.0 "two ranks on one GPU: over TCP"
ok "-v says why" grep -q 'gradients are summed over TCP: ranks 0 and 1 have the same GPU (0000:1B:00.0)' err.0
ok "and that the GPU is waited for" grep -q 'the GPU is waited for in every step: sums go through the hosts' err.0
HOST=one
gang 2 --transport=nccl mlp.tsv
HOST=
ok "--transport=nccl: an error" test "$statuses" = "2 2"
ok "which says it" grep -q '^gv-train: --transport=nccl: ranks 0 and 1 have the same GPU' err.0
gang 2 -v --transport=tcp mlp.tsv
same_file cpu out.0 "--transport=tcp"
ok "-v says so" grep -q 'summed over TCP: rank 0: --transport=tcp' err.0
GV_FAKE=nccl=21003 ON=1
gang 2 -v mlp.tsv
same_file cpu out.0 "an old NCCL at one rank: over TCP"
ok "-v says whose" grep -q 'TCP: rank 1: NCCL is too old: it is 2.10.3, at least 2.18 is needed' err.0
GV_FAKE=nccl=22000
gang 2 -v mlp.tsv
ok "two versions" grep -q 'TCP: rank 1 has NCCL of version 22000, rank 0 of 22809' err.0
GV_FAKE=devices=0
gang 2 -v --device=auto mlp.tsv
same_file cpu out.0 "a rank without a GPU: over TCP"
ok "-v says so of it" grep -q 'TCP: rank 1: it computes on the CPU' err.0
GV_FAKE=fail=ncclGetUniqueId:1:2 ON=0
gang 2 -v mlp.tsv
ok "no identifier" grep -q 'TCP: NCCL: unhandled system error' err.0
GV_FAKE=fail=cuDeviceGetPCIBusId:1:1
gang 2 -v mlp.tsv
ok "a GPU that does not say where it is" grep -q 'TCP: rank 0: Fake H100 (GPU 0): it does not say where it is' err.0
GV_FAKE='' ON=''
mkdir bare
ln -s "$fake/gv-cuda.so" "$fake/libcuda.so.1" bare/
if [ -e /usr/local/cuda/lib64/libnccl.so.2 ] || ldconfig -p 2>/dev/null | grep -q libnccl; then
	pass "NCCL is here"
else
	LD_LIBRARY_PATH=bare GV_PLUGINS=bare
	gang 2 -v mlp.tsv
	LD_LIBRARY_PATH=$fake GV_PLUGINS=$fake
	ok "no NCCL" grep -q 'TCP: rank 0: no NCCL: libnccl.so.2 is not there' err.0
fi
run gv-train --transport=nccl --data=digits:64 mlp.tsv
is_status 2 "NCCL on the CPU: status"
err_has "--transport=nccl needs --device=cuda" "NCCL on the CPU"
run gv-train --transport=nccl --trees=x --device=cuda --data=digits:64 mlp.tsv
err_has "--transport=nccl and --trees exclude each other" "NCCL and trees"

# ---- what goes wrong ----
GV_FAKE=fail=ncclCommInitRankConfig:1:5 ON=1
gang 2 --timeout=20s mlp.tsv
ok "no communicator: both end" test "$statuses" = "2 2"
ok "one says why" grep -q '^gv-train: Fake H100 (GPU 0): NCCL: invalid usage' err.1
ok "the other who" grep -q '^gv-train: rank 1 of 127.0.0.1 is gone' err.0
GV_FAKE=fail=async:60:1
gang 2 --timeout=20s --steps=100000 mlp.tsv
ok "an error on the way: both end" test "$statuses" = "2 2"
ok "one says why there" grep -q 'stopped after step [0-9]* of 100000: Fake H100 (GPU 0): NCCL: unhandled cuda error' err.1
ok "the other who has left" grep -q 'rank 1 of 127.0.0.1 is gone' err.0
GV_FAKE='' ON=''

# ---- a rank that is killed, a gang that is stopped ----
for math in fp32 bf16; do
	rm -rf c
	begin 2 --math=$math --steps=1000000 --checkpoint=c --checkpoint-steps=7 mlp.tsv
	until [ -s c/gv-train.ckpt ]; do sleep .05; done
	signal KILL 1
	end
	ok "$math: a killed rank ends the gang" test "$statuses" = "2 137"
	ok "$math: with the sentence of TCP" grep -qx 'gv-train: rank 1 of 127.0.0.1 is gone' err.0
	ok "$math: and the step" grep -q '^gv-train: stopped after step [0-9]* of 1000000$' err.0
done
rm -rf c
begin 2 --steps=1000000 --checkpoint=c --checkpoint-every=.2s mlp.tsv
until [ -s c/gv-train.ckpt.old ]; do sleep .05; done
signal TERM 1
end
ok "a gang that is told to stop" test "$statuses" = "143 143"
n=$(tail -n 1 c/losses.csv | cut -d, -f1)
cp -r c d
gang 2 --steps=$((n + 10)) --checkpoint=c mlp.tsv
ok "goes on" test "$statuses" = "0 0"
alone --steps=$((n + 10)) --checkpoint=d mlp.tsv >cpu
same_file c/gv-train.ckpt d/gv-train.ckpt "and ends as one process on the CPU does"

# ---- the table against NCCL's own declarations, where they are ----
include=/usr/local/cuda/include
if have cc && [ -f "$include/nccl.h" ] && [ -f "$include/cuda_runtime.h" ]; then
	cat >same.c <<'END'
#include <stddef.h>
#include <nccl.h>
#include "cuda/nccl.h"
#define Y(field, symbol, args) void check_it_##field(void); void check_it_##field(void) { struct gv_cuda_nccl n; n.field = (void *)symbol; (void)n; }
GV_CUDA_NCCL(Y)
#define SAME(a, b) _Static_assert(offsetof(struct gv_nccl_config, a) == offsetof(ncclConfig_t, b), #b)
SAME(size, size); SAME(magic, magic); SAME(version, version); SAME(blocking, blocking); SAME(cluster, cgaClusterSize);
SAME(least_blocks, minCTAs); SAME(most_blocks, maxCTAs); SAME(net, netName); SAME(split_share, splitShare);
_Static_assert(sizeof(struct gv_nccl_id) == sizeof(ncclUniqueId) && GV_NCCL_FLOAT == ncclFloat && GV_NCCL_SUM == ncclSum &&
	GV_NCCL_IN_PROGRESS == ncclInProgress && GV_NCCL_REMOTE_ERROR == ncclRemoteError && GV_NCCL_INVALID_USAGE == ncclInvalidUsage &&
	GV_NCCL_LEAST == NCCL_VERSION(2, 18, 0), "numbers");
END
	run cc -std=gnu17 -w -I"$include" -I"$src/gpu" -I"$src/common" -c -o same.o same.c
	if [ "$status" -eq 0 ]; then pass "numbers and names are those of nccl.h"; else fail "numbers and names are those of nccl.h" err; fi
else
	skip "no headers of CUDA"
fi
done_testing

#!/bin/sh
# Asynchronous pipelines beside PyTorch: which version of the weights each micro-batch meets, and
# what an update is made of, where stages have unequal replicas, too.
. "${0%/*}/lib.sh"
. "$src/tests/torch.sh"

script=$src/tests/gv-train-versions.py
has_torch "$script"

last=40
[ -z "${GV_LONG:-}" ] || last=1000
run "$GV_PYTHON" "$script" "$bin/gv-train" 1 $last
cp err said
if [ "$status" -eq 0 ] && [ ! -s out ]; then pass "1f1b, vertical sync and 2bw as PyTorch: $(cat said)"; else fail "as PyTorch" out err; fi
done_testing

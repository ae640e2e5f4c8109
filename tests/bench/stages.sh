#!/bin/sh
# What the stages of a pipeline take beside what their plan says, over models, samples of a
# micro-batch and cuts.  ROWS: MODEL:SAMPLES:CUT ..., CUT the part of the time before the cut.
set -eu
python=${GV_PYTHON:-python3}
here=$(cd "$(dirname "$0")" && pwd)
"$python" -c '' 2>/dev/null || {
	echo "stages: skipped, there is no Python"
	exit 0
}
# shellcheck disable=SC2086
"$python" "$here/stages.py" ${ROWS:-wide:16:.5 wide:64:.5 wide:256:.3 mlp:128:.5 mlp-large:64:.5 cnn:1:.4 \
	cnn:16:.4 cnn:64:.6 cnn-bn:32:.5 vgg-small:16:.5 vgg-small:64:.3 resnet-small:16:.5 \
	resnet-small:64:.7 mobilenet-small:16:.5 mobilenet-small:64:.4 dcgan-small:32:.5 \
	lstm-small:32:.5 gnmt-small:16:.5 gpt-tiny:8:.5 gpt-tiny:32:.6 gpt-small:8:.4}

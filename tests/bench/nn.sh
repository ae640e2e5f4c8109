#!/bin/sh
# Training steps of one thread against PyTorch's: nn.sh [BUILD].  Prints ratios of
# samples per second, ours over PyTorch's; the two take turns.
set -eu
build=${1:-$GV_BUILD}
here=$(dirname "$0")
if ! python3 -c 'import torch' 2>/dev/null; then
	echo "nn: skipped, PyTorch is not installed"
	exit 0
fi
while read -r model height width channels batch; do
	table=$here/../../share/models/$model.tsv
	ours=$("$build/bench/nn" "$table" "$height" "$width" "$channels" "$batch")
	theirs=$(python3 "$here/nn.py" "$table" "$height" "$width" "$channels" "$batch")
	echo "$model ${height}x${width}x$channels $batch $ours $theirs" |
		awk '{ printf "nn %-9s %-7s batch %d: %.2f times PyTorch (%d samples/s)\n", $1, $2, $3, $4 / $5, $4 }'
done <<EOF
mlp 28 28 1 64
mlp-large 28 28 1 64
cnn-small 16 16 1 64
cnn 16 16 1 64
cnn-bn 16 16 1 64
cnn-bn 32 32 3 64
EOF
while read -r context batch classes; do
	table=$here/../../share/models/gpt-small.tsv
	ours=$("$build/bench/nn" "$table" "$context" 1 1 "$batch" 1 1 "$classes")
	theirs=$(python3 "$here/gpt.py" "$context" "$batch" "$classes")
	echo "$context $batch $classes $ours $theirs" |
		awk '{ printf "nn gpt-small context %d batch %d classes %d: %.2f times PyTorch (%d tokens/s)\n", $1, $2, $3, $4 / $5, $4 * $1 }'
done <<EOF
64 16 256
256 8 256
1024 2 256
256 4 8192
EOF
for array in 4 16; do
	one=$("$build/bench/nn" "$here/../../share/models/mlp.tsv" 8 8 1 32 1)
	many=$("$build/bench/nn" "$here/../../share/models/mlp.tsv" 8 8 1 32 "$array")
	echo "$array $one $many" | awk '{ printf "nn array of %d small mlp: %.2f times one\n", $1, $3 / $2 }'
done

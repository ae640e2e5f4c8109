#!/bin/sh
# Training steps of one thread against PyTorch's: nn.sh BUILD.  Prints ratios of
# samples per second, ours over PyTorch's; the two take turns.
set -eu
build=$1
here=$(dirname "$0")
if ! python3 -c 'import torch' 2>/dev/null; then
	echo "nn: skipped, PyTorch is not installed"
	exit 0
fi
while read -r model height width channels batch; do
	table=$here/../../share/models/$model.tsv
	ours=$("$build/bench/nn" "$table" "$height" "$width" "$channels" "$batch")
	theirs=$(python3 "$here/nn.py" "$table" "$height" "$width" "$channels" "$batch")
	echo "$model $ours $theirs" | awk -v batch="$batch" \
		'{ printf "nn %-10s batch %4d: %.2f times PyTorch (%d samples/s)\n", $1, batch, $2 / $3, $2 }'
done <<EOF2
mlp 28 28 1 64
mlp-large 28 28 1 64
cnn-small 16 16 1 64
cnn 16 16 1 64
cnn-bn 16 16 1 64
cnn-bn 32 32 3 64
EOF2
for array in 4 16; do
	one=$("$build/bench/nn" "$here/../../share/models/mlp.tsv" 8 8 1 32 1)
	many=$("$build/bench/nn" "$here/../../share/models/mlp.tsv" 8 8 1 32 "$array")
	echo "$array $one $many" | awk '{ printf "nn array of %d small mlp: %.2f times one\n", $1, $3 / $2 }'
done

#!/bin/sh
# Training steps of one thread against PyTorch's: nn.sh [BUILD [NETS]].  Prints ratios of
# samples per second, ours over the better of PyTorch's two layouts; the two take turns.
# Beside it two threads over one, by the clock, which wants a quiet machine, and what two
# processes at once reach that know nothing of each other; and how far the cores were from
# each other and back.  Then a GPT; arrays over
# single models.  NETS, a regular expression, chooses among the nets, and leaves out the rest.
set -eu
build=${1:-$GV_BUILD}
chosen=${2:-.}
python=${GV_PYTHON:-python3}
here=$(dirname "$0")
models=$here/../../share/models
if ! "$python" -c 'import torch' 2>/dev/null; then
	echo "nn: skipped, PyTorch is not installed"
	exit 0
fi
drawn=$(mktemp -d)
trap 'rm -rf "$drawn"' EXIT
trap 'exit 2' HUP INT TERM
# four nets of shapes that nobody chose: others every day, the same all day
awk -v day="$(($(date +%s) / 86400))" -v dir="$drawn" 'BEGIN {
	srand(day)
	for (i = 1; i <= 4; i++) {
		a = int(4 + 93 * rand()); b = int(4 + 93 * rand()); h = int(8 + 26 * rand()); n = int(1 + 96 * rand())
		k = 1 + 2 * int(3 * rand()); s = int(1 + 2 * rand())
		file = dir "/" a "-" k "x" k "-" b ".tsv"
		print "id\top\tout\tk\ts\tp\tact" >file
		printf "1\tconv\t%d\t3\t1\t1\trelu\n2\tconv\t%d\t%d\t%d\t%d\trelu\n", a, b, k, s, int(k / 2) >file
		print "3\tmaxpool\t\t2\t\t\t\n4\tlinear\t" a + b "\t\t\t\trelu\n5\tlinear\t\t\t\t\t\n6\txent\t\t\t\t\t" >file
		print a "-" k "x" k "-" b, h, h, 3, n >(dir "/rows")
	}
}'
table_of() {
	for dir in "$drawn" "$here/nets" "$models"; do
		[ ! -f "$dir/$1.tsv" ] || { echo "$dir/$1.tsv" && return; }
	done
}
{
	cat <<EOF
tiny 8 8 1 16
mlp 28 28 1 64
mlp 28 28 1 1
mlp 28 28 1 1024
mlp-large 28 28 1 64
wide 28 28 1 256
fc4096 28 28 1 32
lenet 28 28 1 64
windows5 32 32 3 32
odd 19 19 3 17
cnn-small 16 16 1 64
cnn 16 16 1 64
cnn 16 16 1 1
cnn 16 16 1 1024
cnn-bn 16 16 1 64
cnn-bn 32 32 3 64
bn20 16 16 3 32
vgg11 32 32 3 32
mobilenet-small 32 32 3 32
discriminator 64 64 3 16
resnet18 64 64 3 8
generator 1 1 100 32
pointnet-small 256 1 3 16
lstm-small 28 1 28 32
EOF
	cat "$drawn/rows"
} | grep -E "$chosen" >"$drawn/chosen" || :
while read -r model height width channels batch; do
	table=$(table_of "$model")
	shape="$height $width $channels $batch"
	# shellcheck disable=SC2086
	ours=$("$build/bench/nn" "$table" $shape) && theirs=$("$python" "$here/nn.py" "$table" $shape) &&
		again=$("$build/bench/nn" "$table" $shape) && two=$("$build/bench/nn_two" "$table" $shape)
	echo "$model ${height}x${width}x$channels $batch $ours $again $theirs $two" |
		awk '{ ours = $4 > $5 ? $4 : $5
			printf "nn %-15s %-8s batch %4d: %.2f times PyTorch (%d samples/s), two threads %.2f, two processes %.2f, core to core %d ns\n", \
				$1, $2, $3, ours / $6, ours, $8 / $7, $9 / $7, $10 }'
done <"$drawn/chosen"
[ "$chosen" = . ] || exit 0
while read -r context batch classes; do
	table=$models/gpt-small.tsv
	ours=$("$build/bench/nn" "$table" "$context" 1 1 "$batch" 1 "$classes")
	theirs=$("$python" "$here/gpt.py" "$context" "$batch" "$classes")
	echo "$context $batch $classes $ours $theirs" |
		awk '{ printf "nn gpt-small context %d batch %d classes %d: %.2f times PyTorch (%d tokens/s)\n", $1, $2, $3, $4 / $5, $4 * $1 }'
done <<EOF
64 16 256
256 8 256
1024 2 256
256 4 8192
EOF
for array in 4 16; do
	one=$("$build/bench/nn" "$models/mlp.tsv" 8 8 1 32 1)
	many=$("$build/bench/nn" "$models/mlp.tsv" 8 8 1 32 "$array")
	echo "$array $one $many" | awk '{ printf "nn array of %d small mlp: %.2f times one\n", $1, $3 / $2 }'
done

#!/bin/sh
# The models that are shipped, of the shapes of VGG, ResNet, MobileNet, PointNet, DCGAN,
# GNMT and of an LSTM: each learns from the shell, the same bits on two threads, in an
# array and after an interruption; gv-profile times its layers, gv-partition cuts it.
# shellcheck disable=SC2086
. "${0%/*}/lib.sh"

# learns NAME STEPS FACTOR SHAPE CLASSES ARGS...: after so many steps the loss is FACTOR of the first one's or less
learns() {
	name=$1 steps=$2 factor=$3 shape=$4 classes=$5
	shift 5
	run gv-train --steps="$steps" --log-every=1 "$@" "$name"
	silent "$name learns"
	ok "$name: the loss falls to $factor" awk -F, -v f="$factor" -v n="$steps" \
		'NR == 2 { first = $3 } NR > n - 3 { last += $3 / 4 } END { exit !(NR == n + 1 && last < f * first) }' out
	ok "$name: and on the test set it is lower" awk -F, 'NR == 2 { first = $3 } END { exit !($4 < 0.97 * first) }' out
	few="--steps=6 --log-every=1"
	gv-train $few "$@" "$name" >one
	gv-train $few --threads=2 "$@" "$name" >two
	ok "$name: two threads, the same rows" cmp one two
	gv-train $few --array=array.csv "$@" "$name" >all
	ok "$name: the second of an array, the same rows" \
		sh -c 'awk -F, "NR == 1 || \$2 == 1 { sub(/,1,/, \",0,\"); print }" all | cmp - one'
	rm -rf whole parts
	gv-train $few --checkpoint=whole "$@" "$name" >whole.csv
	for n in 2 5 6; do
		gv-train --log-every=1 --checkpoint=parts --steps=$n "$@" "$name" >parts.csv || fail "$name: part $n" parts.csv
	done
	same_file whole/gv-train.ckpt parts/gv-train.ckpt "$name: in three parts: checkpoint"
	for n in whole parts; do
		cut -d, -f1-3 $n/losses.csv >$n.losses
	done
	same_file whole.losses parts.losses "$name: in three parts: losses"
	run gv-train --shapes "$@" "$name"
	ok "$name: shapes" awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		NR > 1 { sum += $at["parameters"] } END { exit !(NR > 5 && sum > 500) }' out
	run gv-profile layers -q --warmup=0s --window=0s --repeats=3 --batch=4 --shape="$shape" --classes="$classes" "$name"
	silent "$name: its layers are timed"
	mv out layers
	ok "$name: all of them" awk -F, 'NF > 3 && NR > 1 { n++ } END { exit !(n > 5) }' layers
	run gv-partition -l 2@1GB/s --straight --all-gpus layers
	is_status 0 "$name: and cut for two GPUs"
}
printf 'seed\n2\n1\n3\n' >array.csv
images="--data=digits:1000 --test=digits:200 --batch=32"
sgd="--lr=0.05 --momentum=0.9"
adam="--optimizer=adam --lr=0.003"
learns vgg-small 100 0.8 16x16 10 $images $adam
learns resnet-small 60 0.6 16x16 10 $images $sgd
learns mobilenet-small 100 0.6 16x16 10 $images $sgd
learns lstm-small 100 0.6 16x1x16 10 $images $adam --shape=16x1x16
learns dcgan-small 60 0.95 16x16 256 $images $adam --scale=unit --autoencode
learns gnmt-small 60 0.85 24x1 256 --data=sentences:200 --test=sentences:40 --context=24 --batch=8 $adam

# clouds of points on a sphere, a cube, a line and a plane
clouds() {
	awk -v n="$1" -v seed="$2" 'function u() { return 2 * rand() - 1 }
	BEGIN {
		srand(seed)
		for (p = 0; p < 32; p++) printf "x%d,y%d,z%d,", p, p, p
		print "label"
		for (i = 0; i < n; i++) {
			for (p = 0; p < 32; p++) {
				x = u(); y = u(); z = u()
				if (i % 4 == 0) { r = sqrt(x * x + y * y + z * z); x /= r; y /= r; z /= r }
				if (i % 4 == 2) { y = x; z = -x }
				if (i % 4 == 3) z = 0.5 * x
				printf "%.4f,%.4f,%.4f,", x, y, z
			}
			print i % 4
		}
	}'
}
clouds 400 1 >clouds.csv
clouds 100 2 >others.csv
learns pointnet-small 60 0.5 32x1x3 4 --data=csv:clouds.csv --test=csv:others.csv --shape=32x1x3 --scale=none --batch=16 $adam
# the discriminator tells digits from noise: images of 64 x 64 x 1, each number of a digit 4 x 4 times
noise() {
	gv-train --export=digits.csv --data="digits:$1:$2" && awk -F, -v OFS=, -v seed="$2" '
		BEGIN { srand(seed) }
		NR == 1 { printf "label"; for (i = 0; i < 4096; i++) printf ",p%d", i; print ""; next }
		{
			printf "%d", NR % 2
			for (i = 0; i < 4096; i++)
				printf ",%d", NR % 2 ? $(2 + int(i / 256) * 16 + int(i % 64 / 4)) : int(256 * rand())
			print ""
		}' digits.csv
}
noise 16 1 >real.csv
run gv-train --data=csv:real.csv --shape=64x64x1 --steps=3 --log-every=1 --batch=4 --optimizer=adam --lr=0.0002 --beta1=0.5 dcgan-discriminator
silent "dcgan-discriminator learns what is real"
ok "and its loss falls" awk -F, 'NR == 2 { first = $3 } END { exit !(NR == 4 && $3 < 0.8 * first) }' out

# pictures SIDE: eight of three colours in pictures.idx, labels 0 and 1 in labels.idx
pictures() {
	side=$(printf '\\0000\\0000\\0000\\0%03o' "$1")
	printf %b '\0000\0000\0010\0004\0000\0000\0000\0010' "$side" "$side" '\0000\0000\0000\0003' >pictures.idx
	awk -v n=$((8 * $1 * $1 * 3)) 'BEGIN { srand(5); for (i = 0; i < n; i++) printf "%c", 33 + int(90 * rand()) }' >>pictures.idx
	printf '\0\0\010\001\0\0\0\010\0\001\0\001\001\0\001\0' >labels.idx
}
pictures 16
{
	echo label "$(seq -f p%g 768)" | tr ' \n' ',,' | sed 's/,$//'
	echo
	tail -c +21 pictures.idx | od -An -v -tu1 -w768 | sed 's/^ *//; s/  */,/g' | awk '{ print (NR == 2 || NR == 4 || NR == 5 || NR == 7) "," $0 }'
} >pictures.csv
printf 'id,op,out\n1,linear,1\n2,bce,\n' >one.csv
options='--shards=1 --batch=4 --steps=4 --log-every=1 --scale=unit --lr=0.001'
run gv-train --data=idx:pictures.idx,labels.idx $options one.csv
silent "one number is compared with labels of 0 and 1"
gv-train --data=csv:pictures.csv --shape=16x16x3 --scale=none --steps=1 --batch=8 --lr=0 --log-every=1 --shards=1 one.csv >numbers.csv
run gv-train --data=idx:pictures.idx,labels.idx --scale=none --steps=1 --batch=8 --lr=0 --log-every=1 --shards=1 one.csv
is_status 0 "labels, not scaled"
same_file numbers.csv out "as with the same numbers in a table"
pictures 64
run gv-train --data=idx:pictures.idx,labels.idx $options dcgan-discriminator
silent "dcgan-discriminator, pictures of three colours"

run gv-train --data=digits:5 --autoencode --steps=1 mlp
is_err "labels are no samples" <<EOT
gv-train: --autoencode: the head of $src/share/models/mlp.tsv compares with labels, not numbers
EOT

done_testing

#!/bin/sh
# gv-train: options, data sets, models, arrays, rows.  Interruptions and gangs
# are in gv-train-resume.t.
. "${0%/*}/lib.sh"

python=${GV_PYTHON:-python3}
train() { run gv-train "$@"; }
printf 'id\top\tout\tact\n1\tlinear\t16\trelu\n2\tlinear\t\t\n3\txent\t\t\n' >mlp.tsv
rows() { tail -n +2 "$1"; }

# ---- usage ----
train --help
is_status 0 "help: status"
usage='usage: gv-train [options] --data=DATA MODEL'
ok "help: usage first" test "$(head -n 1 out)" = "$usage"
train --version
out_has "gv-train $(cat "$src/VERSION")" "version"

# bad NAME MESSAGE ARGS...: exit 2, this message, nothing on stdout
bad() {
	bad_name=$1 bad_text=$2
	shift 2
	train "$@"
	if [ "$status" -eq 2 ] && [ ! -s out ] && [ "$(head -n 1 err)" = "gv-train: $bad_text" ]; then
		pass "$bad_name"
	else
		echo "gv-train: $bad_text" >want
		fail "$bad_name" want err out
	fi
}
train --data=digits
is_status 2 "no operand: status"
bad "no data" "no data: --data=digits, for example" mlp.tsv
ok "usage line behind it" test "$(tail -n 1 err)" = "$usage"
bad "no steps" "how many steps? --steps or GV_TOTAL_STEPS" --data=digits:10 mlp.tsv
bad "two operands" "too many operands" --data=digits:10 --steps=1 mlp.tsv mlp.tsv
bad "unknown option" 'unknown option "--stepz=1"' --stepz=1 mlp.tsv
bad "steps" '--steps: expected a whole number from 0 to 9007199254740992, got "x"' --steps=x mlp.tsv
bad "batch" '--batch: expected a whole number from 1 to 16777216, got "0"' --batch=0 mlp.tsv
bad "optimizer" '--optimizer: unknown "lamb"; known: sgd, adam, adamw' --optimizer=lamb mlp.tsv
bad "scale" '--scale: unknown "big"; known: standard, unit, none' --scale=big mlp.tsv
bad "lr" '--lr: expected a number from 0 to 1e+30, got "-1"' --lr=-1 mlp.tsv
bad "momentum" '--momentum: expected a number from 0 to 1, got "2"' --momentum=2 mlp.tsv
bad "shape" '--shape: expected HxW or HxWxC, got "4"' --shape=4 mlp.tsv
bad "shape of four" '--shape: expected HxW or HxWxC, got "4x4x4x4"' --shape=4x4x4x4 mlp.tsv
bad "shape of nothing" '--shape: expected HxW or HxWxC, got "0x4"' --shape=0x4 mlp.tsv
bad "checkpoint-every" '--checkpoint-every: expected a duration such as 90s, 15m or 2h, got "often"' \
	--checkpoint-every=often mlp.tsv
bad "timeout" '--timeout: expected more than 0 s' --timeout=0 --data=digits --steps=1 mlp.tsv
bad "math" '--math: the CPU has fp32 alone' --math=tf32 --data=digits --steps=1 mlp.tsv
bad "transport" '--transport=nccl needs --device=cuda' --transport=nccl --data=digits --steps=1 mlp.tsv
bad "two modes" '--shapes, --export, --split and --join exclude each other' --shapes --export=x --data=digits
bad "export with an operand" '--export takes no operand' --export=x --data=digits mlp.tsv
GV_TOTAL_STEPS=1.5
export GV_TOTAL_STEPS
bad "GV_TOTAL_STEPS" 'GV_TOTAL_STEPS: expected a whole number from 0, got "1.5"' --data=digits:10 mlp.tsv
for v in 1e300 9007199254740994 -1; do
	GV_TOTAL_STEPS=$v
	bad "GV_TOTAL_STEPS=$v" "GV_TOTAL_STEPS: expected a whole number from 0, got \"$v\"" --data=digits:10 mlp.tsv
done
GV_TOTAL_STEPS=1e+01
train --data=digits:10 mlp.tsv
out_has "10,0," "GV_TOTAL_STEPS as a launcher writes it"
unset GV_TOTAL_STEPS
# sets of slices that are damaged, or lack one
printf 'gvset 1\nstep 1\n' >part.set
bad "a set cut short" 'part.set: not a whole set of slices: it ends too early' --join=joined part.set
printf 'gvset 1\nslice 0 1 a\nend 30d4877c\n' >part.set
bad "a set without its slice" './a: cannot open: No such file or directory' --join=joined part.set
ok "nothing is joined" [ ! -e joined ]
awk 'BEGIN { print "seed,lr"; for (i = 1; i < 12; i++) print -i ",2" i "e29" }' >array.csv
bad "rows that are wrong" 'array.csv:2: seed: expected a whole number from 0, got -1' --data=digits:10 --steps=1 --array=array.csv mlp.tsv
ok "of each, up to ten" [ "$(wc -l <err)" -eq 10 ]
printf 'lr\n-1\n' >array.csv
bad "below 0" 'array.csv:2: lr: expected a number from 0 to 1e+30, got -1' --data=digits:10 --steps=1 --array=array.csv mlp.tsv
GV_THREADS=none
export GV_THREADS
bad "GV_THREADS" 'GV_THREADS: expected a whole number from 1, got "none"' --data=digits:10 --steps=1 mlp.tsv
unset GV_THREADS
bad "no model" 'none.tsv: cannot open: No such file or directory' --data=digits:10 --steps=1 none.tsv
bad "shards over the batch" \
	"$(gv-train --data=digits:10 --steps=1 --batch=2 --shards=4 mlp.tsv 2>&1 | sed 's/^gv-train: //')" \
	--data=digits:10 --steps=1 --batch=2 --shards=4 mlp.tsv

# ---- data sets that are none ----
bad "unknown data" \
	'unknown data set "mnist"; known: digits[:N[:SEED]], idx:IMAGES,LABELS, csv:FILE, sentences[:N[:SEED]], text:FILE, tokens:FILE, tokens32:FILE' \
	--data=mnist --steps=1 mlp.tsv
bad "digits of none" 'digits:0: expected digits:N with N from 1 to 4194304, got "0"' \
	--data=digits:0 --steps=1 mlp.tsv
bad "digits with a bad seed" 'digits:5:x: expected a seed from 0 up, got "x"' \
	--data=digits:5:x --steps=1 mlp.tsv
bad "idx of one file" 'idx:a: expected idx:IMAGES,LABELS' --data=idx:a --steps=1 mlp.tsv
bad "idx that is not there" 'a: cannot open: No such file or directory' --data=idx:a,b --steps=1 mlp.tsv
printf 'a,label\n1,0\n2.5,1\n' >two.csv
bad "csv without the label" 'two.csv:1: missing column "class" (found: a, label)' \
	--data=csv:two.csv --label=class --steps=1 mlp.tsv
bad "csv of another shape" 'csv:two.csv: samples of 1 values have no shape 4x4x1' \
	--data=csv:two.csv --shape=4x4 --steps=1 mlp.tsv
printf 'a,label\nx,0\n1,-1\n1e39,1\n1,1.5\n' >bad.csv
train --data=csv:bad.csv --steps=1 mlp.tsv
is_status 2 "csv with bad cells: status"
is_err "csv with bad cells" <<'EOF'
gv-train: bad.csv:2: a: expected a number, got "x"
gv-train: bad.csv:3: label: expected a label from 0 to 1048575, got -1
gv-train: bad.csv:4: a: 1e+39 does not fit a 32-bit float
gv-train: bad.csv:5: label: expected an integer, got "1.5"
EOF
printf 'label\n1\n' >bad.csv
bad "csv of labels only" 'bad.csv: no columns beside "label"' --data=csv:bad.csv --steps=1 mlp.tsv
printf 'label,a\n' >bad.csv
bad "csv without rows" 'bad.csv: a table without rows' --data=csv:bad.csv --steps=1 mlp.tsv
bad "test of another shape" 'csv:two.csv: samples of 1x1x1, those of digits:10 are 16x16x1' \
	--data=digits:10 --test=csv:two.csv --steps=1 mlp.tsv
printf 'a,label\n1,0\n2.5,3\n' >three.csv
bad "test with more classes" 'csv:three.csv: label 3, the largest of csv:two.csv is 1' \
	--data=csv:two.csv --test=csv:three.csv --steps=1 mlp.tsv

# ---- IDX files ----
if have "$python"; then
	cat >idx.py <<'EOF'
import csv, gzip, struct, sys
rows = list(csv.reader(open("digits.csv")))[1:]
y = bytes(int(r[0]) for r in rows)
x = bytes(int(v) for r in rows for v in r[1:])
def put(name, dims, body, kind=8, opener=open):
    with opener(name, "wb") as f:
        f.write(bytes([0, 0, kind, len(dims)]) + b"".join(struct.pack(">I", d) for d in dims) + body)
n = len(rows)
put("x.idx", [n, 16, 16], x)
put("x4.idx", [n, 16, 16, 1], x)
put("x.idx.gz", [n, 16, 16], x, opener=gzip.open)
put("y.idx", [n], y)
put("y.idx.gz", [n], y, opener=gzip.open)
put("short.idx", [n], y[:-3])
put("long.idx", [n], y + b"\0")
put("kind.idx", [n], y, kind=13)
put("fewer.idx", [n - 1], y[1:])
put("huge.idx", [0xffffffff, 0xffffffff, 0xffffffff, 16], b"")
put("claims.idx", [0xffffff, 16, 16], x)
put("none.idx", [0], b"")
put("five.idx", [1, 1, 1, 1, 1], b"\0")
open("head.idx", "wb").write(b"\0\0\x08\x03\0\0")
EOF
	run gv-train --export=digits.csv --data=digits:300
	silent "export"
	ok "export: rows" test "$(wc -l <digits.csv)" -eq 301
	ok "export: columns" test "$(head -n 1 digits.csv | tr , '\n' | wc -l)" -eq 257
	run "$python" idx.py
	silent "python writes IDX files"
	options='--steps=60 --log-every=3 --lr=0.1 --batch=32'
	# shellcheck disable=SC2086
	{
		gv-train --data=digits:300 --test=digits:100 $options mlp.tsv >plain.csv
		gv-train --data=idx:x.idx,y.idx --test=digits:100 $options mlp.tsv >idx.csv
		gv-train --data=idx:x.idx.gz,y.idx.gz --test=digits:100 $options mlp.tsv >gz.csv
		gv-train --data=idx:x4.idx,y.idx --test=digits:100 $options mlp.tsv >four.csv
		gv-train --data=csv:digits.csv --shape=16x16 --test=digits:100 $options mlp.tsv >csv.csv
		gv-train --data=csv:digits.csv --shape=16x16x1 --scale=unit --test=digits:100 $options mlp.tsv >unit-csv.csv
		gv-train --data=digits:300 --scale=unit --test=digits:100 $options mlp.tsv >unit.csv
	}
	ok "there are rows" test "$(wc -l <plain.csv)" -eq 21
	same_file plain.csv idx.csv "IDX files train as the digits they hold"
	same_file plain.csv gz.csv "and gzip'ed"
	same_file plain.csv four.csv "and with four dimensions"
	same_file plain.csv csv.csv "and as a table"
	same_file unit.csv unit-csv.csv "and scaled to 0..1"
	ok "which is another scale" test "$(cat unit.csv)" != "$(cat plain.csv)"
	for case in "short.idx:ends after 297 of 300 values" "long.idx:more than the 300 values of its header" \
		"kind.idx:expected IDX type 8 (unsigned byte), got 13" \
		"none.idx:dimension 1 of size 0 cannot be read" "x.idx:expected labels (1 dimension), got 3" \
		"five.idx:expected 1 to 4 dimensions, got 5" "idx.py:not an IDX file" \
		"fewer.idx:299 labels for 300 images of x.idx" "head.idx:ends in its header" \
		"huge.idx:dimension 2 of size 4294967295 cannot be read"; do
		bad "labels: ${case#*:}" "${case%%:*}: ${case#*:}" --data="idx:x.idx,${case%%:*}" --steps=1 mlp.tsv
	done
	bad "images that claim much" "claims.idx: ends after 76800 of 4294967040 values" \
		--data=idx:claims.idx,y.idx --steps=1 mlp.tsv
	bad "images of one dimension" "y.idx: expected images (2 to 4 dimensions), got 1" \
		--data=idx:y.idx,y.idx --steps=1 mlp.tsv
else
	skip "no python3"
fi

# ---- rows ----
train --data=digits:200 --test=digits:50 --steps=25 --log-every=10 --test-every=20 --batch=16 mlp.tsv
silent "a run is quiet"
cut -d, -f1,2 out >shape.csv
cat >want <<'EOF'
step,model
10,0
20,0
25,0
EOF
same_file want shape.csv "rows at multiples and at the end"
awk -F, 'NR > 1 { print ($3 != "") ($4 != "") ($5 != "") }' out >filled
printf '100\n111\n111\n' >want
same_file want filled "accuracy where it was tested"
cp out plain.out
run gv-train --tsv --data=digits:200 --test=digits:50 --steps=25 --log-every=10 --test-every=20 --batch=16 mlp.tsv
tr '\t' , <out >tsv.out
same_file plain.out tsv.out "--tsv"
train -o rows.csv --data=digits:200 --test=digits:50 --steps=25 --log-every=10 --test-every=20 --batch=16 mlp.tsv
same_file plain.out rows.csv "-o"
ok "-o: nothing on stdout" test ! -s out
train --record=rec.csv --data=digits:200 --test=digits:50 --steps=25 --log-every=10 --test-every=20 --batch=16 mlp.tsv
same_file plain.out rec.csv "--record"
printf 'step,mod' >torn.csv
train --record=torn.csv --data=digits:200 --test=digits:50 --steps=25 --log-every=10 --test-every=20 --batch=16 mlp.tsv
same_file plain.out torn.csv "a record whose header was cut short"
echo precious >other
bad "a record is not written over another file" "other: is there, and no record of losses" \
	--record=other --data=digits:20 --steps=1 mlp.tsv
bad "a device is no record" "/dev/zero: no regular file, so no record" \
	--record=/dev/zero --data=digits:20 --steps=1 mlp.tsv
echo precious >want
same_file want other "which stays"
train --steps=0 --data=digits:20 mlp.tsv
is_out "no steps: no rows" <<'EOF'
step,model,loss,test_loss,accuracy
EOF
train -v --steps=1 --data=digits:20 mlp.tsv
err_has "1 models of 4282 parameters, 8512 flops forward a sample; 20 samples; " "-v"
if have "$python"; then
	train --data=digits:200 --steps=25 --log-every=10 --batch=16 --threads=2 mlp.tsv
	cut -d, -f1-3 out >two.out
	cut -d, -f1-3 plain.out >one.out
	same_file one.out two.out "two threads compute what one does"
fi

train --order-seed=2 --data=digits:200 --steps=25 --log-every=10 --batch=16 mlp.tsv
cut -d, -f1-3 out >order.out
ok "--order-seed: another order, other losses" test "$(cat order.out)" != "$(cut -d, -f1-3 plain.out)"
train --shards=1 --data=digits:200 --steps=25 --log-every=1 --batch=1 mlp.tsv
silent "--shards"
sed 's/label/kind/' three.csv >kind.csv
gv-train --data=csv:three.csv --steps=5 --log-every=1 --batch=2 mlp.tsv >label.out
train --data=csv:kind.csv --label=kind --steps=5 --log-every=1 --batch=2 mlp.tsv
same_file label.out out "--label"
GV_PROGRESS=$PWD/progress
export GV_PROGRESS
train --checkpoint=each --checkpoint-every=0 --data=digits:20 --steps=3 --batch=4 mlp.tsv
unset GV_PROGRESS
grep checkpoint progress >out
is_out "--checkpoint-every: after each step" <<'EOF'
checkpoint 1
checkpoint 2
checkpoint 3
EOF

# ---- a terminal ----
# terminal FILE ARGS...: gv-train with a terminal for all it writes, which goes to FILE
terminal() {
	terminal_to=$1
	shift
	run "$python" -c 'import os, pty, sys
out = open(sys.argv[1], "wb")
def read(fd):
    s = os.read(fd, 65536)
    out.write(s)
    return s
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[2:], read)))' "$terminal_to" "$@"
}
# screen FILE: what stands there at the end, each line as it was erased and written
screen() { tr -d '\r' <"$1" | awk '{ n = split($0, piece, "\033\\[K"); print piece[n] }'; }
if have "$python"; then
	terminal seen gv-train --data=digits:200 --steps=20000 --log-every=5000 --test=digits:50 mlp.tsv
	is_status 0 "on a terminal"
	ok "progress: where, how fast, how long" grep -aq \
		'step [0-9]* of 20000, loss [0-9.]*, [0-9]* samples/s, [0-9]* s left' seen
	gv-train --data=digits:200 --steps=20000 --log-every=5000 --test=digits:50 mlp.tsv >want
	screen seen | sed '/^$/d' >got
	same_file want got "and at the end nothing of it stands between the rows"
	terminal seen gv-train -q --data=digits:200 --steps=20000 --log-every=5000 mlp.tsv
	ok "--quiet: no progress" test "$(grep -ac ' of 20000' seen)" -eq 0
	terminal seen gv-train --data=digits:200 --steps=20000 --lr=1e9 mlp.tsv
	is_status 1 "diverged on a terminal"
	screen seen | grep -q '^gv-train: model 0 diverged' && ! screen seen | grep -q ' of 20000'
	ok "a message stands on a line of its own" test $? -eq 0
fi

# ---- what it learns ----
# right SHARE: the last row's accuracy is at least that
right() { awk -F, -v least="$1" 'END { exit !($5 >= least) }' out; }
train --data=digits --test=digits:2000 --steps=600 --lr-step=450 --lr=0.05 --momentum=0.9 cnn-small
ok "cnn-small reaches 99 % of the digits: $(tail -n 1 out)" \
	right 0.99
if [ -n "${GV_LONG:-}" ]; then
	train --data=digits --test=digits:2000 --steps=800 --lr-step=600 --lr=0.03 --momentum=0.9 cnn
	ok "cnn reaches 99.5 %: $(tail -n 1 out)" right 0.995
fi
# two blobs that a line parts: every optimizer gets there
awk 'BEGIN { print "x,y,label"
	for (i = 0; i < 200; i++) { s = i % 2; print (i * 37 % 100) / 100 + 2 * s "," (i * 71 % 100) / 100 - 2 * s "," s } }' >blobs.csv
for optimizer in sgd adam adamw; do
	train --optimizer=$optimizer --lr=0.05 --data=csv:blobs.csv --test=csv:blobs.csv --steps=100 linear
	ok "$optimizer: parts two blobs: $(tail -n 1 out)" right 1
done
# one sample, so that a loss changes only when the parameters do
train --data=digits:1 --batch=1 --lr=0.1 --lr-step=5 --lr-gamma=0 --steps=9 --log-every=1 mlp.tsv
ok "--lr-step: the rate becomes 0 after 5 steps" \
	test "$(rows out | cut -d, -f3 | sort | uniq | wc -l)" -eq 6

# ---- arrays ----
cat >array.csv <<'EOF'
name,seed,lr,momentum,weight_decay,steps
x,1,0.05,0.9,0,30
y,2,0.1,,0.001,20
z,3,0.02,0.5,,30
EOF
# solo DIR ARGS...: a serial run
solo() {
	dir=$1
	shift
	gv-train --data=digits:300 --test=digits:50 --log-every=5 --checkpoint="$dir" "$@" >"$dir.csv"
}
fused() {
	net=$1
	shift
	rm -rf f s0 s1 s2 split
	run gv-train --data=digits:300 --test=digits:50 --log-every=5 --array=array.csv --checkpoint=f "$@" "$net"
	silent "array of three: $net $*"
	solo s0 "$@" --seed=1 --lr=0.05 --momentum=0.9 --steps=30 "$net"
	solo s1 "$@" --seed=2 --lr=0.1 --weight-decay=0.001 --steps=20 "$net"
	solo s2 "$@" --seed=3 --lr=0.02 --momentum=0.5 --steps=30 "$net"
	gv-train --split=split f/gv-train.ckpt
	for b in 0 1 2; do
		same_file split/$b.ckpt s$b/gv-train.ckpt "model $b is as trained alone: $net $*"
		sed -n "s/^\([0-9]*\),$b,/\1,0,/p" out >rows.b
		rows s$b.csv >rows.s
		same_file rows.b rows.s "and has the same losses"
	done
}
cat >bn.csv <<'EOF'
id,op,out,k,p,act
1,conv,4,3,1,
2,bn,,,,relu
3,maxpool,,4,,
4,linear,,,,
5,xent,,,,
EOF
fused mlp.tsv
fused mlp.tsv --optimizer=adam
fused mlp.tsv --optimizer=adamw --threads=2
fused bn.csv --batch=8
awk -F, -v OFS=, '{ print $0, NR == 1 ? "fused" : NR % 3 != 0 ? 0 : NR % 2 }' bn.csv >partly.csv
fused partly.csv --batch=8 --micro-batches=2
cp f/gv-train.ckpt partly.ckpt
fused bn.csv --batch=8 --micro-batches=2
same_file partly.ckpt f/gv-train.ckpt "rows that are not fused change nothing"
sed 's/,1$/,2/' partly.csv >bad.csv
bad "rows fused by halves" 'bad.csv:3: fused: expected 0 or 1, got "2"' --data=digits:10 --steps=1 bad.csv
printf 'beta1,beta2,eps,lr_step,lr_gamma\n,,,,\n0.8,0.99,1e-6,7,0.5\n' >betas.csv
gv-train --data=digits:300 --steps=30 --optimizer=adam --array=betas.csv --checkpoint=betas mlp.tsv >/dev/null
gv-train --split=betas betas/gv-train.ckpt
gv-train --data=digits:300 --steps=30 --optimizer=adam --beta1=0.8 --beta2=0.99 --eps=1e-6 --lr-step=7 \
	--lr-gamma=0.5 --checkpoint=beta mlp.tsv >/dev/null
same_file betas/1.ckpt beta/gv-train.ckpt "options and columns mean the same"
printf 'lr\n0.05\n1e9\n' >wild.csv
train --data=digits:300 --steps=20 --log-every=10 --array=wild.csv mlp.tsv
is_status 0 "one of two diverges: status"
ok "one of two diverges: marked" grep -q '^[0-9]*,1,,,$' out
ok "one message" test "$(grep -c '^gv-train: model 1 diverged: its loss at step [0-9]* is no number$' err)" -eq 1
grep ',0,' out >zero
gv-train --data=digits:300 --steps=20 --log-every=10 --lr=0.05 mlp.tsv | rows - >alone
same_file alone zero "its neighbour does not notice"
train --data=digits:300 --steps=20 --lr=1e9 --checkpoint=div mlp.tsv
is_status 1 "diverged: status"
train --data=digits:300 --steps=20 --lr=1e9 --checkpoint=div mlp.tsv
is_status 1 "diverged before: status"
err_has "nothing is left to train: every model had diverged by step " "diverged before: says so"
printf 'seed,lr\n1,x\n-1,2\n' >bad.csv
train --data=digits:10 --steps=1 --array=bad.csv mlp.tsv
is_status 2 "a bad array: status"
is_err "a bad array" <<'EOF'
gv-train: bad.csv:2: lr: expected a number, got "x"
gv-train: bad.csv:3: seed: expected a whole number from 0, got -1
EOF
printf 'seed;lr\n1;0.1\n' >bad.csv
bad "an array of one column" 'bad.csv:1: cells are separated by semicolons; expected commas or tabs' \
	--data=digits:10 --steps=1 --array=bad.csv mlp.tsv
printf 'seed,momentun\n1,0.5\n' >near.csv
train --data=digits:10 --steps=1 --array=near.csv mlp.tsv
is_err "a column of an array that looks like an option" <<'EOF'
gv-train: warning: near.csv:1: column "momentun" is not known; is "momentum" meant?
EOF
printf 'momentum\n1.5\n' >bad.csv
bad "momentum of an array" 'bad.csv:2: momentum: expected a number from 0 to 1, got 1.5' \
	--data=digits:10 --steps=1 --array=bad.csv mlp.tsv
printf 'lr\n' >bad.csv
bad "an array of none" 'bad.csv: a table without rows' --data=digits:10 --steps=1 --array=bad.csv mlp.tsv
bad "an array without steps" \
	'how many steps? --steps, GV_TOTAL_STEPS or a column "steps" in wild.csv' \
	--data=digits:10 --array=wild.csv mlp.tsv

# ---- shapes ----
train --shapes --data=digits:1 cnn-small
silent "--shapes"
awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	{ p += $c["parameters"]; f += $c["flops"] } END { print p, f }' out >sums
echo '3818 189440' >want
same_file want sums "--shapes: parameters and flops of cnn-small"
train --shapes --data=digits:1 - <mlp.tsv
ok "--shapes: a model on standard input" test "$(wc -l <out)" -eq 4
done_testing

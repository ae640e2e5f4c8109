#!/bin/sh
# gv-partition --planner=2bw: all its configurations against a plain program, what the
# paper says must hold, tables, messages.
. "${0%/*}/lib.sh"
. "$src/tests/plans.sh"
cp "$src/examples/man/layers.csv" "$src/examples/man/edges.csv" .

usage='usage: gv-partition -p 2bw -l N@BANDWIDTH... --batch=N [OPTION...] [LAYERS]'
plan() { gv-partition -p 2bw "$@"; }
# chain SEED: a random chain of 2 to 8 layers
chain() {
	awk -v seed="$1" 'BEGIN {
		srand(seed)
		print "node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes"
		n = 2 + int(7 * rand())
		for (i = 0; i < n; i++)
			printf "l%d,%.6f,%.6f,%d,%d\n", i, 1 + 4 * rand(), 2 + 7 * rand(), 1e7 * rand(), 1e8 * rand()
	}'
}
# blocks L H A: a transformer of L blocks, 45 TFLOP/s, one sequence of 512: what is inside
# of each block, and its output
blocks() {
	awk -v l="$1" -v h="$2" -v a="$3" -v s=512 'BEGIN {
		print "node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes"
		f = 24 * s * h * h * (1 + s / (6 * h)) / 45e9
		for (i = 0; i < l; i++) {
			printf "inside%d,%.9g,%.9g,%.0f,%.0f\n", i, f, 2 * f, s * h * (32 + 5 * a * s / h),
			    4 * (12 * h * h + 13 * h)
			printf "output%d,0,0,%.0f,0\n", i, 2 * s * h
		}
	}'
}

# ---- against a plain program ----
if [ -z "${GV_PYTHON:-}" ]; then
	skip "no python3"
else
	for seed in 1 2 3 4 5 6 7 8; do
		chain $seed >chain.csv
		case $((seed % 4)) in
		0) set -- 2 1e9 1e8 0 2 37 4 ;;
		1) set -- 4 1e9 2e8 6e8 0 16 2 ;;
		2) set -- 2 3e7 1e7 4e8 1 5 3 ;;
		3) set -- 8 1e10 1e10 9e8 2 64 1 ;;
		esac
		case $5 in 0) state=sgd ;; 1) state=momentum ;; 2) state=adam ;; esac
		memory=
		[ "$4" = 0 ] || memory="-m ${4%e8}00MB"
		ran="gv-partition of chain $seed, $*" status=0
		# shellcheck disable=SC2086
		plan -l "$1@$(printf %.0f "$2")B/s" -l "$7@$(printf %.0f "$3")B/s" --batch="$6" --optimizer=$state --top=0 \
			$memory chain.csv >table 2>err
		"$GV_PYTHON" "$src/tests/gv-partition-2bw.py" chain.csv $(($1 * $7)) "$1" "$2" "$3" "$4" "$5" "$6" \
			<table >differ
		ok "chain $seed: $(tail -n 1 differ)" [ "$(wc -l <differ)" -eq 1 ]
	done
fi

# ---- plans are taken back: all pipelines share the batch ----
wide=0
: >refused
for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	chain $seed >chain.csv
	for m in 700MB 900MB; do
		plan -v -l 8@10GB/s --batch=8 -m $m -o plan.csv chain.csv 2>err
		case $? in
		0)
			grep -q 'width=1 ' err || wide=$((wide + 1))
			plan -l 8@10GB/s --batch=8 -m $m --timeline chain.csv >/dev/null 2>>refused
			;;
		1) ;;
		*) cat err >>refused ;;
		esac
	done
done
ran="gv-partition -p 2bw of random chains, some wide: $wide"
ok "there are such" [ "$wide" -ge 5 ]
ok "plans of several pipelines are not refused" [ ! -s refused ]
[ ! -s refused ] || head -n 3 refused | sed 's/^/# /'

# ---- what the paper says ----
blocks 16 1024 16 >blocks.csv
plan -l 8@100GB/s -l 4@3GB/s --batch=512 --top=0 blocks.csv >all
columns 'width depth micro_batch execution recompute compute_s transfer_s' all |
	awk '$1 == 1 && $3 == 1 && $4 == "pipelined" && $5 == "none" && $2 <= 8 { print $2, $7 / $6 }' | sort -n >ratio
ran="transfer over compute by depth" status=0
ok "deeper pipelines compute less for each byte" awk '$2 < last { exit 1 } { last = $2; n++ } END { exit n < 7 }' ratio
plan -l 8@100GB/s -l 4@3GB/s --batch=512 --top=0 -m 2GB blocks.csv >fits
columns 'width depth micro_batch execution recompute' fits |
	awk '$1 == 1 && $4 == "pipelined" && $5 == "full" && $3 > most[$2] { most[$2] = $3 }
		END { for (d in most) print d, most[d] }' | sort -n >largest
ok "and larger micro-batches fit" awk '$1 == 2 { two = $2 } $1 == 16 { more = $2 } END { exit !(more > two) }' largest
columns 'width depth micro_batch execution recompute micro_batches sync_s' all |
	awk '$1 == 4 && $2 == 4 && $4 == "pipelined" && $5 == "none" { print $6 * $7 }' | sort -u >product
ok "more micro-batches are synchronised as often as one" [ "$(wc -l <product)" -eq 1 ]
ok "recomputation is not chosen where all fits" [ "$(sed -n 2p all | cut -d, -f7)" = none ]
printf 'micro_batch,speed\n1,1\n8,3\n' >speeds.csv
run plan -l 8@100GB/s -l 4@3GB/s --batch=512 --top=1 --speeds=speeds.csv blocks.csv
columns 'micro_batch recompute' >got && mv got out
is_out "larger micro-batches are faster where a table says so" <<EOF
micro_batch recompute
8 none
EOF
for m in 1200MB 30GB; do
	plan -l 8@100GB/s --batch=512 --top=1 --speeds=speeds.csv -m $m blocks.csv | columns 'micro_batch recompute' - | sed 1d
done >out
is_out "recomputation buys them" <<EOF
8 full
8 none
EOF
plan -l 8@100GB/s --batch=512 --top=1 --speeds=speeds.csv --recompute=none -m 1200MB blocks.csv |
	columns 'micro_batch recompute' - | sed 1d >out
is_out "and is left out by --recompute=none" <<EOF
1 none
EOF
printf 'speed,micro_batch\n3,8\n1,1\n' >turned.csv
plan -l 8@100GB/s --batch=512 --top=0 --speeds=speeds.csv blocks.csv >want
run plan -l 8@100GB/s --batch=512 --top=0 --speeds=turned.csv blocks.csv
same_file out want "rows of speeds in any order"
for rows in '1024,9 8,3 1,1' '8,3 1024,9 1,1' '1024,9 1,1 8,3' '8,3 1,1 1024,9' '1,1 1024,9 8,3'; do
	# shellcheck disable=SC2086
	printf '%s\n' micro_batch,speed $rows >turned.csv
	run plan -l 8@100GB/s --batch=512 --top=0 --speeds=turned.csv blocks.csv
	same_file out want "those above the batch too: $rows"
done
# 64 V100s with 16 GB, what was used for two models
for model in '2.2b 32 2304 32 8' '3.8b 32 3072 32 16'; do
	# shellcheck disable=SC2086
	set -- $model
	blocks "$2" "$3" "$4" >model.csv
	plan -l 8@150GB/s -l 8@25Gb/s --batch=512 -m 16GB --top=0 model.csv >table
	columns 'depth width micro_batch recompute minibatches_per_s memory_bytes' table | sed -n 2p |
		awk -v m="$1" -v d="$5" '{ printf "# %s: depth %d (published: %d), width %d, micro-batch %d, recompute %s, %.0f sequences/s, %.1f GB\n", m, $1, d, $2, $3, $4, $5, $6 / 1e9 }'
	ran="gv-partition of $1"
	ok "$1: the published depth fits, recomputing" grep -q "^[0-9]*,[0-9]*,$5,[0-9]*,[0-9]*,pipelined,full," table
	ok "$1: ours is no slower" awk -F, -v d="$5" 'NR == 2 { best = $9 } $3 == d && $9 > best { exit 1 }' table
done

# the largest, 28.3 billion parameters in 2240 layers of width 1024; here 35 a row
awk 'BEGIN {
	print "node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes"
	for (i = 0; i < 64; i++) {
		printf "inside%d,35,70,%.0f,%.0f\n", i, (35 * 34 - 2) * 512 * 1024, 35 * 4 * 12.6 * 1024 * 1024
		printf "output%d,0,0,%.0f,0\n", i, 2 * 512 * 1024
	}
}' >large.csv
plan -l 8@150GB/s -l 8@25Gb/s --batch=512 -m 16GB --top=1 large.csv | cut -d, -f3,6,7 | sed 1d >out
is_out "28.3b fits on 64 GPUs, recomputing" <<EOF
64,pipelined,full
EOF
run plan -l 8@150GB/s -l 4@25Gb/s --batch=512 -m 16GB --top=0 large.csv
is_status 1 "and not on 32"

# ---- tables ----
run plan -v -l 4@10Gb/s --batch=16 -e edges.csv layers.csv
is_err "-v" <<EOF
gv-partition: width=4 depth=1 micro_batch=1 micro_batches=4 execution=serial recompute=none micro_batch_s=0.069125 minibatches_per_s=57.866184448462924 memory_bytes=1180212864 tried=60 fit=60
EOF
cut -d, -f1 out >ids
cut -d, -f1 layers.csv >want
same_file ids want "the rows of the layers"
ran="gv-partition -p 2bw" status=0
ok "with their places" grep -q '^fc2,.*,0,4,none,0x4$' out
run plan --tsv -l 4@10Gb/s --batch=16 -m 1GB -e edges.csv layers.csv
cut -f1,7-10 out | tr '\t' ' ' >got && mv got out
is_out "a pipeline, where one GPU has no room" <<EOF
node_id stage replicas recompute place
in 0 1 none 0x1
conv1 0 1 none 0x1
conv2a 1 1 none 1x1
conv2b 0 1 none 0x1
add 1 1 none 1x1
conv3 2 1 none 2x1
pool 2 1 none 2x1
fc1 2 1 none 2x1
fc2 2 1 none 2x1
EOF
run plan -l 4@10Gb/s --batch=16 -e edges.csv -o plan.csv layers.csv
silent "-o"
run gv-partition --evaluate --flat -l 4@10Gb/s -e edges.csv plan.csv
silent "the plan can be evaluated"
plan -l 4@10Gb/s --batch=16 -e edges.csv --top=3 layers.csv >out
columns 'rank width depth micro_batch micro_batches execution recompute' >got && mv got out
is_out "--top" <<EOF
rank width depth micro_batch micro_batches execution recompute
1 4 1 1 4 serial none
2 4 1 2 2 serial none
3 4 1 4 1 serial none
EOF
plan -l 4@10Gb/s --batch=16 -e edges.csv --top=10 layers.csv >want
head -n 11 <want >ten
same_file want ten "no more rows than asked for"
plan -l 4@10Gb/s --batch=16 -e edges.csv --top=5 layers.csv | tr , '\t' >want
run plan -l 4@10Gb/s --batch=16 -e edges.csv --top=5 --tsv layers.csv
same_file out want "--tsv"
run plan -l 4@10Gb/s --batch=16 -e edges.csv --top=2 -v -o table.csv layers.csv
err_has "tried=60 fit=60" "-v with --top"
run plan --timeline -v -l 8@100GB/s --batch=16 -m 1GB blocks.csv
err_has "schedule=2bw" "--timeline runs it as 2BW"
run plan -q --prefixes=3 -l 4@10Gb/s --batch=16 -e edges.csv layers.csv
silent "-q"
run plan --prefixes=3 -l 4@10Gb/s --batch=16 -e edges.csv layers.csv
is_err "grouped layers" <<EOF
gv-partition: warning: more than 3 prefixes, of which 7 are looked at
EOF

# ---- no plan, messages ----
run plan -l 4@10Gb/s --batch=16 -m 700MB -e edges.csv layers.csv
is_status 1 "too large: status"
is_err "too large" <<EOF
gv-partition: no plan fits: the smallest, width=1 depth=4 micro_batch=1 execution=serial recompute=none, needs 0.797 GiB on a GPU, 0.146 GiB too much
EOF
run plan -l 4@10Gb/s --batch=1 --recompute=full --top=3 -e edges.csv layers.csv
is_status 1 "too small a batch: status"
is_err "too small a batch" <<EOF
gv-partition: no plan: a batch of 1 minibatches has none for every stage of a pipeline
EOF
bad "no batch" '--planner=2bw needs --batch=N' -l 4@10Gb/s layers.csv
bad "batch" '--batch: expected a whole number from 1 to 1000000, got "0"' -l 4@10Gb/s --batch=0 layers.csv
bad "no machine" 'a machine is needed: -l N@BANDWIDTH' --batch=4 layers.csv
bad "schedule" '--schedule is not for --planner=2bw' -l 4@10Gb/s --batch=4 --schedule=1f1b layers.csv
bad "explain" '--explain is not for --planner=2bw' -l 4@10Gb/s --batch=4 --explain layers.csv
bad "two tables" '--top writes a table of its own: without --timeline and --export' -l 4@10Gb/s --batch=4 --top=3 --timeline \
	layers.csv
printf 'micro_batch,speed\n' >none.csv
wrong "no speeds" 'none.csv:1: no row below the header' -l 4@10Gb/s --batch=4 --speeds=none.csv layers.csv
printf 'micro_batch\n1\n' >odd.csv
wrong "no column" 'odd.csv:1: missing column "speed" (found: micro_batch)' -l 4@10Gb/s --batch=4 --speeds=odd.csv layers.csv
printf 'micro_batch,speed\n0,1\n' >odd.csv
wrong "micro-batch" 'odd.csv:2: micro_batch: expected a whole number from 1 to 1000000, got 0' -l 4@10Gb/s --batch=4 \
	--speeds=odd.csv layers.csv
printf 'micro_batch,speed\n1,x\n' >odd.csv
wrong "no number" 'odd.csv:2: speed: expected a number, got "x"' -l 4@10Gb/s --batch=4 --speeds=odd.csv layers.csv
printf 'micro_batch,speed\n1.5,1\n' >odd.csv
wrong "no whole number" 'odd.csv:2: micro_batch: expected an integer, got "1.5"' -l 4@10Gb/s --batch=4 --speeds=odd.csv \
	layers.csv
wrong "another table" 'layers.csv:1: this is a table of layers; expected a table of speeds (micro_batch, speed)' \
	-l 4@10Gb/s --batch=4 --speeds=layers.csv layers.csv
wrong "no file" 'no.csv: cannot open: No such file or directory' -l 4@10Gb/s --batch=4 --speeds=no.csv layers.csv
bad "a table and an export" '--top writes a table of its own: without --timeline and --export' -l 4@10Gb/s --batch=4 \
	--top=3 --export=torch layers.csv
printf 'micro_batch,speed\n1,0\n' >odd.csv
wrong "speed" 'odd.csv:2: speed: expected a number over 0 and up to 1e6, got 0' -l 4@10Gb/s --batch=4 --speeds=odd.csv \
	layers.csv
printf 'micro_batch,speed\n2,1\n2,1\n' >odd.csv
wrong "speed twice" 'odd.csv:3: micro_batch: 2 stands there already' -l 4@10Gb/s --batch=4 --speeds=odd.csv layers.csv
printf 'micro_batch,speed\n2,1\n4,1\n1,1\n2,1\n' >odd.csv
wrong "speed twice, others between" 'odd.csv:5: micro_batch: 2 stands there already' -l 4@10Gb/s --batch=4 --speeds=odd.csv \
	layers.csv
wrong "no file" 'none: cannot open: No such file or directory' -l 4@10Gb/s --batch=4 --speeds=none layers.csv

done_testing

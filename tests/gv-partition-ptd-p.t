#!/bin/sh
# gv-partition --planner=ptd-p: tables, options, messages, and how far its times are
# from published ones.  Its formulas are in unit/gv-partition.ptd.c.
. "${0%/*}/lib.sh"
. "$src/tests/plans.sh"

usage='usage: gv-partition -p ptd-p [OPTION...] [TRANSFORMERS]'
planner="-p ptd-p"
# shellcheck disable=SC2086
plan() { gv-partition $planner "$@"; }
# refused NAME LINE ARGS...: bad input, and no table
refused() {
	wrong "$@"
	ok "$1: no table" [ ! -s out ]
}
head='model,layers,hidden_size,attention_heads,seq_len,vocab,global_batch'
printf '%s\n1.7B,24,2304,24,2048,51200,512\n' "$head" >small.csv
printf '%s,gpus,gpu_type\n1.7B,24,2304,24,2048,51200,512,32,A100-80GB\n145B,80,12288,96,2048,51200,2304,1536,A100-80GB\n' \
	"$head" >two.csv

# ---- tables ----
run plan two.csv
silent "two models"
columns 'model rank gpus' | uniq -c | awk '{ print $2, $3, $4 }' | sed -n '1p;2p;11p;12p' >got
cp out whole
mv got out
is_out "ten plans of each, best first" <<EOF
model rank gpus
1.7B 1 32
1.7B 10 32
145B 1 1536
EOF
columns 'iteration_s' whole | sed '1d;11q' >got
sort -g got >want
ran="iteration_s of ten plans"
same_file got want "no plan is slower than the next"
run plan --top=1 two.csv
columns 'tensor_parallel pipeline_parallel data_parallel' >got && mv got out
is_out "the degrees" <<EOF
tensor_parallel pipeline_parallel data_parallel
1 1 32
4 8 48
EOF
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i
		n = split("compute tensor pipeline data optimizer bubble", part, " "); next }
	{ s = 0; for (i = 1; i <= n; i++) s += $at[part[i] "_share"]
	  if (s < 1 - 1e-9 || s > 1 + 1e-9) print "shares", s
	  if ($at["tensor_parallel"] * $at["pipeline_parallel"] * $at["data_parallel"] != $at["gpus"]) print "gpus"
	  if ($at["memory_bytes"] > 0.92 * 80 * 2^30) print "memory"
	  rows++ } END { print rows, "rows" }' whole >out
is_out "shares add up to 1, degrees multiply to the GPUs, all fits" <<EOF
20 rows
EOF
plan --top=1 two.csv >best
run plan --evaluate best
same_file out best "a plan is costed as it was found"
run plan --top=0 best
same_file out best "a plan in the table leaves nothing to search"
run plan --top=3 --tsv two.csv
plan --top=3 two.csv | tr , '\t' >want
same_file out want "--tsv"
run plan --top=3 -o result.csv two.csv
silent "-o"
plan --top=3 two.csv >want
same_file result.csv want "-o writes the same"
gzip -c two.csv >two.csv.gz
run plan --top=3 two.csv.gz
same_file out want "gzip"
run plan --top=3 <two.csv
same_file out want "standard input"
plan --top=1000000 small.csv --gpus=32 --gpu-type=A100-80GB >want
run plan --top=0 small.csv --gpus=32 --gpu-type=A100-80GB
same_file out want "--top=0 writes all"
ok "which are many" [ "$(wc -l <out)" -gt 100 ]
printf '%s\n' "$head" >none.csv
run plan none.csv
silent "no rows"
ok "a header alone" [ "$(wc -l <out)" -eq 1 ]

# ---- the machine ----
run plan --top=1 --gpus=32 --gpu-type=A100-80GB small.csv
columns 'gpu_type gpus' >got && mv got out
is_out "--gpus and --gpu-type" <<EOF
gpu_type gpus
A100-80GB 32
EOF
plan --top=2 --gpus=32 --gpu-type=A100-80GB small.csv >want
run plan --top=2 -l 8@300GB/s -l 4@25GB/s --gpu-type=A100-80GB small.csv
same_file out want "levels say the same"
run plan --top=2 -l 8@300GB/s -l 2@100GB/s -l 2@25GB/s --gpu-type=A100-80GB small.csv
same_file out want "of outer levels the slowest counts"
run plan --top=2 -l 8@300GB/s -l 2@25GB/s --gpus=32 --gpu-type=A100-80GB small.csv
same_file out want "--gpus before the levels"
# iteration ARGS...: seconds of the best plan of the small model, in microseconds
iteration() { plan --top=1 "$@" small.csv | columns iteration_s - | sed 1d | awk '{ printf "%d", $1 * 1e6 }'; }
ok "one server needs no network" [ "$(iteration --gpu-type=A100-80GB -l 8@300GB/s)" -eq \
	"$(iteration --gpu-type=A100-80GB -l 8@300GB/s -l 1@1kB/s)" ]
ok "a slow network is slower" [ "$(iteration --gpu-type=A100-80GB -l 8@300GB/s -l 4@25GB/s)" -lt \
	"$(iteration --gpu-type=A100-80GB -l 8@300GB/s -l 4@1GB/s)" ]
ok "an H100 is faster" [ "$(iteration --gpu-type=H100 --gpus=32)" -lt "$(iteration --gpu-type=A100-80GB --gpus=32)" ]
ok "fp32 is slower" [ "$(iteration --gpu-type=A100-80GB --gpus=32)" -lt \
	"$(iteration --gpu-type=A100-80GB --gpus=32 --precision=fp32)" ]
ok "fewer features are slower" [ "$(iteration --gpu-type=A100-80GB --gpus=32)" -lt \
	"$(iteration --gpu-type=A100-80GB --gpus=32 --features=none)" ]
run plan --gpu-type=V100-16GB --gpus=32 -v --top=1 -o /dev/null small.csv
is_err "-v says what was not measured" <<EOF
gv-partition: the shares that a V100-16GB reaches were not measured
EOF
sed 's/^A100-80GB,[0-9]*/mine,1e12/' "$src/share/gpus.csv" >mine.csv
run plan --gpu-types=mine.csv --gpu-type=mine --gpus=1 --recompute=none --top=1 small.csv
columns 'gpu_type tensor_parallel' >got && mv got out
is_out "--gpu-types" <<EOF
gpu_type tensor_parallel
mine 1
EOF

# devices as gv-profile names them
for name in V100-16GB=v100-sxm2-16gb V100-32GB=v100-sxm2-32gb P100=p100-sxm2-16gb T4=t4 A100-40GB=a100-sxm4-40gb \
	A100-80GB=a100-sxm4-80gb A100-40GB=a100-pcie-40gb H100=h100-80gb-hbm3 H100=h100 H200=h200 B200=b200 H100=h100-pcie \
	A100-40GB=a100 L40S=L40s; do
	plan --gpus=32 --top=1 --gpu-type="${name%=*}" small.csv 2>&1 | cut -d, -f9- >a
	plan --gpus=32 --top=1 --gpu-type="${name#*=}" small.csv 2>&1 | cut -d, -f9- >b
	if cmp -s a b; then echo "${name#*=} is ${name%=*}"; else echo "${name#*=} is not ${name%=*}"; fi
done >out
is_out "names of gv-profile" <<EOF
v100-sxm2-16gb is V100-16GB
v100-sxm2-32gb is V100-32GB
p100-sxm2-16gb is P100
t4 is T4
a100-sxm4-40gb is A100-40GB
a100-sxm4-80gb is A100-80GB
a100-pcie-40gb is not A100-40GB
h100-80gb-hbm3 is H100
h100 is H100
h200 is H200
b200 is B200
h100-pcie is not H100
a100 is not A100-40GB
L40s is L40S
EOF
run plan --gpus=32 --top=1 --gpu-type=h100-80gb-hbm3 small.csv
columns gpu_type >got && mv got out
is_out "and as they were asked for" <<EOF
gpu_type
h100-80gb-hbm3
EOF

# ---- what is looked for ----
for how in none selective full; do
	plan --gpus=32 --gpu-type=A100-80GB --features=none --recompute=$how small.csv | columns recompute - | sed 1d | uniq
done >out
is_out "--recompute" <<EOF
none
selective
full
EOF
plan --gpus=32 --gpu-type=A100-80GB --recompute=auto small.csv >want
run plan --gpus=32 --gpu-type=A100-80GB small.csv
same_file out want "auto: any"
for how in flush interleaved gpipe zb-h1; do
	plan --gpus=32 --gpu-type=A100-80GB --schedule=$how --top=0 small.csv | columns schedule - | sed 1d | uniq
done >out
is_out "--schedule" <<EOF
flush
interleaved
gpipe
zb-h1
EOF
# pinned COLUMN VALUE: a plan column in the table
pinned() {
	sed "1s/\$/,gpus,gpu_type,$1/; 2s/\$/,32,A100-80GB,$2/" small.csv >pin.csv
	plan --top=0 pin.csv | columns "$1" - | sed 1d | sort -u
}
for pin in tensor_parallel=4 pipeline_parallel=2 data_parallel=8 virtual_stages=3 micro_batch=8 recompute=full last_stage_layers=6 \
	schedule=interleaved; do
	ran="gv-partition of a table with $pin"
	ok "only $pin" [ "$(pinned "${pin%=*}" "${pin#*=}")" = "${pin#*=}" ]
done
sed 's/,24,/,61,/' small.csv >prime.csv
plan --gpus=32 --gpu-type=A100-80GB --top=0 prime.csv | columns 'pipeline_parallel last_stage_layers virtual_stages' - |
	awk 'NR > 1 && !seen[$1]++' | sort -n >out
is_out "61 layers: fewer on the last stage" <<EOF
1 61 1
2 30 1
4 13 1
8 5 1
16 1 1
EOF
run plan --gpus=32 --gpu-type=A100-80GB --top=0 --features=overlap prime.csv
columns pipeline_parallel <out | sed 1d | sort -u >got && mv got out
is_out "unless the program cannot" <<EOF
1
EOF
sed "1s/\$/,tied_embeddings,ffn_hidden_size/; 2s/\$/,0,9000/" small.csv >wide.csv
run plan --top=1 --gpus=32 --gpu-type=A100-80GB wide.csv
columns parameters >got && mv got out
is_out "own output weights, another width" <<EOF
parameters
$((24 * (4 * 2304 * 2304 + 2 * 2304 * 9000 + 9 * 2304 + 9000) + 2 * 51200 * 2304 + 2048 * 2304 + 2 * 2304))
EOF

# ---- no plan ----
printf '%s\n175B,96,12288,96,2048,51200,1536\n' "$head" >large.csv
run plan --gpus=8 --gpu-type=A100-80GB large.csv
is_status 1 "too large: status"
is_err "too large" <<EOF
gv-partition: large.csv:2: "175B": no plan fits: the smallest, t=8 p=1 d=1 v=1 b=1 recompute=full, needs 369 GiB on each GPU, 295 GiB too much
EOF
ok "and only the header" [ "$(wc -l <out)" -eq 1 ]
run plan --gpus=8 --gpu-type=A100-80GB --evaluate --top=1 large.csv
is_status 1 "--evaluate says so too: status"
ok "but costs it" [ "$(wc -l <out)" -eq 2 ]
run plan --gpus=8 --gpu-type=A100-80GB -m 400GB --top=1 large.csv
silent "-m"
run plan --gpus=97 --gpu-type=A100-80GB large.csv
is_status 0 "no divisor: status"
is_err "no divisor: the largest part" <<EOF
gv-partition: large.csv:2: "175B": planned for 96: nothing divides 97 GPUs, 96 layers, 96 heads and a batch of 1536 as it has to
EOF
columns gpus <out | sed 1d | uniq >got
plan --gpus=96 --gpu-type=A100-80GB large.csv >want
same_file out want "what 96 GPUs do"
echo 96 >want
same_file got want "and the table says so"
run plan -q --gpus=97 --gpu-type=A100-80GB large.csv
silent "-q does not"
sed '1s/$/,tensor_parallel,pipeline_parallel,data_parallel/; 2s/$/,8,8,2/' large.csv >pinned.csv
run plan --gpus=97 --gpu-type=A100-80GB pinned.csv
is_status 1 "a plan for more GPUs: status"
is_err "a plan for more GPUs" <<EOF
gv-partition: pinned.csv:2: "175B": no plan: nothing divides 97 GPUs, 96 layers, 96 heads and a batch of 1536 as it has to
EOF
run plan --evaluate --gpus=130 --gpu-type=A100-80GB pinned.csv
is_status 1 "a plan for fewer GPUs is no plan for all: status"

# ---- models of today ----
cp "$src/share/transformers.csv" today.csv
run plan --gpu-type=H100 --gpus=1024 --top=1 today.csv
silent "the shipped models"
columns 'model parameters' >got && mv got out
is_out "have as many parameters as their publishers say" <<EOF
model parameters
gpt-2 124439808
gpt-3-175b 174615846912
llama-2-7b 6738415616
llama-2-70b 68976648192
llama-3-8b 8030261248
llama-3-70b 70553706496
llama-3.1-405b 405853388800
gemma-7b 8537680896
mixtral-8x7b 46702792704
mixtral-8x22b 140620634112
qwen3-8b 8190735360
qwen3-32b 32762123264
qwen3-30b-a3b 30532122624
qwen3-235b-a22b 235093634560
EOF
ok "each with a source" awk -F, '$NF == "" { exit 1 }' today.csv
{ head -n 1 today.csv && grep '^qwen3-8b,' today.csv; } >qwen.csv
run plan --gpu-type=H100 --gpus=8 --top=1 --export=megatron qwen.csv
out_has " --normalization RMSNorm --qk-layernorm " "norms of queries and keys are exported"
plan --gpu-type=H100 --gpus=1024 --top=0 today.csv >all
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ t = $at["tensor_parallel"]; c = $at["context_parallel"]; d = $at["data_parallel"]; e = $at["expert_parallel"]
	  if (t * c * d * $at["pipeline_parallel"] != $at["gpus"]) print "gpus"
	  if ($at["kv_heads"] % t) print "heads"
	  if (c > 1 && ($at["seq_len"] < 8192 || $at["seq_len"] % (2 * c))) print "sequence"
	  if (e > 1 && ($at["experts"] % e || c * d % e)) print "experts"
	  if (c > 1) parts++; if (e > 1) shared++ } END { print (parts > 100), (shared > 100) }' all >out
is_out "degrees multiply to the GPUs and divide heads, sequences, experts" <<EOF
1 1
EOF
sed -n '1p; /^mixtral-8x7b/p' today.csv >mixtral.csv
sed -n '1p; /^llama-3-70b/p' today.csv >llama.csv
for without in context expert; do
	all=scatter-gather,sequence-parallel,flash-attention,distributed-optimizer,overlap,short-last-stage
	[ $without = context ] && other=expert || other=context
	plan --features="$all,$other-parallel" --gpu-type=H100 --gpus=64 --top=0 mixtral.csv |
		columns "${without}_parallel" - | sort -u
done | paste -s -d ' ' - >out
is_out "not where the program cannot" <<EOF
1 context_parallel 1 expert_parallel
EOF
# NVIDIA's Megatron-Bridge: 64 H100s train it in bf16 with t = 4, p = 4, c = 2 and a batch of 256
sed 's/,8192,1024,/,8192,256,/' llama.csv >recipe.csv
run plan --gpu-type=H100 --gpus=64 --top=1 recipe.csv
columns 'tensor_parallel context_parallel pipeline_parallel' >got && mv got out
is_out "a published recipe is found" <<EOF
tensor_parallel context_parallel pipeline_parallel
4 2 4
EOF

# what replicas split
sed 's/,8192,1024,/,8192,256,/; 1s/$/,tensor_parallel,pipeline_parallel,micro_batch,context_parallel,recompute/; 2s/$/,1,1,1,1,full/' \
	llama.csv >zero.csv
for stage in 0 1 2 3 auto; do
	plan --gpu-type=H100 --gpus=64 --zero=$stage --top=1 --evaluate zero.csv 2>/dev/null |
		columns 'zero_stage memory_bytes data_share' - | sed 1d | awk '{ print $1, int($2 / 1e9), ($3 > 0.01) }'
done >out
is_out "--zero: less memory, more communication" <<EOF
0 1289 0
1 456 0
2 181 0
3 46 0
3 46 0
EOF
for stage in 0 1; do
	plan --gpu-type=H100 --gpus=64 --zero=$stage --top=1 --evaluate zero.csv 2>/dev/null |
		columns 'data_parallel iteration_s optimizer_share' - | sed 1d
done >both
ok "an optimiser that is split takes that part of the time" \
	awk '{ s[NR] = $2 * $3; d = $1 } END { exit !(d > 1 && s[1] > 0 && s[1] / s[2] > .999 * d && s[1] / s[2] < 1.001 * d) }' both
run plan --gpu-type=H100 --gpus=64 --top=1 zero.csv
is_status 1 "a model that fits only so: status"
run plan --gpu-type=H100 --gpus=64 --zero=auto --top=1 zero.csv
columns zero_stage >got && mv got out
is_out "--zero=auto takes what fits" <<EOF
zero_stage
3
EOF
sed '1s/$/,zero_stage/; 2s/$/,3/' zero.csv >three.csv
plan --gpu-type=H100 --gpus=64 --zero=1 three.csv | columns zero_stage - | sort -u | paste -s -d ' ' - >out
is_out "the table before the option" <<EOF
3 zero_stage
EOF
run plan --gpu-type=H100 --gpus=64 --zero=3 --top=0 llama.csv
columns pipeline_parallel <out | sed 1d | sort -u >got && mv got out
is_out "stages 2 and 3 have no pipeline" <<EOF
1
EOF
plan --gpu-type=H100 --gpus=64 --features=overlap --top=1 today.csv 2>/dev/null | columns zero_stage - | sort -u | paste -s -d ' ' - >out
is_out "without a distributed optimiser nothing is split" <<EOF
0 zero_stage
EOF

# ---- messages ----
refused "no GPUs" 'small.csv:2: "1.7B": how many GPUs? --gpus=N' --gpu-type=H100 small.csv
refused "no type" 'small.csv:2: "1.7B": which GPUs? --gpu-type=TYPE' --gpus=8 small.csv
cut -d, -f2- small.csv >nameless.csv
refused "no type, no model" 'nameless.csv:2: which GPUs? --gpu-type=TYPE' --gpus=8 nameless.csv
refused "unknown type" 'small.csv:2: "1.7B": unknown GPU type "A100"; known: P100, V100-16GB, V100-32GB, T4, A100-40GB, A100-80GB, A10G, L4, L40S, H100, H200, B200' \
	--gpus=8 --gpu-type=A100 small.csv
types=$src/share/gpus.csv
awk -F, -v OFS=, '/^H100/ { $4 = $5 = $6 = "" } 1' "$types" >none.csv
refused "no numbers at all" 'small.csv:2: "1.7B": a H100 has no fp32' --gpus=8 --gpu-type=H100 --gpu-types=none.csv small.csv
awk -F, -v OFS=, 'NR == 1 { print } sub(/^H100/, "H100-SXM") { print; sub(/SXM/, "HBM3"); print }' "$types" >two.types.csv
refused "two types with as many of the words" 'small.csv:2: "1.7B": unknown GPU type "H100-SXM-HBM3"; known: H100-SXM, H100-HBM3' \
	--gpus=8 --gpu-type=H100-SXM-HBM3 --gpu-types=two.types.csv small.csv
refused "a word too many" 'small.csv:2: "1.7B": unknown GPU type "T4-fast"; known: P100, V100-16GB, V100-32GB, T4, A100-40GB, A100-80GB, A10G, L4, L40S, H100, H200, B200' \
	--gpus=8 --gpu-type=T4-fast small.csv
plan --gpus=8 --gpu-type=H100 --top=1 small.csv | columns iteration_s - >want
run plan --gpus=8 --gpu-type=-H100-1GB-2GB-3GB-4GB-5GB-6GB-7GB-8GB-9GB-10GB-11GB-12GB-13GB-14GB-15GB-16GB-17GB --top=1 small.csv
columns iteration_s >got && mv got out
same_file out want "a name of many words"
sed '/^H100,/s/,[0-9]*/,0/' "$types" >nothing.csv
refused "no memory" "nothing.csv:$(grep -n '^H100,' "$types" | cut -d: -f1): memory_bytes: expected a number over 0 and up to 1e+18, got \"0\"" \
	--gpus=8 --gpu-type=H100 --gpu-types=nothing.csv small.csv
refused "other types" "$src/examples/man/layers.csv:1: this is a table of layers; expected a table of GPU types (gpu_type, memory_bytes_per_s)" \
	--gpus=8 --gpu-type=H100 --gpu-types="$src/examples/man/layers.csv" small.csv
refused "no file of types" 'no.csv: cannot open: No such file or directory' --gpus=8 --gpu-type=H100 --gpu-types=no.csv small.csv
refused "a full disk" '/dev/full: cannot write: No space left on device' --gpus=8 --gpu-type=H100 -o /dev/full small.csv
refused "no folder" 'no/x: cannot create: No such file or directory' --gpus=8 --gpu-type=H100 -o no/x small.csv
refused "no such numbers" 'small.csv:2: "1.7B": a T4 has no bf16' --gpus=8 --gpu-type=T4 --precision=bf16 small.csv
sed 's/2304/2300/' small.csv >odd.csv
column() { sed "1s/\$/,$1/; 2s/\$/,$2/" small.csv >odd.csv; }
column kv_heads 5
refused "kv heads" 'odd.csv:2: kv_heads: expected a part of the 24 attention heads, got 5' odd.csv
column experts_per_token 2
refused "a choice of no experts" 'odd.csv:2: experts_per_token: expected a number of the 0 experts, got 2' odd.csv
column experts,experts_per_token 8,9
refused "more than there are" 'odd.csv:2: experts_per_token: expected a number of the 8 experts, got 9' odd.csv
column experts,experts_per_token 8,8
run plan --gpus=8 --gpu-type=A100-80GB odd.csv
is_status 0 "all there are"
column shared_ffn_hidden_size 9
refused "beside nothing" 'odd.csv:2: shared_ffn_hidden_size: a part for all tokens is beside experts, of which there are none' odd.csv
column norm batchnorm
refused "norm" 'odd.csv:2: norm: expected one of layernorm, rmsnorm, got "batchnorm"' odd.csv
column positions sine
refused "positions" 'odd.csv:2: positions: expected one of learned, rotary, got "sine"' odd.csv
column zero_stage 4
refused "zero" 'odd.csv:2: zero_stage: expected a whole number from 0 to 3, got "4"' odd.csv
bad "zero" '--zero: unknown "4"; known: 0, 1, 2, 3, auto' --zero=4 small.csv
sed 's/2304/2300/' small.csv >odd.csv
refused "heads" 'odd.csv:2: hidden_size: expected a multiple of the 24 attention heads, got 2300' odd.csv
sed 's/,24,/,0,/' small.csv >odd.csv
refused "layers" 'odd.csv:2: layers: expected a whole number from 1 to 100000, got "0"' odd.csv
sed '1s/$/,tied_embeddings/; 2s/$/,2/' small.csv >odd.csv
refused "tied" 'odd.csv:2: tied_embeddings: expected a whole number from 0 to 1, got "2"' odd.csv
sed 's/,512$/,/' small.csv >odd.csv
refused "no batch" 'odd.csv:2: global_batch: expected an integer, got nothing' odd.csv
sed '1s/$/,recompute/; 2s/$/,some/' small.csv >odd.csv
refused "recompute" 'odd.csv:2: recompute: expected one of none, selective, full, got "some"' odd.csv
sed '1s/$/,schedule/; 2s/$/,1f1b/' small.csv >odd.csv
refused "schedule" 'odd.csv:2: schedule: expected one of flush, interleaved, gpipe, zb-h1, got "1f1b"' odd.csv
cut -d, -f1-5 small.csv >odd.csv
refused "missing column" 'odd.csv:1: missing column "vocab" (found: model, layers, hidden_size, attention_heads, seq_len)' odd.csv
sed 2q "$src/share/gpus.csv" | sed '2{p;}' >types.csv
refused "a type twice" 'types.csv:3: gpu_type: GPU type "P100" stands at line 2 already' --gpu-types=types.csv small.csv
sed 2q "$src/share/gpus.csv" | sed 's/0\.8/1.5/' >types.csv
refused "a share over 1" 'types.csv:2: memory_share: expected a number over 0 and up to 1, got "1.544"' --gpu-types=types.csv \
	small.csv
sed 2q "$src/share/gpus.csv" | sed 's/,0\.8,/,1.8,/' >types.csv
refused "the other share over 1" 'types.csv:2: link_share: expected a number over 0 and up to 1, got "1.8"' --gpu-types=types.csv \
	small.csv
sed 2q "$src/share/gpus.csv" | sed 's/,8,/,2.5,/' >types.csv
refused "half a GPU" 'types.csv:2: node_gpus: expected a whole number, got 2.5' --gpu-types=types.csv small.csv
cut -d, -f1-2 "$src/share/gpus.csv" | sed 2q >types.csv
refused "no rate" 'types.csv:1: missing column "memory_bytes_per_s" (found: gpu_type, memory_bytes)' --gpu-types=types.csv small.csv
bad "features" '--features: unknown "speed"; known: scatter-gather, sequence-parallel, flash-attention, distributed-optimizer, overlap, short-last-stage, context-parallel, expert-parallel' \
	--features=overlap,speed small.csv
bad "precision" '--precision: unknown "int8"; known: bf16, fp16, fp32' --precision=int8 small.csv
bad "schedule" '--schedule: unknown "1f1b"; known: flush, interleaved, gpipe, zb-h1' --schedule=1f1b small.csv
bad "recompute" '--recompute: unknown "x"; known: none, selective, full, auto' --recompute=x small.csv
bad "gpus" '--gpus: expected a whole number from 1 to 1000000, got "0"' --gpus=0 small.csv
bad "top" '--top: expected a whole number from 0 to 1000000, got "x"' --top=x small.csv
bad "levels" '--level: more than 1000000 GPUs' -l 4096@1GB/s -l 4096@1GB/s small.csv

bad "edges" '--edges is not for --planner=ptd-p' -e edges.csv small.csv
bad "micro-batches" '--micro-batches is not for --planner=ptd-p' --micro-batches=4 small.csv
bad "chunks" '--chunks is not for --planner=ptd-p' --chunks=4 small.csv
bad "straight" '--straight is not for --planner=ptd-p' --straight small.csv
bad "all GPUs" '--all-gpus is not for --planner=ptd-p' --all-gpus small.csv
bad "fewest GPUs" '--fewest-gpus is not for --planner=ptd-p' --fewest-gpus small.csv
bad "explain" '--explain is not for --planner=ptd-p' --explain small.csv
bad "timeline" '--timeline is not for --planner=ptd-p' --timeline small.csv
bad "compare" '--compare is not for --planner=ptd-p' --compare=best small.csv
bad "another export" '--export but to megatron is not for --planner=ptd-p' --export=torch small.csv
bad "batch" '--batch is not for --planner=ptd-p' --batch=4 small.csv
bad "speeds" '--speeds is not for --planner=ptd-p' --speeds=x small.csv
usage='usage: gv-partition -l N@BANDWIDTH... [OPTION...] [LAYERS]' planner=
bad "planner" '--planner: unknown "x"; known: pipedream, 2bw, ptd-p' -p x small.csv
for option in --gpu-type=H100 --gpu-types=x --precision=bf16 --features=none --zero=1 --batch=3 --speeds=x; do
	bad "${option%=*}" "${option%=*} is not for --planner=pipedream" $option -l 2@1GB/s layers.csv
done
planner="-p ptd-p"

# ---- for Megatron-LM ----
run plan --export=megatron --top=1 two.csv
is_out "its options" <<EOF
--tensor-model-parallel-size 1 --pipeline-model-parallel-size 1 --micro-batch-size 8 --global-batch-size 512 --num-layers 24 --hidden-size 2304 --ffn-hidden-size 9216 --num-attention-heads 24 --seq-length 2048 --max-position-embeddings 2048 --bf16 --use-flash-attn --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather
--tensor-model-parallel-size 4 --pipeline-model-parallel-size 8 --num-layers-per-virtual-pipeline-stage 1 --micro-batch-size 2 --global-batch-size 2304 --num-layers 80 --hidden-size 12288 --ffn-hidden-size 49152 --num-attention-heads 96 --seq-length 2048 --max-position-embeddings 2048 --bf16 --sequence-parallel --use-flash-attn --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather
EOF
run plan --export=megatron --top=1 --features=none --recompute=selective --precision=fp16 --gpus=32 --gpu-type=A100-80GB wide.csv
is_out "without features" <<EOF
--tensor-model-parallel-size 1 --pipeline-model-parallel-size 1 --micro-batch-size 8 --global-batch-size 512 --recompute-granularity selective --num-layers 24 --hidden-size 2304 --ffn-hidden-size 9000 --num-attention-heads 24 --seq-length 2048 --max-position-embeddings 2048 --untie-embeddings-and-output-weights --fp16 --no-scatter-gather-tensors-in-pipeline
EOF
for how in full none; do
	plan --export=megatron --top=1 --features=overlap --recompute=$how --precision=fp32 --gpus=32 --gpu-type=A100-80GB small.csv
done >out
is_out "full recomputation" <<EOF
--tensor-model-parallel-size 1 --pipeline-model-parallel-size 1 --micro-batch-size 16 --global-batch-size 512 --recompute-granularity full --recompute-method uniform --recompute-num-layers 1 --num-layers 24 --hidden-size 2304 --ffn-hidden-size 9216 --num-attention-heads 24 --seq-length 2048 --max-position-embeddings 2048 --no-scatter-gather-tensors-in-pipeline --overlap-grad-reduce
--tensor-model-parallel-size 1 --pipeline-model-parallel-size 1 --micro-batch-size 1 --global-batch-size 512 --num-layers 24 --hidden-size 2304 --ffn-hidden-size 9216 --num-attention-heads 24 --seq-length 2048 --max-position-embeddings 2048 --no-scatter-gather-tensors-in-pipeline --overlap-grad-reduce
EOF
sed '1s/$/,pipeline_parallel/; 2s/$/,8/' prime.csv >eight.csv
run plan --export=megatron --top=1 --gpus=8 --gpu-type=A100-80GB eight.csv
out_has " --decoder-last-pipeline-num-layers 5 --micro-batch-size " "a shorter last stage"
sed 's/,61,/,62,/; 1s/$/,virtual_stages/; 2s/$/,2/' eight.csv >chunks.csv
run plan --export=megatron --top=1 --gpus=8 --gpu-type=A100-80GB chunks.csv
out_has " --decoder-last-pipeline-num-layers 6 --num-virtual-stages-per-pipeline-rank 2 --micro-batch-size " \
	"a shorter last stage, interleaved"
for flags in '8,2,1408,5632,1,4,2,2,1,4,1' ',,,,0,2,1,1,1,1,3' ',,,,0,2,1,1,1,1,2'; do
	echo "$flags" | sed 's/^/m,24,2048,16,4,256,32768,16384,512,64,H100,rmsnorm,rotary,0,/; s/$/,1/' >row
	{ echo "model,layers,hidden_size,attention_heads,kv_heads,head_size,vocab,seq_len,global_batch,gpus,gpu_type,norm,positions,biases,experts,experts_per_token,ffn_hidden_size,shared_ffn_hidden_size,gated_ffn,tensor_parallel,context_parallel,pipeline_parallel,micro_batch,expert_parallel,zero_stage,virtual_stages" && cat row; } >flags.csv
	plan --export=megatron --top=1 --evaluate --recompute=none flags.csv 2>err
done >out
is_out "options for models of today" <<EOF
--tensor-model-parallel-size 4 --pipeline-model-parallel-size 2 --context-parallel-size 2 --micro-batch-size 1 --global-batch-size 512 --num-layers 24 --hidden-size 2048 --ffn-hidden-size 1408 --num-attention-heads 16 --seq-length 16384 --max-position-embeddings 16384 --group-query-attention --num-query-groups 4 --kv-channels 256 --swiglu --normalization RMSNorm --disable-bias-linear --position-embedding-type rope --bf16 --num-experts 8 --moe-router-topk 2 --moe-ffn-hidden-size 1408 --moe-shared-expert-intermediate-size 5632 --moe-grouped-gemm --moe-token-dispatcher-type alltoall --expert-model-parallel-size 4 --expert-tensor-parallel-size 4 --sequence-parallel --use-flash-attn --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather
--tensor-model-parallel-size 2 --pipeline-model-parallel-size 1 --micro-batch-size 1 --global-batch-size 512 --num-layers 24 --hidden-size 2048 --ffn-hidden-size 8192 --num-attention-heads 16 --seq-length 16384 --max-position-embeddings 16384 --group-query-attention --num-query-groups 4 --kv-channels 256 --normalization RMSNorm --disable-bias-linear --position-embedding-type rope --bf16 --sequence-parallel --use-flash-attn --use-distributed-optimizer --use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params --no-gradient-accumulation-fusion --ckpt-format fsdp_dtensor --overlap-grad-reduce --overlap-param-gather
--tensor-model-parallel-size 2 --pipeline-model-parallel-size 1 --micro-batch-size 1 --global-batch-size 512 --num-layers 24 --hidden-size 2048 --ffn-hidden-size 8192 --num-attention-heads 16 --seq-length 16384 --max-position-embeddings 16384 --group-query-attention --num-query-groups 4 --kv-channels 256 --normalization RMSNorm --disable-bias-linear --position-embedding-type rope --bf16 --sequence-parallel --use-flash-attn --use-distributed-optimizer --use-megatron-fsdp --data-parallel-sharding-strategy optim_grads --no-gradient-accumulation-fusion --ckpt-format fsdp_dtensor --overlap-grad-reduce --overlap-param-gather
EOF
run plan --export=megatron --top=1 --schedule=gpipe two.csv
is_status 2 "no gpipe: status"
is_err "no gpipe" <<EOF
gv-partition: two.csv:2: "1.7B": Megatron-LM has no schedule gpipe
gv-partition: two.csv:3: "145B": Megatron-LM has no schedule gpipe
EOF

# ---- published runs ----
# tell NAME LIMIT: the lines of got as comments, the worst of them within the limit
tell() {
	sed '/^worst/d; s/^/# /' got
	ran="$1"
	ok "$1: at most $2" awk -v limit="$2" '/^worst/ { n++; bad = $2 > limit } END { exit !n || bad }' got
}
# fitted FIT TYPES: the shares of the fit's last row are those of the type
fitted() {
	tail -n 1 "$1" | awk -F, 'NR == FNR { a[$1] = $10; b[$1] = $11; next }
		{ n++; if ($10 - a[$1] > 0.002 || a[$1] - $10 > 0.002 || $11 - b[$1] > 0.002 || b[$1] - $11 > 0.002) bad = 1 }
		END { exit n != 1 || bad }' "$2" -
}
published() { "$GV_PYTHON" "$src/tests/gv-partition-published.py" "$@"; }
data=$shared/data/pipedream
if [ -z "${GV_PYTHON:-}" ]; then
	skip "no python3"
elif [ ! -d "$data" ]; then
	skip "no shared data"
else
	old='--gpu-type=A100-80GB --precision=fp16 --features=scatter-gather'
	# shellcheck disable=SC2086
	for table in a100 table2 zero3 korthikanti dgx h100 llama3; do
		case $table in
		a100) limit=0.04 set -- $old --evaluate ;;
		table2) limit=0.04 set -- $old --evaluate --schedule=flush ;;
		zero3) limit=2.15 set -- --gpu-type=A100-80GB --precision=fp16 --features=none --zero=3 --evaluate ;;
		korthikanti) limit=0.1 set -- --gpu-type=A100-80GB --precision=fp16 --features=sequence-parallel --evaluate ;;
		dgx) limit=0.12 set -- --gpu-type=A100-80GB --precision=fp16 --features=none --evaluate ;;
		llama3) limit=0.16 set -- --gpu-type=H100 --evaluate ;;
		h100) limit=0.06 set -- --gpu-type=H100 ;;
		esac
		published $table "$data" >$table.csv
		plan --top=1 "$@" $table.csv 2>err | published $table "$data" errors >got
		tell "$table: errors" $limit
	done
	# shellcheck disable=SC2086
	published a100 "$data" free | plan --top=0 $old - | published a100 "$data" ranks >got
	tell "a100: the published degrees among all" 3
	published h100 "$data" free | plan --top=0 --gpu-type=H100 - | published h100 "$data" ranks >got
	tell "h100: the published degrees among all" 3
	if "$GV_PYTHON" -c 'import scipy' 2>/dev/null; then
		# shellcheck disable=SC2086
		"$GV_PYTHON" "$src/examples/calibrate/calibrate.py" A100-80GB a100.csv $old >fit-a100
		"$GV_PYTHON" "$src/examples/calibrate/calibrate.py" H100 h100.csv >fit-h100
		for table in a100 h100; do
			sed '/^$/,$d; s/^/# /' fit-$table
			ran="calibrate.py $table" status=0
			ok "$table: the shipped shares are the fitted ones" fitted fit-$table "$src/share/gpus.csv"
			ok "$table: a row left out is within 0.1" awk -F, '/^worst/ { n++; bad = $3 > 0.1 } END { exit !n || bad }' \
				fit-$table
		done
		# runs that our own model makes up: their shares come back
		sed 's/^\(H100,.*\),0\.[0-9]*,0\.[0-9]*,0\.8,/\1,0.5,0.7,0.8,/' "$src/share/gpus.csv" >known.csv
		plan --top=1 --gpu-type=H100 --gpu-types=known.csv h100.csv |
			sed '1s/iteration_s/measured_iteration_s/; 1s/measured_model_flops_per_s/was/' >known-runs.csv
		"$GV_PYTHON" "$src/examples/calibrate/calibrate.py" H100 known-runs.csv >fit 2>err
		ran="calibrate.py of made-up runs" status=$?
		ok "shares that are known are found" fitted fit known.csv
		grep '^worst' fit >out
		is_out "without error" <<EOF
worst,0.000,0.000
EOF
	else
		skip "no scipy"
	fi
fi

done_testing

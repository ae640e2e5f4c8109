#!/bin/sh
# gv-partition --export: plans as other programs take them, read back by those or by
# what is as independent; --compare: two plans beside each other.
. "${0%/*}/lib.sh"

cp "$src/examples/man/layers.csv" "$src/examples/man/edges.csv" .
usage='usage: gv-partition -l N@BANDWIDTH... [OPTION...] [LAYERS]'
# to PROGRAM OPTION...: the plan of layers.csv
to() {
	program=$1
	shift
	run gv-partition -l 4@10Gb/s -e edges.csv --export="$program" "$@" layers.csv
}
# no NAME MESSAGE ARGS...: a plan that cannot be written so
no() {
	no_name=$1 no_message=$2
	shift 2
	run gv-partition "$@"
	is_status 2 "$no_name: status"
	is_err "$no_name" <<EOT
gv-partition: $no_message
EOT
	ok "$no_name: nothing is written" [ ! -s out ]
}

# ---- the formats, by hand ----
to pipedream
silent "pipedream"
is_out "pipedream: 3 replicas and 1" <<'EOT'
{
  "module_to_stage_map": [0, 1, 1],
  "stage_to_rank_map": {
    "0": [0, 1, 2],
    "1": [3]
  },
  "stage_to_depth_map": {
    "0": 1,
    "1": 0
  }
}
EOT
to alpa
silent "alpa"
is_out "alpa: one host" <<'EOT'
ManualStageOption(forward_stage_layer_ids=[[0, 1, 2, 3, 4, 5], [6, 7]], submesh_physical_shapes=[(1, 3), (1, 1)], submesh_logical_shapes=[(3, 1), (1, 1)], submesh_autosharding_option_dicts=[{}, {}])
EOT
run gv-partition -l 2@25GB/s -l 2@10Gb/s --all-gpus -e edges.csv --export=alpa layers.csv
silent "alpa, two hosts"
to deepspeed --straight
silent "deepspeed"
is_out "deepspeed: no method yields these parts" <<'EOT'
{
  "num_stages": 2,
  "data_parallel_size": 1,
  "parts": [0, 5, 8],
  "partition_method": null
}
EOT
cat >kinds.csv <<'EOT'
layer,node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes
Block(8),a,3,6,1e8,10
Norm,b,.1,.2,1e8,10
Norm,c,.1,.2,10,10
Block 8,d,3,6,10,10
EOT
for columns in 1,2,3 2,1,3; do
	awk -F, -v OFS=, -v order="$columns" '{ split(order, c); print $c[1], $c[2], $3, $4, $5, $6 }' kinds.csv >turned.csv
	run gv-partition -l 2@10Gb/s --straight --export=deepspeed turned.csv
	out_has '"partition_method": "type:Block"' "deepspeed: each part begins at a layer of a kind, columns $columns"
done
to torch --straight --schedule=gpipe --micro-batches=2
silent "torch"
is_out "torch: names of modules" <<'EOT'
{
  "split_points": ["pool"],
  "module_fqns_per_model_part": [
    ["conv1", "conv2a", "conv2b", "add", "conv3"],
    ["pool", "fc1", "fc2"]
  ],
  "pipeline_parallel_degree": 2,
  "data_parallel_degree": 1,
  "schedule": "GPipe"
}
EOT
# a module that is called three times, as gv_layers.py writes it, and a name that only looks like it
awk 'BEGIN { print "node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes"
	n = split("a relu b relu#2 c relu#3 d#2", name, " ")
	for (i = 1; i <= n; i++) print name[i] "," (i == 7 ? 20 : i % 2 ? 10 : 1) ",1,1000,1000" }' >calls.csv
run gv-partition -l 2@100GB/s --straight --all-gpus --export=torch calls.csv
silent "torch: calls"
sed -n '/"split_points"/p; /"module_fqns/,/^  \]/p' out >got && mv got out
is_out "torch: calls are modules, each once in a stage" <<'EOT'
  "split_points": ["c"],
  "module_fqns_per_model_part": [
    ["a", "relu", "b"],
    ["c", "relu", "d#2"]
  ],
EOT
gv-partition -l 2@100GB/s --straight --all-gpus calls.csv | awk -F, -v OFS=, '/^relu#2/ { $6 = 1 } 1' >cut.csv
no "torch: a stage that begins at one of several calls" \
	'--export=torch: stage 1 begins at a call of "relu", which is called several times; torch would cut at each' \
	--evaluate -l 2@100GB/s --export=torch cut.csv
to torch-schedule --straight --schedule=gpipe --micro-batches=2 -o schedule.csv
silent "torch-schedule, -o"
cp schedule.csv out
is_out "torch-schedule: passes in order" <<'EOT'
0F0,0F1,0B0,0B1
1F0,1F1,1B0,1B1
EOT
printf 'node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes\na,10,20,1,1\nb,10,20,1,1\n' >two.csv
run gv-partition -l 4@100GB/s --all-gpus --schedule=gpipe --micro-batches=8 --export=torch-schedule two.csv
cp out four
run gv-partition -l 1@100GB/s --schedule=gpipe --micro-batches=2 --export=torch-schedule two.csv
same_file out four "four pipelines of one stage have two micro-batches each"
to megatron --straight
silent "megatron"
is_out "megatron" <<'EOT'
--num-layers 8 --tensor-model-parallel-size 1 --pipeline-model-parallel-size 2 --pipeline-model-parallel-layout 'Et*5|t*3L'
EOT
to megatron --straight --recompute=full
is_out "megatron, recomputing" <<'EOT'
--num-layers 8 --tensor-model-parallel-size 1 --pipeline-model-parallel-size 2 --pipeline-model-parallel-layout 'Et*5|t*3L' --recompute-granularity full --recompute-method uniform --recompute-num-layers 1
EOT
awk 'BEGIN { print "node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes"
	for (i = 0; i < 16; i++) print "l" i ",10,20,1,1" }' >sixteen.csv
run gv-partition -l 4@100GB/s --all-gpus --straight --schedule=interleaved --micro-batches=8 --export=megatron sixteen.csv
is_out "megatron: chunks of ranks one after another" <<'EOT'
--num-layers 16 --tensor-model-parallel-size 1 --pipeline-model-parallel-size 4 --pipeline-model-parallel-layout 'Ett|(tt|)*6ttL'
EOT
{ cat sixteen.csv && echo mtp.0,10,20,1,1 && echo mtp.1,10,20,1,1; } >mtp.csv
run gv-partition -l 2@1GB/s --straight --export=megatron mtp.csv
is_out "megatron: layers that predict several tokens" <<'EOT'
--num-layers 16 --mtp-num-layers 2 --tensor-model-parallel-size 1 --pipeline-model-parallel-size 2 --pipeline-model-parallel-layout 'Et*9|t*7mmL'
EOT
ok "its line is one for xargs" sh -c "gv-partition -l 2@1GB/s --straight --export=megatron sixteen.csv | xargs printf '%s\n' | grep -qx 'Et\*8|t\*8L'"
gv-partition -l 4@10Gb/s -e edges.csv -o plan.csv layers.csv
run gv-partition --evaluate -l 4@10Gb/s -e edges.csv --export=alpa plan.csv
cp out evaluated
to alpa
same_file out evaluated "the plan of --evaluate is written as well"

# ---- what they cannot do ----
for program in megatron deepspeed torch torch-schedule; do
	no "$program: unequal replicas" \
		"--export=$program needs the same replicas on every stage: stage 0 has 3, stage 1 has 1; plan with --straight" \
		-l 4@10Gb/s -e edges.csv --export=$program layers.csv
done
printf 'node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes,stage,replicas\na,1,1,1,1,0,1\nb,1,1,1,1,1,1\nc,1,1,1,1,0,1\n' >v.csv
printf 'src,dst\na,b\n' >v-edges.csv
for program in megatron deepspeed torch alpa; do
	no "$program: no sequence" \
		"--export=$program needs stages in the order of the rows: layer \"b\" is in stage 1, \"c\" behind it in stage 0" \
		--evaluate -l 2@1GB/s -e v-edges.csv --export=$program v.csv
done
printf 'src,dst\na,b\nb,c\n' >chain-edges.csv
printf 'node_id,forward_ms,backward_ms,activation_bytes,parameter_bytes,stage,replicas\nc,1,1,1,1,1,1\na,1,1,1,1,0,1\nb,1,1,1,1,1,1\n' >back.csv
run gv-partition --evaluate -l 2@1GB/s -e chain-edges.csv --export=torch back.csv
out_has '["b", "c"]' "rows in no order: stage by stage"
for schedule in 1f1b 2bw; do
	no "torch-schedule: $schedule" \
		"--export=torch-schedule: torch keeps one version of the weights, $schedule more; plan with --schedule=flush" \
		-l 2@1GB/s --straight --schedule=$schedule --export=torch-schedule sixteen.csv
done
no "torch-schedule: micro-batches to share" "--export=torch-schedule: 5 micro-batches for 4 pipelines" \
	-l 4@100GB/s --all-gpus --schedule=gpipe --micro-batches=5 --export=torch-schedule two.csv
for program in deepspeed pipedream alpa; do
	no "$program: chunks" "--export=$program: a GPU has one stage there" \
		-l 4@100GB/s --straight --all-gpus --schedule=interleaved --micro-batches=8 --export=$program sixteen.csv
done
sed 's/^a,/embed,/; s/^b,/lm_head,/; s/^c,/t,/' v.csv | sed 's/^embed\(.*\),0,1$/embed\1,0,1/; s/^t\(.*\),0,1$/t\1,1,1/; s/^lm_head\(.*\),1,1$/lm_head\1,0,1/' >ends.csv
no "megatron: an early output layer" '--export=megatron: the output layer has to be in the last stage, "lm_head" is in stage 0' \
	--evaluate -l 2@1GB/s --export=megatron ends.csv
sed 's/^lm_head/b/; s/^embed/a/; s/^t,/wte,/' ends.csv >starts.csv
no "megatron: a late embedding" '--export=megatron: the embedding has to be in the first stage, "wte" is in stage 1' \
	--evaluate -l 2@1GB/s --export=megatron starts.csv
run gv-partition -l 2@1GB/s --export=jax layers.csv
is_status 2 "an unknown program: status"
is_err "an unknown program" <<EOT
gv-partition: --export: unknown "jax"; known: megatron, deepspeed, torch, torch-schedule, pipedream, alpa
$usage
EOT
for other in --explain --timeline --compare=layers.csv; do
	run gv-partition -l 2@1GB/s --export=torch $other layers.csv
	is_status 2 "--export and $other: status"
	is_err "--export and $other" <<EOT
gv-partition: --explain, --timeline, --compare and --export exclude each other
$usage
EOT
done

# ---- random plans, read back ----
if [ -z "$GV_PYTHON" ]; then
	skip "no python3: exports read back"
else
	for part in megatron deepspeed pipedream; do
		run "$GV_PYTHON" "$src/tests/gv-partition-export.py" $part
		ok "$part: $(tail -n 1 out)" grep -q '^looked at [1-9][0-9]* and 0 were wrong$' out
	done
	if [ -z "${GV_LONG:-}" ]; then
		skip "long: torch.distributed.pipelining takes seconds to load"
	elif ! "$GV_PYTHON" -c 'import torch.distributed.pipelining' 2>err; then
		skip "no torch: schedules as it reads them"
	else
		run "$GV_PYTHON" "$src/tests/gv-partition-export.py" torch
		ok "torch: $(tail -n 1 out)" grep -q '^looked at [1-9][0-9]* and 0 were wrong$' out
	fi
fi
if [ -d "$shared/data/pipedream" ]; then
	run gv-partition --cost=compat --all-gpus -l 16@25Gb/s -e "$shared/data/pipedream/vgg16.edges.csv" --export=pipedream \
		"$shared/data/pipedream/vgg16.layers.csv"
	is_out "VGG-16 on 16 GPUs: the configuration that was published, 15-1" <<'EOT'
{
  "module_to_stage_map": [0, 1, 1],
  "stage_to_rank_map": {
    "0": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14],
    "1": [15]
  },
  "stage_to_depth_map": {
    "0": 1,
    "1": 0
  }
}
EOT
else
	skip "no shared data: PipeDream's profiles"
fi

# ---- --compare ----
gv-partition -l 2@1GB/s --straight -o halves.csv sixteen.csv
run gv-partition -l 4@1GB/s --straight --compare=halves.csv sixteen.csv
silent "--compare"
is_out "two plans, and the layers that moved" <<'EOT'
plan,stages,gpus,slowest_s,slowest_stage,limit,memory_bytes,transfer_bytes,sync_bytes,layers_moved,speed
old,2,2,0.24,0,compute,56,2,0,0,1
new,4,4,0.12,0,compute,44,6,0,12,2

node_id,stage,new_stage,replicas,new_replicas,recompute,new_recompute
l4,0,1,1,1,none,none
l5,0,1,1,1,none,none
l6,0,1,1,1,none,none
l7,0,1,1,1,none,none
l8,1,2,1,1,none,none
l9,1,2,1,1,none,none
l10,1,2,1,1,none,none
l11,1,2,1,1,none,none
l12,1,3,1,1,none,none
l13,1,3,1,1,none,none
l14,1,3,1,1,none,none
l15,1,3,1,1,none,none
EOT
run gv-partition --evaluate -l 2@1GB/s --compare=halves.csv halves.csv
is_out "a plan beside itself" <<'EOT'
plan,stages,gpus,slowest_s,slowest_stage,limit,memory_bytes,transfer_bytes,sync_bytes,layers_moved,speed
old,2,2,0.24,0,compute,56,2,0,0,1
new,2,2,0.24,0,compute,56,2,0,0,1

node_id,stage,new_stage,replicas,new_replicas,recompute,new_recompute
EOT
cat >four.csv <<'EOT'
node_id,layer,forward_ms,backward_ms,activation_bytes,parameter_bytes,stage,replicas
1,a,10,20,1000000,1000000,0,2
2,b,20,40,2000000,30000000,0,2
3,c,30,60,3000000,2000000,1,2
4,d,20,40,1000000,40000000,1,2
EOT
gv-partition -l 2@1GB/s -l 2@0.1GB/s -o two-levels.csv four.csv
run gv-partition -l 2@1GB/s -l 2@0.1GB/s --compare=two-levels.csv four.csv
sed -n 2,3p out | cut -d, -f2,3,7-9 >got
gv-partition --evaluate -l 2@1GB/s -l 2@0.1GB/s --explain two-levels.csv >stages.csv
column() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } NR > 1 && $1 == 1 { print $c }' stages.csv; }
most=$(column memory_bytes | sort -n | tail -n 1)
for i in 1 2; do echo "2,4,$most,4000000,73000000"; done >want
same_file got want "on two levels memory and bytes are those of all stages"
gv-partition -l 4@10Gb/s --flat -e edges.csv -o flat.csv layers.csv
run gv-partition -l 2@25GB/s -l 2@10Gb/s -e edges.csv --compare=flat.csv layers.csv
silent "a plan across the levels beside one on them"
gv-partition --evaluate -l 4@10Gb/s -e edges.csv flat.csv | cut -d, -f13 | sort -rn | sed -n 2p >want
awk -F, 'NR == 2 { print $4 }' out >got
gv-partition --evaluate -l 4@10Gb/s -e edges.csv flat.csv | awk -F, 'NR > 1 && $13 > most { most = $13 } END { print most }' >want
ran="the slowest stage of flat.csv" && same_file got want "it costs what --evaluate says"
{ cat plan.csv && echo && cat edges.csv; } >with-edges.csv
run gv-partition -l 4@10Gb/s -e edges.csv --tsv --compare=with-edges.csv layers.csv
silent "edges behind the other plan, --tsv"
printf 'plan\tstages\tgpus\n' >want
head -n 1 out | cut -f1-3 >got
same_file got want "--tsv"
run gv-partition -l 2@1GB/s --straight --recompute=full --compare=halves.csv sixteen.csv
ok "all layers move where all are computed again" eval '[ "$(grep -c ",none,full$" out)" -eq 16 ]'
gv-partition -l 4@1GB/s -l 2@.1GB/s --flat -e edges.csv -o flat.csv layers.csv
run gv-partition -l 4@1GB/s -l 2@.1GB/s --flat -e edges.csv --compare=flat.csv layers.csv
ok "a plan across the levels beside itself" eval '[ "$(sed -n "2p; 3p" out | cut -d, -f2- | uniq | wc -l)" -eq 1 ] && [ "$(wc -l <out)" -eq 5 ]'
: >empty.csv
no "nothing" 'empty.csv: expected a table with a header line, got nothing' -l 4@1GB/s --compare=empty.csv sixteen.csv
no "no layers" 'edges.csv:1: missing column "node_id" (found: src, dst)' -l 4@1GB/s --compare=edges.csv sixteen.csv
sed 's/^l3,/x3,/' halves.csv >renamed.csv
no "a layer that is not there" 'renamed.csv:1: no row for layer "l3"' -l 2@1GB/s --compare=renamed.csv sixteen.csv
sed 's/^l4,/l3,/' halves.csv >twice.csv
no "a layer twice" 'twice.csv:6: node_id: duplicate node_id "l3"' -l 2@1GB/s --compare=twice.csv sixteen.csv
no "no plan" 'sixteen.csv:1: this is a table of layers; expected a plan (node_id, forward_ms, stage, replicas)' \
	-l 2@1GB/s --compare=sixteen.csv sixteen.csv
sed 's/,1,1,none,1x1$/,3,1,none,3x1/' halves.csv >holes.csv
no "an empty stage" 'holes.csv: stage 1 has no layers' -l 4@1GB/s --compare=holes.csv sixteen.csv
no "no file" 'no.csv: cannot open: No such file or directory' -l 4@1GB/s --compare=no.csv sixteen.csv
done_testing

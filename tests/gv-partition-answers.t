#!/bin/sh
# gv-partition: its plans of drawn models are those that it has made before.
. "${0%/*}/lib.sh"
. "$src/tests/answers.sh"
answers gv-partition "${1:-}"

seed=0
for layers in 2 3 5 7 9 12 16 21 28 40; do
	seed=$((seed + 1))
	case="drawn $seed, $layers layers"
	drawn layers $seed $layers >l.csv
	drawn edges $seed $layers >e.csv
	printf 'gpu_type,gpus,memory_bytes\nfast,3,16000000000\nslow,4,4000000000\n' >c.csv
	for more in '' '-e e.csv' '--straight' '--cost=compat' '--cut=upstream -e e.csv' '--all-gpus' \
	    '--ties=apart' '-m 500MB' '-m 60MB --recompute=auto'; do
		# shellcheck disable=SC2086
		same gv-partition -q -l 4@1GB/s $more l.csv
		# shellcheck disable=SC2086
		same gv-partition -q -l 4@10GB/s -l 2@1Gb/s $more l.csv
	done
	same gv-partition -v -l 6@.2GB/s -e e.csv l.csv
	same gv-partition -q -l 8@1GB/s --gpus=5 --fewest-gpus l.csv
	same gv-partition -q -c c.csv --gpu-speed=fast=1 --gpu-speed=slow=.4 -l @1GB/s l.csv
	for schedule in 1f1b 2bw flush gpipe interleaved zb-h1; do
		same gv-partition -q -l 3@1GB/s --schedule=$schedule --micro-batches=6 --top=4 l.csv
		same gv-partition -q -l 3@1GB/s --schedule=$schedule --micro-batches=6 --timeline l.csv
	done
	same gv-partition -q -l 4@1GB/s --top=9 -e e.csv l.csv
	same gv-partition -q -l 4@1GB/s --explain -e e.csv l.csv
	same gv-partition -q -l 4@1GB/s --rank=3 l.csv
	for more in '' '--top=0' '-e e.csv --recompute=auto -m 900MB' '--timeline' '--optimizer=adam'; do
		# shellcheck disable=SC2086
		same gv-partition -p 2bw -v -l 4@1GB/s -l 2@1Gb/s --batch=16 $more l.csv
	done
	gv-partition -q -l 4@1GB/s -o plan.csv l.csv
	for program in megatron deepspeed torch; do
		same gv-partition -q --straight --export=$program -l 4@1GB/s l.csv
	done
	same gv-partition -q --straight --schedule=flush --micro-batches=4 --export=torch-schedule -l 4@1GB/s l.csv
	same gv-partition -q --evaluate -l 4@.1GB/s plan.csv
done

answered

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

# layers of a few equal times and sizes, of which many take or hold nothing
for layers in 1 2 3 4 6 9 12; do
	seed=$((seed + 1))
	case="even $seed, $layers layers"
	drawn even $seed $layers >l.csv
	drawn wide $seed $layers >e.csv
	drawn times $seed $layers 2 >t.csv
	printf 'gpu_type,gpus,memory_bytes\nt0,2,300000000\nt1,3,\n' >c.csv
	for more in '' '-e e.csv' --straight --all-gpus --fewest-gpus '--cost=compat --optimizer=sgd' \
	    '--cut=none' '-m 100MB' '-m 1MB --recompute=full' '-m 30MB --recompute=auto --optimizer=momentum' --ties=together; do
		# shellcheck disable=SC2086
		same gv-partition -v -l 4@1GB/s $more l.csv
		# shellcheck disable=SC2086
		same gv-partition -v --explain -l 3@10GB/s:1GB/s -l 2@1Gb/s $more l.csv
	done
	for more in '' '--flat' '--flat --cut=none' '--flat --micro-batches=6 --schedule=flush' '--flat -m 90MB' '--fewest-gpus --flat'; do
		# shellcheck disable=SC2086
		same gv-partition -v --timeline --micro-batches=6 -l 2@1GB/s -l 2@.2GB/s:.1GB/s $more l.csv
	done
	same gv-partition -v --flat --rank=2 --timeline --micro-batches=4 -l 2@1GB/s -l 2@.2GB/s l.csv
	same gv-partition -q --flat -o beside -l 2@1GB/s -l 2@.2GB/s -e e.csv l.csv
	cp beside flat.csv
	same gv-partition -v -l 2@1GB/s -l 2@.2GB/s --compare=flat.csv l.csv
	same gv-partition -v -l 2@1GB/s -l 2@.2GB/s --recompute=full --flat --compare=flat.csv l.csv
	same gv-partition -v -l 2@1GB/s -l 2@.2GB/s --evaluate --timeline flat.csv
	for more in '' '-m 50MB --recompute=auto' '-e e.csv' '--straight' '--fewest-gpus' '--top=5' '--schedule=gpipe --micro-batches=4 --timeline'; do
		# shellcheck disable=SC2086
		same gv-partition -v -c c.csv --times=t.csv -l @1GB/s $more l.csv
	done
	for more in '--chunks=3' '--all-gpus' '--straight' '-m 120MB' '--explain' '--top=0'; do
		# shellcheck disable=SC2086
		same gv-partition -v --schedule=interleaved --micro-batches=12 -l 4@1GB/s $more l.csv
	done
	for more in --flat '--flat --all-gpus' '--flat --rank=1 --explain' '--flat --timeline'; do
		# shellcheck disable=SC2086
		same gv-partition -v --schedule=interleaved --micro-batches=12 -l 5@100GB/s -l 1@10GB/s $more l.csv
	done
	same gv-partition -v --schedule=zb-h1 --micro-batches=4 --moving=1GB/s -l 3@.1GB/s --timeline l.csv
	same gv-partition -p 2bw -v --batch=6 --moving=1GB/s -l 4@.1GB/s --timeline l.csv
done
# more prefixes than are looked at
for layers in 14 16; do
	seed=$((seed + 1))
	case="wide $seed, $layers layers"
	drawn layers $seed $layers >l.csv
	drawn wide $seed $layers >e.csv
	for more in '' --cut=none --cut=upstream '-m 200MB' '-m 1MB' '--prefixes=60' '--straight' --flat \
	    '-m 100MB --schedule=gpipe --micro-batches=2' '--top=3'; do
		# shellcheck disable=SC2086
		same gv-partition -v -l 2@1GB/s -l 3@.1GB/s -e e.csv $more l.csv
	done
	same gv-partition -v -l 3@1GB/s --schedule=interleaved --micro-batches=6 -e e.csv l.csv
	same gv-partition -v -l 2@1GB/s -l 2@.1GB/s -m 2GB --schedule=gpipe --micro-batches=70000 l.csv
	for more in '' '-m 600MB --recompute=auto'; do
		# shellcheck disable=SC2086
		same gv-partition -v -l 3@1GB/s --top=0 $more l.csv
	done
	drawn times $seed $layers 3 >t.csv
	printf 'gpu_type,gpus\nt0,2\nt1,2\n' >c.csv
	same gv-partition -v -c c.csv --times=t.csv -l @.1GB/s -e e.csv l.csv
	printf 'gpu_type,gpus\nt0,3\nt1,18\nt2,7\n' >c.csv
	same gv-partition -v -c c.csv --times=t.csv --prefixes=60 -l @.1GB/s -e e.csv l.csv
	same gv-partition -v -c c.csv --times=t.csv -l @.1GB/s l.csv
done

for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	case="transformer $seed"
	drawn transformers $seed >x.csv
	for more in '' '--features=none' '--features=sequence-parallel,overlap,short-last-stage --zero=auto' \
	    '--precision=fp32 --recompute=full' '--zero=3 --schedule=gpipe' '-m 4GB' '-m 1GB' '-l 2@100GB/s -l 4@10GB/s' \
	    '-l 3@1GB/s -l 2@5GB/s -l 2@2GB/s --schedule=zb-h1'; do
		# shellcheck disable=SC2086
		same gv-partition -p ptd-p -v --top=4 --gpu-type=A100-80GB $more x.csv
		# shellcheck disable=SC2086
		same gv-partition -p ptd-p --top=1 --export=megatron --gpu-type=H100 $more x.csv
	done
	same gv-partition -p ptd-p --top=2 --gpu-type=P100 -v x.csv
done

answered

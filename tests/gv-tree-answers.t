#!/bin/sh
# gv-tree: the trees of drawn links are those that it has found before.
. "${0%/*}/lib.sh"
. "$src/tests/answers.sh"
answers gv-tree "${1:-}"

for seed in 1 2 3 4 5 6 7 8 9 10; do
	gpus=$((1 + seed % 7 + 1))
	case="drawn $seed, $gpus GPUs"
	drawn links $seed $gpus >l.csv
	for c in broadcast reduce allreduce allgather reducescatter; do
		same gv-tree -v -c $c l.csv
	done
	# all have links, and so rings
	drawn full $seed $gpus >full.csv
	for method in forest colgen blink onehop ring relayed chain; do
		same gv-tree -v -m $method l.csv
		same gv-tree -v -m $method full.csv
	done
	for method in forest blink onehop ring chain; do
		same gv-tree -v -m $method -c broadcast -r gpu1 full.csv
	done
	same gv-tree -m ring --export=nccl-graph full.csv
	same gv-tree -m chain --export=nccl-graph full.csv
	for server in a b; do
		sed "1d; s/gpu/$server.gpu/g" l.csv
	done | { echo src,dst,gbytes_per_s && cat && printf 'a.gpu0,nic,3\nnic,a.gpu0,3\nb.gpu0,nic,3\nnic,b.gpu0,3\n'; } >two.csv
	same gv-tree -v -m phases two.csv
	same gv-tree -v two.csv
	for format in dot links msccl tuner; do
		same gv-tree --export=$format l.csv
	done
	drawn fabric $seed $((gpus + 1)) >fabric.csv
	for method in auto forest colgen ring relayed chain; do
		same gv-tree -v -m $method fabric.csv
	done
	for method in auto forest colgen; do
		same gv-tree -v -m $method --trees=1 fabric.csv
	done
	same gv-tree --trees=2 -v l.csv
	same gv-tree --score=2 l.csv
done

answered

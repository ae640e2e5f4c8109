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

# links of one direction, of none, and far from equal
for seed in 1 2 3 4 5 7 8 11; do
	gpus=$((1 + seed % 6))
	case="odd $seed, $gpus GPUs"
	drawn odd $seed $gpus >o.csv
	drawn odd $((seed + 50)) $((gpus + 1)) | sed '1d; s/gpu\([135]\)/relay\1/g' >relays.csv
	cat o.csv relays.csv >r.csv
	for table in o.csv r.csv; do
		for c in broadcast reduce allreduce allgather reducescatter; do
			for method in auto forest onehop ring relayed; do
				same gv-tree -v -m $method -c $c $table
			done
		done
		for c in broadcast reduce allreduce; do
			same gv-tree -v -m blink -c $c $table
			same gv-tree -v -m chain -c $c $table
		done
		same gv-tree -v -m colgen $table
	done
	for format in dot links msccl tuner nccl-graph; do
		same gv-tree --export=$format o.csv
		same gv-tree --export=$format -c broadcast r.csv
		same gv-tree --export=$format -m ring -c allgather r.csv
	done
	for n in 1 2 3; do
		same gv-tree --score=$((n + 1)) o.csv
		same gv-tree --score=$((n + 1)) -v -c broadcast r.csv
		same gv-tree --trees=$n -v -c reduce r.csv
		same gv-tree --trees=$n -v o.csv
	done
	same gv-tree -v -g 0 o.csv
	same gv-tree -v -g 0,1 r.csv
	same gv-tree -v -c broadcast -r gpu1 r.csv
done
# servers, the last two of which may be unlike
for seed in 1 2 3 4 5 6; do
	case="servers $seed"
	for server in a b c; do
		drawn links "$(if [ $server = c ]; then echo $((seed + 1)); else echo $seed; fi)" $((1 + seed % 4)) | sed "1d; s/gpu/$server.gpu/g"
		printf '%s.gpu0,nic,%s\nnic,%s.gpu0,3\n' $server $((seed % 3 + 1)) $server
	done | { echo src,dst,gbytes_per_s && cat; } >servers.csv
	for method in auto phases ring chain; do
		same gv-tree -v -m $method servers.csv
		same gv-tree -v -m $method --export=nccl-graph servers.csv
	done
	same gv-tree -v --export=tuner servers.csv
	same gv-tree -v --score=2 servers.csv
	same gv-tree -v --trees=1 servers.csv
done
# rings of three whose trees have no small parts in common
case="prime rates"
awk 'BEGIN {
	print "src,dst,gbytes_per_s"
	split("999.983 999.979 999.961 999.959 999.953 999.931 997.9 999.907 999.883", rate, " ")
	for (i = 0; i < 9; i++) {
		server = substr("abc", 1 + int(i / 3), 1) ".gpu"
		print server i % 3 "," server (i + 1) % 3 "," rate[i + 1]
		print server (i + 1) % 3 "," server i % 3 "," rate[i + 1]
		if (i % 3 == 0)
			print server "0,nic,5000\nnic," server "0,5000"
	}
}' >primes.csv
for method in phases colgen forest; do
	same gv-tree -v -m $method primes.csv
	same gv-tree -m $method --export=msccl primes.csv
done

answered

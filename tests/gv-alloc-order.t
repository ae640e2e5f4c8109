#!/bin/sh
# gv-alloc: the order of rows and of GPU types changes no digit of any share.
. "${0%/*}/lib.sh"

turned() { head -n 1 "$1" && sed 1d "$1" | sort -r; }
for policy in max-min water-filling isolated proportional makespan finish-time max-sum min-cost min-cost+per-dollar \
	fifo fifo-greedy sjf strategy-proof allox gandiva; do
	: >wrong
	for seed in 1 2 3 4 5 6 7 8; do
		jobs=$((3 + seed * 5 % 13)) types=$((1 + seed % 5))
		drawn cluster $seed $jobs $types >cluster.csv
		drawn rates $seed $jobs $types | awk -F, -v OFS=, -v p=$policy 'NR == 1 || p != "allox" || $4 == 1 { NF = 9; print }' >rates.csv
		turned cluster.csv >cluster-turned.csv
		turned rates.csv >rates-turned.csv
		for of in cluster.csv:rates.csv cluster.csv:rates-turned.csv cluster-turned.csv:rates.csv; do
			gv-alloc -q -p $policy -c "${of%:*}" <"${of#*:}" 2>err | sort >out
			[ -s out ] || echo "seed $seed: no answer" >>wrong
			[ $of = cluster.csv:rates.csv ] && mv out want || cmp -s out want || echo "seed $seed: $of" >>wrong
		done
	done
	ran="gv-alloc -q -p $policy -c cluster.csv <rates.csv" status=
	if [ ! -s wrong ]; then pass "$policy"; else fail "$policy" wrong err; fi
done
done_testing

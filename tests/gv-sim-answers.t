#!/bin/sh
# gv-sim, gv-trace: what drawn jobs meet, and what is drawn, is what it has been before.
. "${0%/*}/lib.sh"
. "$src/tests/answers.sh"
answers gv-sim "${1:-}"

for seed in 1 2 3 4 5 6 7 8; do
	jobs=$((4 + seed * 5)) types=$((1 + seed % 3))
	case="drawn $seed, $jobs jobs, $types types"
	drawn_trace $seed $jobs $types
	set -- gv-sim -q -c c.csv -t t.csv --events - --summary beside
	for policy in max-min finish-time fifo max-sum; do
		same "$@" -p "gv-alloc -q -p $policy -c c.csv" j.csv
	done
	set -- "$@" -p "gv-alloc -q -p max-min -c c.csv"
	same "$@" --changes ch.csv --save 3s --load 20s j.csv
	same "$@" --order gavel --shuffle $seed --round 120s j.csv
	same "$@" --ideal j.csv
	same "$@" --strict --node-mtbf 1h --repair 9m --seed $seed j.csv
	same "$@" --job-mtbf 2h --checkpoint 5m --seed $seed --max-failures 3 j.csv
	same gv-sim -q -c c.csv -t t.csv -p "gv-alloc -q -p max-min -c c.csv" --measure 2-4 --isolated --jobs - j.csv
	same gv-trace generate --jobs=20 --rate=30 --seed=$seed --scale-factors=1:.7,2:.3 --priorities=5:.2 \
		--slo=1.2:.33,2:.34,10:.33 --entities=a:.5,b:.5 t.csv
	same gv-trace generate --jobs=9 --every=5m --durations=10m..4h:.5,1d:.5 --whole-steps --seed=$seed t.csv
	same gv-trace scale -v --load=1.7 --size=2 j.csv
	same gv-trace check -v -t t.csv -c c.csv j.csv
done

answered

#!/bin/sh
# gv-comm as members on hosts of their own, over links that the kernel shapes: how much
# of them trees fill; beside Open MPI's all-reduce on the same star.
. "${0%/*}/lib.sh"
. "$src/tests/netns.sh"
topologies=$shared/data/topologies
why=$(netns_here) || {
	skip "$why"
	done_testing
	exit
}
if [ ! -d "$topologies" ]; then
	skip "no shared data: links of real machines"
	done_testing
	exit
fi
# in short, most of it is the time until pipelines are full and windows open
size=12MiB least=80
[ -z "${GV_LONG:-}" ] || size=24MiB least=95
column() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } NR == 2 { print $c }' out; }
says() { if awk "BEGIN { exit !($1) }"; then pass "$2"; else fail "$2: $1" out err; fi; }

# members GPU... -- OPTION...: one on each, in order; rank 0 in the foreground
members() {
	members_n=0 members_on=
	while [ "$1" != -- ]; do members_on="$members_on $1" members_n=$((members_n + 1)) && shift; done
	shift
	members_rank=0 members_first=
	for g in $members_on; do
		members_first=${members_first:-$g}
		if [ $members_rank -gt 0 ]; then
			netns_in "gpu$g" env RANK=$members_rank WORLD_SIZE=$members_n MASTER_ADDR=10.77.0.$((members_first + 1)) \
				MASTER_PORT=29500 timeout 60 gv-comm "$@" >"out.$g" 2>&1 &
		fi
		members_rank=$((members_rank + 1))
	done
	run netns_in "gpu$members_first" env RANK=0 WORLD_SIZE=$members_n MASTER_ADDR=10.77.0.$((members_first + 1)) \
		MASTER_PORT=29500 timeout 60 gv-comm "$@"
	wait
}
# fills RATE CABLES COMMAND...: per cent of what cables of RATE GB/s together and a bucket of 128 KiB
# each carry meanwhile, the best of up to three
fills() {
	fills_of=$1 fills_cables=$2 fills_best=0
	shift 2
	for i in 1 2 3; do
		"$@"
		fills_best=$(awk -v b="$fills_best" -v t="$(column time_us)" -v x="$(column size)" -v r="$fills_of" -v n="$fills_cables" \
			'BEGIN { x = 100 * x / (r * 1e3 * t + n * 131072); printf "%.1f", (x > b ? x : b) }')
		awk -v b="$fills_best" -v w=$least 'BEGIN { exit !(b >= w) }' && break
	done
}

# ---- cables between GPUs: 2 Mbit/s for each GB/s ----
netns_mesh "$topologies/alloc/dgx1p_0-1-3-4-5-7.csv" 2
gv-tree -c broadcast -o t "$topologies/alloc/dgx1p_0-1-3-4-5-7.csv"
fills .015 3 members 0 1 3 4 5 7 -- -n 2 -b $size -e $size -c 32KiB t
echo "# broadcast by 3 trees over cables of 40 Mbit/s: $fills_best % of what they carry"
says "$fills_best >= $least" "three trees fill $least % of cables"
says "$(column wrong) == 0" "every element is right"
gv-tree -o t "$topologies/alloc/dgx1p_0-1-3-4-5-7.csv"
members 0 1 3 4 5 7 -- -w 0 -n 1 -b 3MiB -e 3MiB -c 32KiB t
trees=$(column algbw)
gv-tree -m ring -o t "$topologies/alloc/dgx1p_0-1-3-4-5-7.csv"
members 0 1 3 4 5 7 -- -w 0 -n 1 -b 3MiB -e 3MiB -c 32KiB t
says "\"$trees\" != \"\" && \"$(column algbw)\" != \"\"" "trees and rings, an allreduce"
echo "# allreduce on the same cables: trees $trees, ring $(column algbw) GB/s: $(awk "BEGIN { print $trees / $(column algbw) }"); carried at most 36 and 24: 1.5"
netns_clean
if [ -n "${GV_LONG:-}" ]; then
	netns_mesh "$topologies/dgx1v.csv" 1
	gv-tree -c broadcast -o t "$topologies/dgx1v.csv"
	fills .01875 4 members 0 1 2 3 4 5 6 7 -- -n 1 -b 12MiB -e 12MiB -c 16KiB t
	echo "# broadcast by 6 trees over cables of 25 Mbit/s a lane: $fills_best %"
	says "$fills_best >= 88" "six trees fill 88 % of cables"
	netns_clean
else
	skip "long: eight hosts; Open MPI"
	done_testing
	exit
fi

# ---- a star: Open MPI beside it ----
if ! have mpirun || ! have mpicc; then
	skip "no mpirun and mpicc: nothing to compare with"
	done_testing
	exit
fi
cat >peer.c <<'E2'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	int n = atoi(argv[1]) / 4, rank, size, i, k, bad = 0;
	float *x = malloc(4 * n), *y = malloc(4 * n);
	double best = 1e9, all;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (i = 0; i < n; i++) x[i] = i % 61 + rank;
	for (k = 0; k < 3; k++) {
		double t;
		MPI_Barrier(MPI_COMM_WORLD);
		t = MPI_Wtime();
		MPI_Allreduce(x, y, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
		t = MPI_Wtime() - t;
		MPI_Allreduce(&t, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
		if (all < best) best = all;
	}
	for (i = 0; i < n; i++) bad += y[i] != (i % 61) * size + size * (size - 1) / 2;
	if (rank == 0) printf("%g %d\n", 4.0 * n / best / 1e9, bad);
	MPI_Finalize();
	return argc < 2;
}
E2
ran="mpicc peer.c" status=0
ok "the peer is built" mpicc -O2 -o peer peer.c
netns_star 4 160
{
	echo src,dst,gbytes_per_s
	for g in 0 1 2 3; do printf 'gpu%d,nvs,20\nnvs,gpu%d,20\n' $g $g; done
} >star.csv
gv-tree -o t star.csv
members 0 1 2 3 -- -n 2 -b 16MB -e 16MB -c 64KiB t
ours=$(column algbw)
says "$(column wrong) == 0" "four members about a switch"
cat >agent <<E2
#!/bin/sh
host=\$1
shift
case \$host in 10.77.0.1) g=0 ;; 10.77.0.2) g=1 ;; 10.77.0.3) g=2 ;; *) g=3 ;; esac
exec ip netns exec $netns_name-gpu\$g sh -c "\$*"
E2
chmod +x agent
# peer OPTION...: Open MPI's algbw
peer() {
	# shellcheck disable=SC2086
	run netns_in gpu0 env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 HOME="$scratch" PATH="$PATH" timeout 40 mpirun \
		--host 10.77.0.1,10.77.0.2,10.77.0.3,10.77.0.4 -n 4 --mca plm_rsh_agent "$scratch/agent" --mca plm_rsh_no_tree_spawn 1 \
		--mca btl tcp,self --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 "$@" "$scratch/peer" 16000000
	cut -d ' ' -f 1 out
}
# some of its runs never end on a machine that others keep busy
theirs=$(peer) && [ -n "$theirs" ] || theirs=$(peer)
ring=$(peer --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm 4)
[ -n "$ring" ] || ring=$(peer --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm 4)
echo "# allreduce of 16 MB about a switch, cables of 160 Mbit/s, GB/s: trees $ours; Open MPI $theirs, its ring $ring; carried at most .0133333"
says "\"$theirs\" != \"\" && \"$ring\" != \"\"" "Open MPI's allreduce on the same star"
says "$ours >= .9 * .0133333" "trees fill 90 % of the star"
says "$ours >= .97 * ${theirs:-0} && $ours >= .97 * ${ring:-0}" "no slower than Open MPI"
done_testing

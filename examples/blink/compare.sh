#!/bin/sh
# compare.sh TOPOLOGIES: trees beside rings and chains on every set of GPUs of a
# DGX-1V and a DGX-1P that NVLinks join, up to names, as Blink's evaluation has it.
set -eu
if [ $# -ne 1 ] || [ ! -d "$1" ]; then
	echo "usage: ${0##*/} TOPOLOGIES" >&2
	exit 2
fi
topologies=$1
[ -z "${GV_BIN:-}" ] || PATH=$GV_BIN:$PATH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# rate LINKS GPUS METHOD COLLECTIVE: GB/s that a plan carries
rate() {
	gv-tree -v -g "$2" -m "$3" -c "$4" "$1" 2>&1 >"$scratch/trees" | sed -n 's/.*: \([0-9.e+-]*\) of .*/\1/p'
}
# classes LINKS: one set of each class, for 3 to 8 GPUs
classes() {
	for k in 3 4 5 6 7 8; do
		gv-tree --score=$k -c broadcast --tsv "$1" |
			awk -F '\t' 'NR > 1 && $2 > 0 && !($3 in seen) { seen[$3]; print $1 }'
	done
}
# compare NAME LANES-GB/s PCIE-GB/s COLLECTIVE METHOD: sets, most, mean
compare() {
	while read -r set; do
		n=$(echo "$set" | tr ';' '\n' | wc -l)
		other=$(rate "$topologies/$1.csv" "$set" "$5" "$4")
		echo "$n $(rate "$topologies/$1.csv" "$set" auto "$4") ${other:-none}"
	done <"$scratch/classes" | awk -v lane="$2" -v pcie="$3" -v of="$4" -v method="$5" -v nominal="$6" '
		{
			# no ring of NVLinks: PCIe, as NCCL did until 2.8
			x = $3 == "none" ? (of == "broadcast" ? pcie : pcie * $1 / (2 * ($1 - 1))) : $3 * lane / nominal
			x = $2 * lane / nominal / x
			n++; sum += log(x); if (x > most) most = x
		}
		END { printf "%d | %.2f | %.2f", n, most, exp(sum / n) }'
}

echo "| machine | collective | trees over | sets | most | mean | published |"
echo "| --- | --- | --- | --- | --- | --- | --- |"
while read -r name title lane nominal pcie; do
	classes "$topologies/$name.csv" >"$scratch/classes"
	while read -r of method label published; do
		[ "$name" = dgx1v ] || published=$(echo "$published" | sed 's/^[^/]*\///')
		[ "$name" = dgx1p ] || published=${published%%/*}
		printf '| %s | %s | %s | %s | %s |\n' "$title" "$of" "$(echo "$label" | tr _ ' ')" \
			"$(compare "$name" "$lane" "$pcie" "$of" "$method" "$nominal")" "$(echo "$published" | tr _ ' ')" | sed 's/ *|$/ |/'
	done <<-E2
		broadcast ring rings_or_PCIe,_as_of_2019 6,_2/3,_1.6
		broadcast relayed rings_that_relay,_as_since_2.8 1.50,_1.06_(1)/1.20,_1.01_(1)
		broadcast chain chains /
		broadcast blink Blink's_packing /
		allreduce ring rings_or_PCIe,_as_of_2019 8,_2/
		allreduce relayed rings_that_relay,_as_since_2.8 2.00,_1.39_(1)/1.60,_1.24_(1)
		allreduce chain chains /
		allreduce blink Blink's_packing /
	E2
done <<E3
dgx1v DGX-1V 25 25 8
dgx1p DGX-1P 20 20 6
E3

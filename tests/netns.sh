# Networks of namespaces whose links have rates: a namespace is a host, a pair of
# virtual interfaces a cable, a token bucket in the kernel (tc tbf) keeps its rate in
# each direction.  Source it behind lib.sh; root only.  Everything is taken down when the
# test ends.
# shellcheck shell=sh

netns_name=gv$$
netns_clean() { rm -f netns.batch.*; for ns in $(ip netns list 2>/dev/null | sed -n "s/^\($netns_name-[^ ]*\).*/\1/p"); do ip netns del "$ns"; done; }
trap 'netns_clean; cd /; rm -rf "$scratch" "$scratch.tap"' EXIT

# netns_here: whether this can be done here at all; else says why
netns_here() {
	[ "$(id -u)" -eq 0 ] || { echo "not root: no namespaces" && return 1; }
	if ! have ip || ! have tc; then echo "no ip and tc" && return 1; fi
	if ip netns add "$netns_name-try" 2>/dev/null && ip -n "$netns_name-try" link add va type veth peer name vb 2>/dev/null &&
		tc -n "$netns_name-try" qdisc add dev va root tbf rate 8mbit burst 64kb latency 20ms 2>/dev/null; then
		ip netns del "$netns_name-try"
	else
		netns_clean
		echo "no ip and tc that may make namespaces here" && return 1
	fi
}
# netns_in NODE CMD...: there
netns_in() {
	netns_at=$netns_name-$1
	shift
	ip netns exec "$netns_at" "$@"
}
netns_node() {
	ip netns add "$netns_name-$1"
	ip -n "$netns_name-$1" link set lo up
	netns_in "$1" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
}
# netns_shape NODE DEVICE MBIT
netns_shape() { tc -n "$netns_name-$1" qdisc add dev "$2" root tbf rate "$3mbit" burst 128kb latency 80ms; }
# netns_cable A B MBIT_AB MBIT_BA: devices to-B in A and to-A in B
netns_cable() {
	ip link add "to-$2" mtu 9000 netns "$netns_name-$1" type veth peer name "to-$1" mtu 9000 netns "$netns_name-$2"
	ip -n "$netns_name-$1" link set "to-$2" up
	ip -n "$netns_name-$2" link set "to-$1" up
	netns_shape "$1" "to-$2" "$3"
	netns_shape "$2" "to-$1" "$4"
}
# netns_star N MBIT: gpu0 .. at 10.77.0.1 .. about one switch
netns_star() {
	netns_node nvs
	ip -n "$netns_name-nvs" link add name bridge0 mtu 9000 type bridge
	ip -n "$netns_name-nvs" link set bridge0 up
	for g in $(seq 0 $(($1 - 1))); do
		netns_node "gpu$g"
		netns_cable "gpu$g" nvs "$2" "$2"
		ip -n "$netns_name-gpu$g" addr add "10.77.0.$((g + 1))/24" dev to-nvs
		ip -n "$netns_name-nvs" link set "to-gpu$g" master bridge0
	done
}
# netns_mesh LINKS MBIT: of GPUs with direct links, MBIT for each GB/s; gpuN is 10.77.0.(N + 1), those
# without a link to each other are reached by the fewest hops
netns_mesh() {
	sed 1d "$1" | cut -d, -f1 | sort -u >netns.nodes
	while read -r node; do
		netns_node "$node"
		ip -n "$netns_name-$node" addr add "10.77.0.$((${node#gpu} + 1))/32" dev lo
	done <netns.nodes
	awk -F, -v m="$2" 'NR > 1 { r[$1 " " $2] += $3 * m } END { for (k in r) { split(k, e, " "); if (e[1] < e[2]) print e[1], e[2], r[k], r[e[2] " " e[1]] } }' "$1" >netns.cables
	while read -r a b there back; do netns_cable "$a" "$b" "$there" "$back"; done <netns.cables
	# routes: from, to, next hop
	awk '
		FNR == NR { node[++n] = $1; next }
		{ link[$1, $2] = link[$2, $1] = 1 }
		END {
			for (d = 1; d <= n; d++) {
				split("", next_hop); split("", queue)
				queue[1] = node[d]; next_hop[node[d]] = node[d]; last = 1
				for (q = 1; q <= last; q++)
					for (i = 1; i <= n; i++)
						if ((queue[q], node[i]) in link && !(node[i] in next_hop)) {
							next_hop[node[i]] = queue[q]; queue[++last] = node[i]
						}
				for (i = 1; i <= n; i++) if (i != d) print node[i], node[d], next_hop[node[i]]
			}
		}' netns.nodes netns.cables >netns.routes
	while read -r from to by; do
		src=10.77.0.$((${from#gpu} + 1)) dst=10.77.0.$((${to#gpu} + 1))
		if [ "$to" = "$by" ]; then
			echo "route add $dst dev to-$by scope link src $src"
		else
			echo "route add $dst via 10.77.0.$((${by#gpu} + 1)) dev to-$by onlink src $src"
		fi >>"netns.batch.$from"
	done <netns.routes
	while read -r node; do ip -n "$netns_name-$node" -batch "netns.batch.$node"; done <netns.nodes
}

# Hosts in one machine, to be sourced: each a network namespace, joined to one switch by a
# cable of so many Mbit/s in each direction (tc tbf), with a part of one core (a control
# group).  Linux, root.
#
# hosts_open NAME N MBIT CORE  N hosts, 10.77.0.1 and on, each with CORE of a core
# hosts_rate MBIT              other cables
# hosts_core I CORE            another part of a core
# hosts_on I COMMAND...        on host I, from 0
# hosts_alone                  what a subshell in the background begins with: it is not the script
# hosts_close                  all is gone, also what still runs there
#
# A guard closes them when the script ends in whatever way, killed or not: it waits for the end of
# a pipe that only the script holds.
# shellcheck shell=sh

hosts_name='' hosts_n=0
hosts_group=/sys/fs/cgroup
[ -d $hosts_group/cpu ] && hosts_group=$hosts_group/cpu

# why there can be no hosts here; nothing when there can
hosts_why() {
	[ "$(id -u)" -eq 0 ] || { echo "not root: no namespaces" && return; }
	for hosts_needs in ip tc taskset; do
		command -v $hosts_needs >/dev/null || { echo "no $hosts_needs" && return; }
	done
	if ! ip netns add "gv$$-try" 2>/dev/null ||
		! ip -n "gv$$-try" link add va type veth peer name vb 2>/dev/null ||
		! tc -n "gv$$-try" qdisc add dev va root tbf rate 8mbit burst 64kb latency 20ms 2>/dev/null; then
		echo "no ip and tc that may make namespaces here"
	elif ! mkdir "$hosts_group/gv$$-try" 2>/dev/null ||
		! hosts_box "$hosts_group/gv$$-try" 0.5 2>/dev/null; then
		echo "no control groups that limit the CPU here"
	fi
	rmdir "$hosts_group/gv$$-try" 2>/dev/null || :
	ip netns del "gv$$-try" 2>/dev/null || :
}
# hosts_box GROUP CORE: 1 ms of each so many, so that nobody stands still for long; ahead of
# everything else on the machine
hosts_box() {
	hosts_period=$(awk -v c="$2" 'BEGIN { printf "%d", c < 1 ? 1000 / c : 0 }')
	if [ -e "$1/cpu.max" ]; then
		echo 10000 >"$1/cpu.weight"
		if [ "$hosts_period" -gt 0 ]; then echo "1000 $hosts_period"; else echo max; fi >"$1/cpu.max"
	else
		echo 262144 >"$1/cpu.shares"
		echo -1 >"$1/cpu.cfs_quota_us"
		[ "$hosts_period" -eq 0 ] || { echo "$hosts_period" >"$1/cpu.cfs_period_us" && echo 1000 >"$1/cpu.cfs_quota_us"; }
	fi
}
hosts_core() { hosts_box "$hosts_group/$hosts_name-$1" "$2"; }
# A host stays on one core: on several, each with a bit of its part left, it would have more.
hosts_on() {
	hosts_at=$hosts_name-$1 hosts_cpu=$(($1 % $(nproc)))
	shift
	sh -c 'echo $$ >"$0/cgroup.procs" && exec ip netns exec "$@"' "$hosts_group/$hosts_at" "$hosts_at" \
		taskset -c "$hosts_cpu" "$@"
}
# a redirection of a function would leave a copy of the pipe
hosts_alone() { exec 9>&-; }
# hosts_all NAME: those that there are
hosts_all() { ip netns list 2>/dev/null | sed -n "s/^\($1-[^ ]*\).*/\1/p"; }
hosts_clean() {
	for hosts_at in $(hosts_all "$1"); do
		# shellcheck disable=SC2046 # numbers
		kill -9 $(ip netns pids "$hosts_at") 2>/dev/null || :
		ip netns del "$hosts_at"
	done
	for hosts_at in "$hosts_group/$1-"*; do
		hosts_tries=0
		while [ -d "$hosts_at" ] && ! rmdir "$hosts_at" 2>/dev/null && [ $((hosts_tries += 1)) -lt 50 ]; do
			# what was killed there is not gone yet, or began while the others were
			# shellcheck disable=SC2046 # numbers
			kill -9 $(grep -v '^0$' "$hosts_at/cgroup.procs") 2>/dev/null || :
			sleep 0.1
		done
	done
}
# the switch, with hosts named NAME-0 and on
hosts_open() {
	hosts_name=$1 hosts_n=$2
	hosts_pipe=$(mktemp -u)
	mkfifo "$hosts_pipe"
	# a session of its own, so that nothing sent to the script's group ends it
	setsid sh -c '. "$1"; trap "" INT TERM HUP; read -r nothing; hosts_clean "$2"' sh "$hosts_self" "$1" <"$hosts_pipe" >/dev/null 2>&1 &
	hosts_guard=$!
	exec 9>"$hosts_pipe"
	rm "$hosts_pipe"
	ip netns add "$1-switch"
	ip -n "$1-switch" link add name bridge0 mtu 9000 type bridge
	ip -n "$1-switch" link set bridge0 up
	hosts_at=0
	while [ $hosts_at -lt "$2" ]; do
		ip netns add "$1-$hosts_at"
		ip -n "$1-$hosts_at" link set lo up
		ip link add cable mtu 9000 netns "$1-$hosts_at" type veth peer name "host$hosts_at" mtu 9000 netns "$1-switch"
		ip -n "$1-$hosts_at" addr add "10.77.0.$((hosts_at + 1))/24" dev cable
		ip -n "$1-$hosts_at" link set cable up
		ip -n "$1-switch" link set "host$hosts_at" master bridge0 up
		mkdir "$hosts_group/$1-$hosts_at"
		hosts_box "$hosts_group/$1-$hosts_at" "$4"
		hosts_at=$((hosts_at + 1))
	done
	hosts_rate "$3"
}
# A bucket holds what goes in 2 ms, so that the rate is kept while the machine is late; the queue
# is .4 s long, so that nothing is lost that the windows of several peers hold: with 40 ms sums of
# four hosts lost thousands of packets, their own first, and a sixth of the speed.
hosts_shape() {
	tc -n "$1" qdisc replace dev "$2" root tbf rate "${3}mbit" latency 400ms \
		burst "$(awk -v r="$3" 'BEGIN { b = r * 125 * 2; printf "%d", (b > 32768 ? b : 32768) }')"
}
hosts_rate() {
	hosts_at=0
	while [ $hosts_at -lt "$hosts_n" ]; do
		hosts_shape "$hosts_name-$hosts_at" cable "$1"
		hosts_shape "$hosts_name-switch" "host$hosts_at" "$1"
		hosts_at=$((hosts_at + 1))
	done
}
hosts_close() {
	[ -n "$hosts_name" ] || return 0
	exec 9>&-
	wait "$hosts_guard" || :
	hosts_name=
}

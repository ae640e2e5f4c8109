#!/bin/sh
# slurm.sh up|down|kill|start DIR [NODE]: a Slurm on this host for tests: a slurmctld and a
# slurmd for each node, with GPUs that are links to /dev/null, on free ports, all below DIR.
#
#   up     begins it: nodes of SLURM_NODES ("NAME:TYPE:GPUS ...", by default three of four
#          GPUs each); 77: Slurm is not installed
#   down   ends everything of it, also what its steps left behind
#   kill   ends a node as a loss of power would (slurmd and its steps)
#   start  begins a node again (or, without NODE, slurmctld)
#
# Then SLURM_CONF=DIR/slurm.conf leads to it.  SlurmdTimeout is SLURM_LOST (10 s), KillWait
# SLURM_KILL_WAIT (5 s).
set -eu
what=$1 d=$2
nodes=${SLURM_NODES:-n1:v100:4 n2:p100:4 n3:k80:4}
h=$(hostname -s) u=$(id -un)
PATH=$PATH:/usr/sbin:/sbin
export SLURM_CONF="$d/slurm.conf" PATH

# has PID LINE: it was begun with that in its environment
has() { grep -qsazxF "$2" "/proc/$1/environ"; }

# those of this cluster: daemons and steps, and what they run
ours() {
	{
		grep -lsazxF "GV_TEST_SLURM=$d" /proc/[0-9]*/environ
		grep -lsazxF "SLURM_CONF=$d/slurm.conf" /proc/[0-9]*/environ |
			xargs -r grep -lsaz '^GV_LAUNCH_DIR='
	} | tr -dc '0-9\n'
}

# free_ports N: below those that the system hands out by itself: a daemon that is begun again
# must find its port as it left it
free_ports() {
	python3 - "$1" <<-'X'
		import random, socket, sys
		held = []
		while len(held) < int(sys.argv[1]):
		    s = socket.socket()
		    try:
		        s.bind(("127.0.0.1", random.randrange(10000, 32000)))
		        held.append(s)
		    except OSError:
		        s.close()
		print(*[s.getsockname()[1] for s in held])
	X
}

write_config() {
	# shellcheck disable=SC2046,SC2086
	set -- $(free_ports $(($(echo $nodes | wc -w) + 1)))
	ctld=$1
	shift
	cat >"$d/slurm.conf" <<-X
		ClusterName=gv
		SlurmctldHost=$h(127.0.0.1)
		SlurmctldPort=$ctld
		SlurmUser=$u
		SlurmdUser=$u
		AuthType=auth/none
		CredType=cred/none
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core
		GresTypes=gpu
		ReturnToService=2
		SlurmdParameters=config_overrides
		StateSaveLocation=$d/state
		SlurmdSpoolDir=$d/spool-%n
		TmpFS=$d/tmp-%n
		SlurmctldPidFile=$d/run/ctld.pid
		SlurmdPidFile=$d/run/%n.pid
		SlurmctldLogFile=$d/log/ctld
		SlurmdLogFile=$d/log/%n
		SlurmdTimeout=${SLURM_LOST:-10}
		KillWait=${SLURM_KILL_WAIT:-5}
		PartitionName=gv Nodes=ALL Default=YES State=UP
	X
	echo AutoDetect=off >"$d/gres.conf"
	for node in $nodes; do
		n=${node%%:*} gpus=${node##*:} type=${node#*:}
		type=${type%:*}
		mkdir -p "$d/spool-$n" "$d/tmp-$n"
		echo "NodeName=$n NodeHostname=$h NodeAddr=127.0.0.1 Port=$1 CPUs=8 RealMemory=1000 Gres=gpu:$type:$gpus" >>"$d/slurm.conf"
		echo "NodeName=$n Name=gpu Type=$type File=$d/dev/nvidia[0-$((gpus - 1))]" >>"$d/gres.conf"
		shift
	done
}

begin_node() { GV_TEST_SLURM=$d GV_TEST_NODE=$1 slurmd -f "$SLURM_CONF" -N "$1"; }
begin_controller() { GV_TEST_SLURM=$d slurmctld -f "$SLURM_CONF"; }

# port_of [NODE]: where that slurmd, or slurmctld, listens
port_of() {
	if [ $# -gt 0 ]; then sed -n "s/^NodeName=$1 .* Port=\([0-9]*\).*/\1/p" "$SLURM_CONF"; else
		sed -n 's/^SlurmctldPort=//p' "$SLURM_CONF"
	fi
}
# begin_again PORT CMD...: until it listens: what was killed may still hold what it needs
begin_again() {
	port=$(printf ':%04X 00000000:0000 0A' "$1")
	shift
	for _ in 1 2 3 4 5; do
		"$@" || :
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			! grep -qs "$port" /proc/net/tcp || return 0
			sleep .2
		done
	done
	echo "$*: does not listen" >&2
	return 1
}

await_idle() {
	i=0
	until [ "$(sinfo -h -o %D -t idle 2>/dev/null)" = "$1" ]; do
		i=$((i + 1))
		[ "$i" -lt 100 ] || return 1
		sleep .1
	done
}

case $what in
up)
	for c in slurmctld slurmd srun; do command -v "$c" >/dev/null || exit 77; done
	mkdir -p "$d/run" "$d/state" "$d/log" "$d/dev"
	for i in 0 1 2 3 4 5 6 7; do ln -sf /dev/null "$d/dev/nvidia$i"; done
	write_config
	begin_controller
	for node in $nodes; do begin_node "${node%%:*}"; done
	# shellcheck disable=SC2086
	await_idle "$(echo $nodes | wc -w)"
	;;
down)
	for p in "$d"/run/*.pid; do kill "$(cat "$p" 2>/dev/null)" 2>/dev/null || :; done
	i=0
	while [ $i -lt 30 ] && [ -n "$(ours)" ]; do
		[ $i -lt 5 ] || ours | xargs -r kill -9 2>/dev/null || :
		i=$((i + 1))
		sleep .1
	done
	;;
kill)
	for p in $(ours); do
		! has "$p" "GV_TEST_NODE=$3" || kill -9 "$p" 2>/dev/null || :
	done
	;;
start)
	if [ $# -gt 2 ]; then begin_again "$(port_of "$3")" begin_node "$3"; else begin_again "$(port_of)" begin_controller; fi
	;;
esac

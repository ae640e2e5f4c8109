#!/bin/sh
# Under Slurm anything is killed at any moment: gv-run, the programs on the nodes, srun, slurmd,
# slurmctld.  No job is lost, none runs twice at once, none is blamed, nothing is left behind.
# shellcheck disable=SC2002,SC2013,SC2015,SC2016,SC2035,SC2046,SC2086,SC2154
. "${0%/*}/lib.sh"
SLURM_LOST=60 # what is killed is begun again, some time
. "$src/tests/slurm_runs.sh"

kills=8
[ -z "${GV_LONG:-}" ] || kills=100
allocate
printf 'gpu_type,gpus,node\nbig,4,n1\nsmall,4,n2\nsmall,4,n3\n' >cluster.csv
cat >jobs.csv <<EOT
job_id,scale_factor,total_steps,command,gpu_type,steps_per_s,share
a,1,400,exec $worker -r 100 -e 20,big,100,0.5
a,1,400,exec $worker -r 100 -e 20,small,100,0.3
b,1,400,exec $worker -r 100 -C,big,100,0.5
b,1,400,exec $worker -r 100 -C,small,100,0.3
c,2,400,exec $worker -r 100 -e 20,big,100,0.4
c,2,400,exec $worker -r 100 -e 20,small,100,0.3
gang,6,200,exec $worker -r 100 -e 20,small,100,0.4
flop,1,50,exec $worker -r 100 -e 10 -x 30 -b,small,100,0.3
EOT

# a number below $1 that differs from call to call
calls=0
draw() {
	calls=$((calls + 1))
	drawn=$(awk -v i="$calls" -v n="$1" 'BEGIN { printf "%d\n", (i * 0.6180339887 % 1) * n }')
}
# any LIST: one of the numbers in it
any() {
	[ $# -gt 0 ] || return 1
	draw $#
	shift "$drawn"
	echo "$1"
}
# of NAME: processes of our launches that are called so
of() {
	for p in $(grep -lsaz "^GV_LAUNCH_DIR=$scratch/" /proc/[0-9]*/environ); do
		p=${p%/environ}
		if [ "$(cat "$p/comm" 2>/dev/null)" = "$1" ]; then echo "${p#/proc/}"; fi
	done
}
# shoot KIND: kills one of these
shoot() {
	case $1 in
	slurmd)
		node=$(any n1 n2 n3)
		kill -9 "$(cat "slurm/run/$node.pid")" && sleep .3 && slurm start "$scratch/slurm" "$node"
		;;
	slurmctld) kill -9 "$(cat slurm/run/ctld.pid)" && sleep .3 && slurm start "$scratch/slurm" ;;
	gv-run) kill -9 "$pid" ;;
	worker) # shellcheck disable=SC2046
		victim=$(any $(of gv-run)) && kill -9 "$victim" ;;
	*) # shellcheck disable=SC2046
		victim=$(any $(of "$1")) && kill -9 "$victim" ;;
	esac
}

i=0 done=0 round=0
while [ "$done" -lt "$kills" ]; do
	round=$((round + 1))
	rm -f crashed
	set -- -c cluster.csv jobs.csv
	while :; do
		gv-run --launcher=slurm --slurm-job="$job" -s "st$round" --round=.5s --grace=3s "$@" >>run.out 2>>run.err &
		pid=$!
		[ ! -s "st$round/events.csv" ] || set -- --resume
		status=0
		while kill -0 "$pid" 2>/dev/null; do
			draw 800
			sleep ".$(printf %03d $((drawn + 100)))"
			[ "$done" -lt "$kills" ] || break
			i=$((i + 1))
			victim=
			kind=$(any gv-run gv-keeper srun slurmd gv-guard srun worker slurmctld gv-run)
			shoot "$kind" 2>/dev/null && done=$((done + 1)) && echo "$kind" >>shot
		done
		wait "$pid" 2>/dev/null || status=$?
		[ "$status" -ne 0 ] || break
		# 75: what the one before has left is still there
		[ "$status" -eq 137 ] || [ "$status" -eq 75 ] || break
	done
	echo "$status" >>statuses
done
sort shot | uniq -c | tr '\n' ' ' | sed 's/^/# killed:/'
echo
sort statuses | uniq -c | sed 's/^ *//' | cut -d' ' -f2 >got
echo 0 >want
same_file want got "$kills kills: every run ends well"
[ ! -s differ ] && cmp -s want got || { tail -n 3 shot; tail -n 8 run.err; tail -n 4 slurm/log/ctld; } | sed 's/^/# /'

for state in st*; do
	[ -d "$state" ] || continue
	for job in a:400 b:400 c:400 gang:200 flop:50; do
		dir=$state/jobs/${job%:*}/checkpoint
		seq "${job#*:}" >want
		sort -nu "$dir/steps" | cmp -s - want || echo "$state ${job%:*}: steps"
		! grep -q TWICE "$dir/log" || echo "$state ${job%:*}: twice at once"
		[ "$(grep -c ",finish,${job%:*}," "$state/events.csv")" -eq 1 ] || echo "$state ${job%:*}: finish"
	done
	grep ',fail,' "$state/events.csv" | grep -v ',fail,flop,.*,status 3[, ]'
done >got
same_file /dev/null got "no job is lost, none ran twice at once, none is blamed"
# a slurmstepd whose slurmctld was killed tells of its end again and again, with pauses
nothing_left 90
done_testing

#!/bin/sh
# Commands of Slurm that never answer: gv-run goes on, says so once, and stops when it is told to.
# shellcheck disable=SC2002,SC2013,SC2015,SC2016,SC2035,SC2046,SC2086,SC2154
. "${0%/*}/lib.sh"
. "$src/tests/slurm_runs.sh"

allocate
mkdir stub
for c in squeue scontrol sinfo scancel srun; do
	cat >"stub/$c" <<-X
		#!/bin/sh
		[ ! -f $scratch/hang.$c ] || exec sleep 1000
		case "\$*" in *--worker=sweep*) [ ! -f $scratch/hang.sweep ] || exec sleep 1000 ;; esac
		[ -f $scratch/lingers.$c ] || exec $(command -v $c) "\$@"
		$(command -v $c) "\$@"
		exec sleep 1000
	X
	chmod +x "stub/$c"
done
PATH=$scratch/stub:$PATH
printf 'job_id,scale_factor,total_steps,command,gpu_type,steps_per_s,share\n' >heading
{ cat heading && echo "a,1,200,exec $worker -r 100,v100,100,1"; } >one.csv
# sleepers: stubs of ours that are still there
sleepers() {
	for p in $(grep -lsaz "^PATH=$scratch/stub:" /proc/[0-9]*/environ); do
		[ "$(cat "${p%/environ}/comm" 2>/dev/null)" != sleep ] || echo "$p"
	done
}
none_sleeps() { [ -z "$(sleepers)" ]; }
# took LIMIT NAME: since $t0
took() {
	t=$(($(date +%s) - t0))
	if [ "$t" -le "$1" ]; then pass "$2"; else fail "$2: $t s" out err; fi
}

# ---- before a run begins ----
touch hang.scontrol
begin asks one.csv
until_true 60 grep -q 'scontrol of Slurm does not answer' asks.err
is 0 $? "scontrol hangs: it is told"
kill -TERM "$pid"
finish
is_status 143 "and a signal ends it"
err_has 'warning: scontrol of Slurm does not answer; it is waited for up to 60 s' "it says how long it waits"
is 1 "$(grep -c 'does not answer' err)" "it is told once"
rm hang.scontrol

# ---- srun stays behind when all have left ----
touch lingers.srun
t0=$(date +%s)
{ cat heading && echo "a,1,100,exec $worker -r 100,v100,100,1"; } >short.csv
# the first sruns look at the nodes: they end as usual
sed -i "s|^\[ -f $scratch/lingers|case \$* in *--worker=work*) ;; *) exec $(PATH=${PATH#*:} command -v srun) \"\$@\" ;; esac\n&|" stub/srun
begin stays --round=1s --grace=2s short.csv
until_true 60 grep -q ',finish,a,' stays/events.csv
is 0 $? "srun stays behind: the job has finished"
finish
is_status 0 "and the run ends"
is 0 "$(n fail)" "nothing counts as a failure"
until_true 60 none_sleeps
is "" "$(sleepers)" "no srun is left"
rm lingers.srun

# ---- srun hangs when a run goes on ----
{ cat heading && echo "a,1,2000,exec $worker -r 100,v100,100,1"; } >lasts.csv
begin waits --round=1s --grace=2s lasts.csv
until_true 60 grep -q ',start,a,' waits/events.csv
touch hang.sweep
kill -9 "$pid"
wait "$pid" 2>/dev/null
sleep 1
begin waits --resume --round=1s --grace=2s
until_true 60 grep -q 'srun of Slurm does not answer' waits.err
is 0 $? "srun hangs while the nodes are cleaned up: it is told"
t0=$(date +%s)
kill -TERM "$pid"
finish
is_status 143 "a signal ends it"
took 20 "at once"
rm hang.sweep

# ---- everything hangs while jobs run ----
{ cat heading && echo "b,1,$((${GV_LONG:+30}0 + 300)),exec $worker -r 20,v100,20,1"; } >long.csv
begin runs --round=1s --grace=2s long.csv
until_true 60 grep -q ',start,b,' runs/events.csv
touch hang.squeue hang.sinfo hang.scontrol hang.scancel hang.srun
{ cat heading && echo "c,1,100,exec $worker -r 100,p100,100,1"; } >more.csv
gv-run --submit -s runs more.csv
until_true 60 grep -q 'Slurm does not answer' runs.err
is 0 $? "squeue and sinfo hang: it is told"
until_true 60 grep -q ',finish,b,' runs/events.csv
is 0 $? "what runs goes on to its end"
[ -z "${GV_LONG:-}" ] || sleep 45
t0=$(date +%s)
kill -TERM "$pid"
finish
is_status 143 "a signal ends the run"
took 90 "when the steps that never began were given up"
is 1 "$(grep -c 'Slurm does not answer' err)" "it was told once"
[ -z "${GV_LONG:-}" ] || err_has 'warning: Slurm has not started a step for 60 s; it is waited for up to 600 s' \
	"and that steps do not begin"
rm hang.*
until_true 60 none_sleeps
is "" "$(sleepers)" "no command is left"
begin runs --resume --round=1s --grace=2s
finish
is_status 0 "when Slurm answers the run goes on"
is 1 "$(grep -c ',finish,c,' runs/events.csv)" "to its end"
is 0 "$(grep -c ',fail,' runs/events.csv)" "nothing counts as a failure"
nothing_left
done_testing

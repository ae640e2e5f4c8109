#!/bin/sh
# The demo's verdict is losses and completion; shares are a note.  Played with
# programs that measure, run and train nothing, so that it can be made to fail.
. "${0%/*}/lib.sh"

mkdir fake
ln -s "$bin/gv-report" fake/gv-report
cat >fake/gv-profile <<'E'
#!/bin/sh
echo "$*" >profile.args
awk -F, -v OFS=, 'NR == 1 { print $0, "gpu_type", "steps_per_s"; next }
	{ print $0, "cpu2", 20 * NR; print $0, "cpu1", 10 }' jobs.csv
E
printf '#!/bin/sh\nexec sed "1s/$/,share/; 1!s/$/,0.5/"\n' >fake/gv-alloc
# gv-run: every job promised half of each type, and on the first alone for 100 s
cat >fake/gv-run <<'E'
#!/bin/sh
echo 'time_s,event,job_id,gpu_type,share,gpus,steps'
cut -d, -f1,4,6 | sed 1d | while IFS=, read -r job steps type; do
	[ "$type" = cpu2 ] || continue
	mkdir -p "state/jobs/$job/checkpoint"
	echo "$job $steps" >"state/jobs/$job/checkpoint/losses.csv"
	for event in "arrive,$job,,," "allocate,$job,cpu2,0.5," "allocate,$job,cpu1,0.5," "start,$job,cpu2,,0" "preempt,$job,cpu2,,0" "resume,$job,cpu2,,0"; do
		echo "0,$event,"
	done
	echo "$job" >>ran
done
for job in $(cat ran); do
	[ "$job" = "${UNFINISHED:-}" ] || echo "100,finish,$job,cpu2,,,10"
done
echo '100,end,,,,,'
E
cat >fake/gv-train <<'E'
#!/bin/sh
[ "${WRONG:-}" != "${GV_CHECKPOINT_DIR##*/}" ] || GV_TOTAL_STEPS=0
echo "${GV_THREADS:-all}" >>alone.threads
echo "${GV_CHECKPOINT_DIR##*/} $GV_TOTAL_STEPS" >"$GV_CHECKPOINT_DIR/losses.csv"
E
chmod +x fake/*

# demo DIR [NAME=VALUE...]: plays it
demo() {
	dir=$1
	shift
	run env GV_BIN="$PWD/fake" "$@" sh "$src/examples/demo/demo.sh" "$dir"
}
demo one
is_status 0 "shares far from those promised are no failure"
out_has 'note: shares received differ from those promised' "but a note"
out_has 'load average' "with the load"
cut -d, -f1,2 one/steps.csv >out
is_out "steps for so many seconds at the speed measured" <<E
cnn,1210
cnn-gang,1450
cnn-small,970
mlp,490
mlp-large,730
E
grep -qe '--parallel=3 ' one/profile.args || status=1
is_status 0 "which is that beside the others: as many at once as there are devices"
[ "$(sort -u one/alone.threads)" = 1 ] || status=1
is_status 0 "two that train alone side by side have a thread each"
demo two DEMO_S=1
[ "$(sed -n '/^mlp,/p' two/steps.csv | cut -d, -f2)" -eq 50 ] || status=1
is_status 0 "and for others when told"
demo three WRONG=cnn
is_status 1 "losses that differ are a failure"
out_has 'cnn: DIFFERS' "which is named"
demo four UNFINISHED=mlp
is_status 1 "a job that did not finish is a failure"
done_testing

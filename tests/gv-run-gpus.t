#!/bin/sh
# GPUs of this machine that NVML says are lost, while gv-run runs.
. "${0%/*}/lib.sh"

mkdir lib && cp "$build/preload/nvml.so" lib/libnvidia-ml.so.1
# gpus STATE STATE: what NVML tells of the two, by rename
gpus() {
	printf 'GPU-a|A|0000:01:00.0|100|100|%s\nGPU-b|A|0000:02:00.0|100|100|%s\n' "$1" "$2" >gpus.new
	mv gpus.new gpus
}
within() { # SECONDS CMD...
	n=$(($1 * 20))
	shift
	until "$@" >/dev/null 2>&1; do
		n=$((n - 1))
		[ $n -gt 0 ] || return 1
		sleep .05
	done
}
gpus ok ok
printf 'gpu_type,gpus,threads\na,2,\nc,1,1\n' >cluster.csv
for j in x y z; do
	printf '%s,300,exec %s -e 10 -r 40,%s,40,1\n' $j "$build/helpers/worker" "$(if [ $j = z ]; then echo c; else echo a; fi)"
done | sed '1i job_id,total_steps,command,gpu_type,steps_per_s,share' >jobs.csv
LD_LIBRARY_PATH=lib GV_FAKE_NVML=$scratch/gpus gv-run -c cluster.csv -s st --round=1s --grace=3s jobs.csv >out 2>err &
pid=$!
ran='gv-run, with a fake NVML'
if within 10 grep -q ',start,y,a,,1' st/events.csv; then pass "both GPUs are used"; else fail "both GPUs are used" out err; fi
gpus ok lost
if within 15 grep -q ',pool,,a,,0,' st/events.csv; then pass "one is lost: it is taken out of its pool"; else fail "one is lost" out err; fi
sleep 1.5
ok "who had it has left" sh -c '! tail -n1 st/events.csv | grep -q "a,,1,"'
gpus ok ok
if within 15 sh -c 'test "$(grep -c ",pool,,a,,0;1," st/events.csv)" = 2'; then pass "it is there again"; else fail "it is there again" out err; fi
status=0
wait $pid || status=$?
is_status 0 "all jobs finish"
err_has 'warning: 1 of 2 GPUs a cannot be used: GPU is lost' "it is told of"
err_has 'GPUs a can be used again' "and that it is back"
ok "no failure" test "$(grep -c ,fail, out)" -eq 0
ok "CPUs have no part in it" test "$(grep -c ',pool,,c,' out)" -eq 1
done_testing

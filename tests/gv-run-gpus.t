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
if within 60 grep -q ',start,y,a,,1' st/events.csv; then pass "both GPUs are used"; else fail "both GPUs are used" out err; fi
gpus ok lost
if within 60 grep -q ',pool,,a,,0,' st/events.csv; then pass "one is lost: it is taken out of its pool"; else fail "one is lost" out err; fi
ok "who had it has left" within 60 grep -q ',preempt,.,a,,1,' st/events.csv
gpus ok ok
if within 60 sh -c 'test "$(grep -c ",pool,,a,,0;1," st/events.csv)" = 2'; then pass "it is there again"; else fail "it is there again" out err; fi
status=0
wait $pid || status=$?
is_status 0 "all jobs finish"
err_has 'warning: 1 of 2 GPUs a cannot be used: GPU is lost' "it is told of"
err_has 'GPUs a can be used again' "and that it is back"
ok "no failure" test "$(grep -c ,fail, out)" -eq 0
ok "CPUs have no part in it" test "$(grep -c ',pool,,c,' out)" -eq 1

# ---- everything else that NVML may say ----
gpus shared reset # one is lost from the start, and has no name
printf '%s\n' job_id,total_steps,command,gpu_type,steps_per_s,share \
	"u,100000,exec $build/helpers/worker -r 40,a,40,1" \
	"v,100000,exec $build/helpers/worker -r 40,a,40,1" >two.csv
LD_LIBRARY_PATH=lib GV_FAKE_NVML=$scratch/gpus gv-run -c cluster.csv -s st2 --round=1s --grace=3s two.csv >out 2>err &
pid=$!
ran='gv-run, with a fake NVML'
away() { grep -qF "$1 of 2 GPUs a cannot be used: $2" err; }
back() { [ "$(grep -c 'can be used again' err)" = "$1" ]; }
told() { # WHAT GPUS WORDS
	if within 60 away "$2" "$3"; then pass "$1"; else fail "$1" out err; fi
	rounds=$((rounds + 1))
	gpus shared ok
	if within 60 back $rounds; then pass "and back"; else fail "and back" out err; fi
}
all() { echo "$*" >gpus.new && mv gpus.new gpus; }
rounds=0
told "a GPU that requires a reset" 1 'GPU requires reset'
gpus shared action=1
told "what a driver wants after an Xid" 1 'it must be reset (nvidia-smi -r)'
gpus shared action=99
told "and what nobody knows yet" 1 'it must be recovered'
gpus dark ok
told "a GPU that fails" 1 'Unknown Error'
printf 'GPU-b|A|0000:02:00.0|100|100|ok\n' >gpus.new && mv gpus.new gpus
told "one that is not listed any more" 1 'it is gone'
all fail 18
told "a driver that does not fit its library" 2 'NVML: Driver/library version mismatch'
all fail 9
told "one that was unloaded" 2 'NVML: Driver Not Loaded'
all crash
told "one that hangs or crashes" 2 'NVML does not answer'
ok "memory that is the system's is no failure" sh -c '! grep -q "Not Supported" err'
gv-run --cancel -s st2 u v
status=0
wait $pid || status=$?
ok "no failure is the jobs'" sh -c '! grep -q ",fail," st2/events.csv'
done_testing

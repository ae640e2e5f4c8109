#!/bin/sh
# gv-run in an allocation of Slurm: three nodes of a Slurm of our own, on this host.
# shellcheck disable=SC2002,SC2013,SC2015,SC2016,SC2035,SC2046,SC2086,SC2154
. "${0%/*}/lib.sh"

. "$src/tests/slurm_runs.sh"
allocate

# ---- without an allocation ----
cat >cluster.csv <<'EOT'
gpu_type,gpus,node
g,4,n1
g,4,n2
g,4,n3
EOT
cat >gang.csv <<'EOT'
job_id,gpu_type,steps_per_s,share,scale_factor,total_steps,command
a,g,10,1,6,20,"sleep .3; echo $SLURMD_NODENAME $RANK $LOCAL_RANK $GROUP_RANK $GROUP_WORLD_SIZE $LOCAL_WORLD_SIZE $CUDA_VISIBLE_DEVICES $MASTER_ADDR $MASTER_PORT $GV_GANG_KEY >>ranks"
b,g,10,1,6,20,"sleep .3; echo $SLURMD_NODENAME $RANK $LOCAL_RANK $GROUP_RANK $GROUP_WORLD_SIZE $LOCAL_WORLD_SIZE $CUDA_VISIBLE_DEVICES $MASTER_ADDR $MASTER_PORT $GV_GANG_KEY >>ranks"
EOT
run env -u SLURM_CONF gv-run --launcher=slurm -n -c cluster.csv gang.csv
silent "a dry run needs no Slurm"
out_has '0,b,g,n2;n2;n3;n3;n3;n3,2;3;0;1;2;3,' "and shows gangs over nodes"
run gv-run --launcher=slurm -s st gang.csv
is_status 2 "outside of an allocation"
err_has "this is no allocation of Slurm's (SLURM_JOB_ID is not set): say which with --slurm-job" "it asks which"
run gv-run --launcher=slurm --slurm-job=nothing -s st gang.csv
err_has 'Slurm runs no job "nothing" of yours' "a name that no job has"
run gv-run --launcher=slurm --slurm-job=99 -s st gang.csv
err_has 'Invalid job id' "an id that no job has"
run gvrun gang.csv
err_has '--launcher=slurm needs a state that all nodes see: -s DIR' "it needs a state"
run gv-run --slurm-job="$job" -c cluster.csv gang.csv
err_has '--slurm-job goes with --launcher=slurm' "its job needs the launcher"
run gvrun -s st --node=n1 -c cluster.csv gang.csv
err_has '--node cannot be combined with --launcher=slurm' "it has nodes of its own"
run gv-run --worker=work
err_has '--worker is for gv itself: it is started by Slurm' "its other side is started by Slurm only"

# ---- a cluster table against what tasks see ----
printf 'gpu_type,gpus,node,ids\ng,2,n1,0;1\ng,2,n7,0;1\ng,2,n2,3;4\n' >seen.csv
run gvrun -s st -c seen.csv gang.csv
is_status 2 "GPUs that are not there"
err_has 'warning: not in the allocation, and left out: n7' "a node that is not is left out"
err_has 'seen.csv:4: ids: node n2 has no GPU 4 for its tasks, which see 0;1;2;3' "and are named"
printf 'gpu_type,gpus\ng,2\n' >seen.csv
run gvrun -s st -c seen.csv gang.csv
err_has 'expected the node of these GPUs: under Slurm all have one' "GPUs of no node"
printf 'gpu_type,gpus,node\ng,2,m\n' >seen.csv
run gvrun -s st -c seen.csv gang.csv
err_has 'no node of the allocation' "only other nodes"
rm -rf st

# ---- commands of Slurm that say something else ----
# says COMMAND TEXT: what it says instead, and leaves with 0
says() {
	printf '#!/bin/sh\ncat <<"X"\n%s\nX\n' "$2" >"stub/$1" && chmod +x "stub/$1"
}
stubbed() { PATH="$PWD/stub:$PATH" gv-run --launcher=slurm -s st gang.csv "$@"; }
mkdir stub
run env PATH="$bin" gv-run --launcher=slurm --slurm-job=1 -s st gang.csv
err_has "scontrol: Slurm's commands are not here" "none at all"
says squeue "1
2"
run stubbed --slurm-job=pool
err_has 'Slurm runs several jobs "pool": which one, say by its id' "two jobs of a name"
says squeue "7+0
7+1"
says scontrol 'JobId=7 JobState=PENDING Nodes=n1 CPU_IDs=0 Mem=0 GRES='
run stubbed --slurm-job=pool
err_has 'job 7: no Slurm job runs there' "one that waits"
says scontrol 'JobId=7 JobState=RUNNING  Nodes=n[1- CPU_IDs=0 Mem=0 GRES='
run stubbed --slurm-job=7
err_has 'scontrol: expected nodes and GPUs of a job, got "JobId=7' "a list that is none"
says scontrol 'JobId=7 JobState=RUNNING  Nodes=n[1-2] CPU_IDs=0 Mem=0 GRES=gpu:g:2(IDX:1,3)
JobId=8 JobState=RUNNING  Nodes=n3 CPU_IDs=0 Mem=0 GRES=gpu:g:1(IDX:0)'
says sinfo 'n1|a1|idle'
says srun ''
run stubbed --slurm-job=7
err_has 'node n1: the probe has said nothing' "a probe that says nothing"
says srun 'probe n1 0,1
probe n2 0,1
probe n3 0'
run stubbed --slurm-job=7
err_has "node n1 does not see $PWD/st/launches: the state must be on a file system that all nodes share" "a state of one's own"
cat >stub/srun <<'EOT'
#!/bin/sh
for word; do case $word in --worker=probe=*) d=${word#--worker=probe=} ;; esac; done
for node in n1 n2 n3; do : >"$d/probe.$node"; done
rm -rf st/launches # another gv-run cleans up there
printf 'probe n1 0,1\nprobe n2 0,1\nprobe n3 0\n'
EOT
run stubbed --slurm-job=7
err_has 'is in two groups of a heterogeneous job (nodes n1 and n3), and a gang cannot run in both: call them differently in a cluster table' "a type in two groups"
printf '#!/bin/sh\nsleep 100\n' >stub/scontrol
if [ -n "${GV_LONG:-}" ]; then
	run stubbed --slurm-job=7
	err_has 'scontrol: Slurm does not answer' "a command that never ends"
fi
rm -rf st stub

# ---- a gang over two nodes ----
run gvrun -s gang --round=20s -c cluster.csv gang.csv
silent "gangs of six on nodes of four"
is 2 "$(n finish)" "both finish"
sort -n -k2 ranks | awk '
	{ addr[$8 " " $9 " " $10]++; seen[$8 " " $9, $2]++ }
	{ print $2, $3, $4, $5, $6, $7 }
	END { for (a in addr) print addr[a], "with one address, port and key"; for (s in seen) if (seen[s] > 1) print "twice", s }' |
	sort >got
sort >want <<'EOT'
0 0 0 2 2 2,3
0 0 0 2 4 0,1,2,3
1 1 0 2 2 2,3
1 1 0 2 4 0,1,2,3
2 0 1 2 4 0,1,2,3
2 2 0 2 4 0,1,2,3
3 1 1 2 4 0,1,2,3
3 3 0 2 4 0,1,2,3
4 0 1 2 2 0,1
4 2 1 2 4 0,1,2,3
5 1 1 2 2 0,1
5 3 1 2 4 0,1,2,3
6 with one address, port and key
6 with one address, port and key
EOT
same_file want got "ranks, nodes and devices are right on both"
ok "the address is the node's" test "$(cut -d' ' -f8 ranks | sort -u)" = 127.0.0.1
out_has ',start,b,g,n2;n2;n3;n3;n3;n3,2;3;0;1;2;3,' "the events name each GPU's node"

# ---- the pipe on twelve GPUs ----
awk -v w="$worker" 'BEGIN {
	OFS = ","
	print "job_id", "scale_factor", "total_steps", "command", "gpu_type", "steps_per_s"
	split("v100 p100 k80", type, " ")
	for (i = 1; i <= 6; i++)
		for (t = 1; t <= 3; t++)
			print "j" i, i % 2 ? 4 : 1, 30, "exec " w " -r 40", type[t], 40 / t
}' >rates.csv
printf 'gpu_type,gpus,node\nv100,4,n1\np100,4,n2\nk80,4,n3\n' >types.csv
gv-alloc -p max-min -c types.csv rates.csv >alloc.csv
run gvrun -s pipe --round=1s --grace=5s alloc.csv
is_status 0 "gv-alloc | gv-run, without a cluster table"
is 6 "$(n finish)" "all finish"
is 0 "$(n fail)" "none fails"
cp out pipe.csv
run gv-report pipe.csv
is_status 0 "gv-report reads it"
for i in 1 2 3 4 5 6; do
	seq 30 | cmp -s - pipe/jobs/j$i/checkpoint/steps || echo "j$i"
done >got
same_file /dev/null got "each step is done once"

# ---- stopping ----
cat >loader <<'EOT'
# a trainer whose child must live until it has saved itself
mark=$GV_CHECKPOINT_DIR
save() {
	kill -0 $child && echo the child lives >>$mark/said
	until [ "$(grep -c lives "$mark/said")" -ge 2 ]; do sleep .05; done # the other rank, too
	sleep .2
	kill $child
	exit 143
}
trap save TERM
sh -c 'trap "echo the child was told >>$0/said" TERM; while :; do sleep .05; done' "$mark" &
child=$!
echo step 1 >>$GV_PROGRESS
wait
EOT
cat >stop.csv <<'EOT'
job_id,gpu_type,steps_per_s,share,scale_factor,total_steps,command
l,v100,10,1,2,20,exec sh loader
f,p100,10,1,2,20,"[ $RANK = 0 ] || exit 3; trap 'exit 143' TERM; while :; do sleep .1; done"
i,k80,10,1,1,20,"trap '' TERM; touch deaf; while :; do sleep .1; done"
EOT
begin stop --grace=5s --max-failures=1 stop.csv
until_true 60 grep -q ',drop,f,' stop/events.csv
until_true 60 test -e deaf
until_true 60 test -s stop/jobs/l/progress
kill -TERM "$pid"
finish
is_status 143 "gv-run is told to stop"
cat >want <<'EOT'
the child lives
the child lives
EOT
sed -i '/told/q' stop/jobs/l/checkpoint/said
head -n2 stop/jobs/l/checkpoint/said >got
same_file want got "a trainer's children live until it has saved itself"
is 1 "$(n preempt l)" "it is preempted"
out_has ',fail,f,p100,n2,0;1,,0,,status 3' "a gang leaves with the status of who failed first"
grep -q ',preempt,i,.*status 137' out
is 0 $? "who ignores it is killed after the grace time"

# ---- the cluster table is read again ----
printf 'gpu_type,gpus,node\ng,4,n1\n' >pools.csv
awk -v w="exec $worker -e 10 -r 20" 'BEGIN {
	OFS = ","
	print "job_id", "total_steps", "command", "gpu_type", "steps_per_s", "share"
	for (i = 1; i <= 8; i++) print "w" i, 60, w, "g", 20, 0.5
}' >watch.csv
begin watch --watch --round=1s --grace=3s -c pools.csv watch.csv
until_true 60 grep -q ',start,w4' watch/events.csv
printf 'gpu_type,gpus,node\ng,4,n3\ng,2,n2\n' >pools.new
mv pools.new pools.csv
finish
is_status 0 "with --watch the table of -c may change"
ok "all GPUs of the new table are used" test "$(grep -c ',\(start\|resume\),w[0-9],g,n[23],' out)" -ge 6
is '' "$(awk -F, '/,pool,/ && $5 == "n3" { on = 1 } on && /,(start|resume),/ && $5 == "n1"' out)" "and no others"
is 0 "$(n fail)" "nothing counts as a failure"

# ---- forty at once ----
awk 'BEGIN {
	OFS = ","
	print "job_id", "total_steps", "command", "gpu_type", "steps_per_s", "share"
	for (i = 0; i < 40; i++)
		print "f" i, 1, "sleep .2; echo step 1 >>$GV_PROGRESS", "c", 1, 1
}' >forty.csv
printf 'gpu_type,gpus,node,threads\nc,14,n1,1\nc,14,n2,1\nc,12,n3,1\n' >forty.cluster.csv
begun=$(date +%s)
run gvrun -s forty --round=60s -c forty.cluster.csv forty.csv
silent "forty launches at once, of GPUs that are CPUs"
is 40 "$(n finish)" "all finish"
is 40 "$(n start)" "each was started once"
ok "at once, not one by one" test $(($(date +%s) - begun)) -lt 60

# ---- a heterogeneous job: two groups are pools of one cluster ----
scancel "$job"
until_true 60 sh -c 'test "$(sinfo -h -o %D -t idle)" = 3'
job=$(salloc --no-shell -J het -N1 --gres=gpu:v100:4 : -N2 --gres=gpu:2 2>&1 |
	sed -n 's/.*Granted job allocation //p')
cat >het.csv <<'EOT'
job_id,gpu_type,steps_per_s,share,scale_factor,total_steps,command
one,v100,10,1,4,1,echo $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES $SLURM_JOB_ID >>het
two,p100,10,1,2,1,echo $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES $SLURM_JOB_ID >>het
EOT
run gvrun -s het.st --round=20s het.csv
silent "two groups of a heterogeneous job"
sort -u het | cut -d' ' -f1,2 >got
printf 'n1 0,1,2,3\nn2 0,1\n' >want
same_file want got "each has its nodes and GPUs"
nothing_left
done_testing

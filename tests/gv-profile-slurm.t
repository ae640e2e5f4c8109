#!/bin/sh
# gv-profile jobs in an allocation of Slurm: rates of every job on every type of three nodes of a
# Slurm of our own, several at once; nodes that die, a controller and an allocation that go away.
# shellcheck disable=SC2002,SC2013,SC2015,SC2016,SC2035,SC2046,SC2086,SC2154
. "${0%/*}/lib.sh"
SLURM_LOST=8 # nodes are killed here
. "$src/tests/slurm_runs.sh"
PATH=$build/helpers:$PATH

# profile OPTION...: a short measurement of jobs.csv there
profile() {
	gv-profile jobs --launcher=slurm --slurm-job="$job" -s st --warmup=.3s --window=1s --grace=2s "$@" jobs.csv
}
# rates_are NAME <<'EOT': the last columns of out, rates within 15 % of these.
# Workers are late on a machine that does other things as well: then all is measured once more
rates_are() {
	cat >want
	for try in 1 2 3 4; do
		rates_differ || break
		# shellcheck disable=SC2086
		[ $try = 4 ] || run $ran
	done
	same_file /dev/null got "$1"
}
rates_differ() {
	awk -F, 'NR == FNR { want[$1, $2] = $3; n++; next }
		FNR > 1 { seen++; w = want[$1, $(NF - 1)]; if (w == "" || $NF > w * 1.15 || $NF < w * .85) print $1, $(NF - 1), $NF ", not", w }
		END { if (seen != n) print seen, "rows, not", n }' want out >got
	[ -s got ]
}
# all_report N: until so many measurements have steps at once
all_report() {
	until_true 60 sh -c 'test $(grep -ls step st/*/run.*/progress | wc -l) -ge '"$1"
}
no_files() {
	ls -A st >left 2>/dev/null
	same_file /dev/null left "$1"
}

# ---- options ----
printf 'job_id,command\na,stepper\n' >jobs.csv
run gv-profile jobs --launcher=slurm jobs.csv
err_has '--launcher=slurm needs a state that all nodes see: -s DIR' "it needs a directory"
run gv-profile jobs --launcher=slurm -s st --node=n1 jobs.csv
err_has '--node cannot be combined with --launcher=slurm' "it has nodes of its own"
run gv-profile jobs --slurm-job=1 -c cluster.csv jobs.csv
err_has '--slurm-job goes with --launcher=slurm' "its job needs the launcher"
run gv-profile jobs --launcher=slurm -s st jobs.csv
err_has 'this is no allocation of Slurm' "outside of an allocation"
no_files "nothing is left of it"
run gv-profile --worker=work
err_has '--worker is for gv itself: it is started by Slurm' "its other side is started by Slurm only"

# ---- what nodes there are, as Slurm lists them ----
allocate
printf 'gpu_type,gpus,node,memory_bytes,threads,ids\nv100,4,n1,,,\np100,4,n2,,,\nk80,4,n3,,,\n' >all
for ask in 'scontrol show node' 'scontrol show node -o' "sinfo -No '%N %G'" "sinfo -hNn '$(squeue -h -j "$job" -o %N)' -o '%N %G'"; do
	eval "$ask" >nodes
	run gv-profile devices --from=nodes
	same_file all out "devices --from: $ask"
done

# ---- all jobs on all types, at once ----
cat >jobs.csv <<'EOT'
job_id,job_type,scale_factor,command
a,mlp,1,stepper -g v100=200 -g p100=100 -g k80=50
b,cnn,1,stepper -g v100=120 -g p100=60 -g k80=30
c,mlp,1,false
g,gang,3,stepper -g v100=80 -g p100=40 -g k80=20
EOT
run profile -v
is_status 0 "jobs on all types of an allocation"
rates_are "their rates" <<'EOT'
a,v100,200
a,p100,100
a,k80,50
b,v100,120
b,p100,60
b,k80,30
c,v100,200
c,p100,100
c,k80,50
g,v100,80
g,p100,40
g,k80,20
EOT
is 9 "$(grep -c 'steps/s, standard error' err)" "each is measured once"
no_files "nothing is left of it"
nothing_left

# ---- of a cluster table; gangs over nodes, on as few as can be; one after another on a node ----
printf 'gpu_type,gpus,node\ng,4,n1\ng,4,n2\ng,1,n3\nother,4,n7\n' >cluster.csv
cat >jobs.csv <<EOT
job_id,scale_factor,command
wide,7,"[ \$RANK != 0 ] || echo \$GROUP_WORLD_SIZE >$PWD/wide; exec stepper -r 50"
narrow,4,"[ \$RANK != 0 ] || echo \$GROUP_WORLD_SIZE >$PWD/narrow; exec stepper -r 50"
one,1,exec stepper -r 100
two,1,exec stepper -r 100
EOT
run profile -c cluster.csv --parallel=1
is_status 0 "types of a cluster table"
is_err "nodes that are not there are left out" <<'EOT'
gv-profile: warning: not in the allocation, and left out: n7
EOT
rates_are "gangs over nodes" <<'EOT'
wide,g,50
narrow,g,50
one,g,100
two,g,100
EOT
is '2 1' "$(cat wide) $(cat narrow)" "on no more nodes than they need"
printf 'job_id,scale_factor,command\nhuge,10,stepper\n' >jobs.csv
run profile -c cluster.csv
rates_are "a gang larger than the type has rate 0" <<'EOT'
huge,g,0
EOT

# ---- jobs that misbehave ----
cat >jobs.csv <<'EOT'
job_id,scale_factor,command
bad,1,stepper -x 3 -n 5 -w 'CUDA out of memory'
mute,1,stepper -m
deaf,1,stepper -i -d -r 100
rank,2,stepper -f 1 -n 3 -x 9
EOT
printf 'gpu_type,gpus,node\ng,4,n1\ng,4,n2\n' >cluster.csv
run profile -c cluster.csv --timeout=8s
is_status 1 "jobs that misbehave"
rates_are "have rate 0, those that train theirs" <<'EOT'
bad,g,0
mute,g,0
deaf,g,100
rank,g,0
EOT
err_has 'job "bad" on g: failed with status 3: "CUDA out of memory"' "it says why: failed"
err_has 'job "mute" on g: reported no step within 8 s' "silent"
err_has 'job "rank" on g: failed with status 9' "a rank of a gang failed"
nothing_left
no_files "nothing is left of it"

# ---- stopped ----
printf 'job_id,scale_factor,command\na,1,stepper -r 50\nb,3,stepper -i -d -r 50\n' >jobs.csv
for name in INT TERM; do
	case $name in INT) want=130 ;; TERM) want=143 ;; esac
	env --default-signal=INT gv-profile jobs --launcher=slurm --slurm-job="$job" -s st --window=60s --grace=1s jobs.csv >out 2>err &
	pid=$! status=0
	all_report 6
	kill -s $name $pid
	wait $pid || status=$?
	ran="gv-profile jobs, SIG$name"
	is_status $want "SIG$name"
	silent_out=$(cat out err)
	is '' "$silent_out" "no table, no words"
	nothing_left
	no_files "no files"
done
gv-profile jobs --launcher=slurm --slurm-job="$job" -s st --window=60s --grace=1s jobs.csv >out 2>err &
pid=$!
all_report 6
kill -9 $pid
wait $pid 2>/dev/null
until_true 60 sh -c '! grep -lsaz "^GV_LAUNCH_DIR=$PWD/st" /proc/[0-9]*/environ'
is 0 $? "SIGKILL: its jobs are gone soon after"
until_true 60 no_steps
rm -rf st
no_files "nobody writes any more"

# ---- srun is killed, the controller goes away ----
printf 'job_id,scale_factor,command\na,1,stepper -r 50\nb,2,stepper -r 50\n' >jobs.csv
profile --window=6s >out 2>err &
pid=$! status=0
all_report 6
kill -9 $(grep -lsaz "^GV_LAUNCH_DIR=$PWD/st" /proc/[0-9]*/environ | while read -r p; do
	[ "$(cat "${p%environ}comm" 2>/dev/null)" != srun ] || echo "${p%/environ}" | tr -dc '0-9\n'
done | head -n 1)
kill -9 "$(cat slurm/run/ctld.pid)"
sleep 2
slurm start "$scratch/slurm"
wait $pid || status=$?
ran="profile --window=6s" # with an srun killed, slurmctld away
is_status 0 "an srun is killed, slurmctld is away for two seconds: it is tried again"
rates_are "and measured" <<'EOT'
a,v100,50
a,p100,50
a,k80,50
b,v100,50
b,p100,50
b,k80,50
EOT
nothing_left
no_files "nothing is left of it"

# ---- a node dies: its type cannot be measured, the others are ----
profile --window=8s --timeout=16s >out 2>err &
pid=$! status=0
all_report 6
slurm kill "$scratch/slurm" n3
wait $pid || status=$?
ran="profile --window=8s --timeout=16s" # while n3 dies
is_status 1 "a node dies"
rates_are "what is not known has no row" <<'EOT'
a,v100,50
a,p100,50
b,v100,50
b,p100,50
EOT
grep -q 'jobs.csv:2: job "a" on k80: not measured: it is ' err
is 0 $? "it says which, and why"
no_files "nothing is left of it"
printf 'gpu_type,gpus,node\ng,4,n1\ng,4,n3\n' >cluster.csv
slurm start "$scratch/slurm" n3
until_true 60 sh -c 'test "$(sinfo -h -n n3 -o %t)" = idle'
scancel "$job"
until_true 60 sh -c 'test "$(sinfo -h -o %D -t idle)" = 3'
allocate
printf 'job_id,scale_factor,command\na,3,stepper -r 50\nb,3,stepper -r 40\n' >jobs.csv
profile -c cluster.csv --window=4s >out 2>err &
pid=$! status=0
all_report 2
slurm kill "$scratch/slurm" n3
wait $pid || status=$?
ran="profile -c cluster.csv --window=4s" # while n3 dies
is_status 0 "where another node has the type, it is measured there"
rates_are "both are" <<'EOT'
a,g,50
b,g,40
EOT
slurm start "$scratch/slurm" n3

# ---- the allocation ends ----
printf 'job_id,scale_factor,command\na,4,stepper -r 50\nb,4,stepper -r 40\n' >jobs.csv
printf 'gpu_type,gpus,node\ng,4,n1\n' >cluster.csv
profile -c cluster.csv --window=6s >out 2>err &
pid=$! status=0
until_true 60 sh -c 'grep -lqs step st/*/run.2/progress'
scancel "$job"
wait $pid || status=$?
ran="gv-profile jobs, scancel"
is_status 1 "the allocation is cancelled"
rates_are "what is known is written" <<'EOT'
a,g,50
EOT
err_has 'job "b" on g: not measured: the allocation has ended' "it says what is not"
until_true 60 sh -c 'test "$(sinfo -h -o %D -t idle)" = 3'
allocate --time=1
run profile -c cluster.csv --window=60s
is_status 1 "an allocation with too little time left"
err_has 'job "a" on g: not measured: the allocation ends in ' "nothing is begun"
nothing_left
no_files "nothing is left of it"
done_testing

#!/bin/sh
# gv-profile devices --from: what Slurm and nvidia-smi list, as a cluster table.
. "${0%/*}/lib.sh"

header=gpu_type,gpus,node,memory_bytes,threads,ids
# as scontrol 22.05 writes it, cut to what matters and what may confuse
cat >scontrol.txt <<'EOT'
NodeName=n1 Arch=x86_64 CoresPerSocket=1
   CPUAlloc=0 CPUEfctv=4 CPUTot=4 CPULoad=8.29
   AvailableFeatures=(null)
   Gres=gpu:v100:4(S:0-1),gpu:a100:2,mps:400
   NodeAddr=127.0.0.1 NodeHostName=n1 Port=17001 Version=22.05.8
   OS=Linux 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)
   State=IDLE ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A

NodeName=n2 Arch=x86_64 CoresPerSocket=1
   Gres=gpu:3
   State=DOWN*+DRAIN ThreadsPerCore=1

NodeName=n3 Arch=x86_64
   Gres=(null)
   State=MIXED ThreadsPerCore=1

NodeName=n4 Gres=gpu:NVIDIA_H100(S:0) State=MIXED+PLANNED
NodeName=n5 Gres=gpu:2,craynetwork:1 State=ALLOCATED
EOT
run gv-profile devices --from=scontrol.txt
is_out "scontrol show node" <<EOT
$header
v100,4,n1,,,
a100,2,n1,,,
h100,1,n4,,,
gpu,2,n5,,,
EOT
is_err "a node that is down is left out" <<'EOT'
gv-profile: warning: node n2 is left out: DOWN*+DRAIN
EOT
cp out cluster.csv
{
	echo job_id,gpu_type,steps_per_s
	echo a,v100,1
} >rates.csv
run gv-alloc -p max-min -c cluster.csv rates.csv
silent "gv-alloc takes it"
run gv-profile devices -q --from=scontrol.txt --map=gpu=p100
out_has p100,2,n5 "--map names what has no name"
ok "--quiet" test ! -s err

printf 'NODELIST GRES\nn1 gpu:v100:4(S:0,1),gpu:k80:1\nn1 gpu:v100:4(S:0,1),gpu:k80:1\nn2 (null)\n' >sinfo.txt
run gv-profile devices --from=- <sinfo.txt
is_out "sinfo, a node in two partitions" <<EOT
$header
v100,4,n1,,,
k80,1,n1,,,
EOT
echo 'n[1-3] gpu:v100:4' >list.txt
run gv-profile devices --from=list.txt
is_err "a list of nodes" <<'EOT'
gv-profile: list.txt:1: expected one node a line (sinfo -N), got "n[1-3]"
EOT
echo 'this is nothing' >list.txt
run gv-profile devices --from=list.txt
err_has 'gv-profile: list.txt:1: expected a node and its resources (sinfo -N -o "%N %G"), got "this is nothing"' "something else"
echo 'n1 (null)' >list.txt
run gv-profile devices --from=list.txt
is_err "no GPU" <<'EOT'
gv-profile: list.txt: no GPU
EOT
echo 'n1 gpu:v100:99999' >list.txt
run gv-profile devices --from=list.txt
err_has 'gv-profile: node n1: expected a number of GPUs, got "gpu:v100:99999"' "too many"
printf 'n1 gpu:\0001\n' >list.txt
run gv-profile devices --from=list.txt
err_has 'gv-profile: list.txt: is no text' "no text"
: >list.txt
run gv-profile devices --from=list.txt
err_has 'gv-profile: list.txt: no GPU' "an empty list"

cat >states.txt <<'EOT'
NodeName=a x Gres=gpu State=IDLE
NodeName=b Gres=gpu:k:2,gpu:v100:0,gpu:t4 State=DOWN
NodeName=c Gres=gpu:k:2,gpu:v100:0,gpu:t4,gpus:3,gp State=MIXED
NodeName=d Gres=gpu:v100:1024(S:0,1),gpu:k:1 State=IDLE
NodeName=e Gres=gpu:1 State=DRAIN
NodeName=f Gres=gpu:1 State=FAIL
NodeName=g Gres=gpu:1 State=IDLE+NOT_RESPONDING
NodeName=h Gres=gpu:1 State=IDLE*
NodeName= Gres=(null) State=
EOT
run gv-profile devices --from=states.txt
is_out "resources without a number or a type, none of a type, the most of one" <<EOT
$header
gpu,1,a,,,
k,2,c,,,
t4,1,c,,,
v100,1024,d,,,
k,1,d,,,
EOT
is_err "states in which a node gets no work" <<'EOT'
gv-profile: warning: node b is left out: DOWN
gv-profile: warning: node e is left out: DRAIN
gv-profile: warning: node f is left out: FAIL
gv-profile: warning: node g is left out: IDLE+NOT_RESPONDING
gv-profile: warning: node h is left out: IDLE*
EOT
for n in 1025 -1; do
	echo "n1 gpu:$n" >list.txt
	run gv-profile devices --from=list.txt
	err_has "gv-profile: node n1: expected a number of GPUs, got \"gpu:$n\"" "$n GPUs"
done
printf 'NODELIST GRES\r\n\nn1\tgpu:2 \r\nn11 gpu:3\nn gpu:1' >sinfo.txt
run gv-profile devices --from=sinfo.txt
is_out "nodes whose names begin alike, ends of lines, and none at the last" <<EOT
$header
gpu,2,n1,,,
gpu,3,n11,,,
gpu,1,n,,,
EOT
printf 'NODEL GR\nN gpu:1\nNODE gpu:2\n' >sinfo.txt # sinfo -o '%%5N %%2G'
run gv-profile devices --from=sinfo.txt
is_out "a narrow heading, and nodes whose names it might begin with" <<EOT
$header
gpu,1,N,,,
gpu,2,NODE,,,
EOT
printf 'n1 gpu:2\nn2\n' >sinfo.txt
run gv-profile devices --from=sinfo.txt
err_has 'gv-profile: sinfo.txt:2: expected a node and its resources' "a node without"

# as nvidia-smi --query-gpu=index,name,uuid,memory.total --format=csv writes it
cat >smi.csv <<'EOT'
index, name, uuid, memory.total [MiB]
0, NVIDIA A100-SXM4-80GB, GPU-5d5ba0d6, 81920 MiB
1, Tesla V100-SXM2-16GB, GPU-6e5ba0d6, 16160 MiB
2, NVIDIA A100-SXM4-80GB, GPU-7d5ba0d6, 81000 MiB
3, NVIDIA A100-SXM4-80GB, GPU-8d5ba0d6, [N/A]
EOT
run gv-profile devices --from=smi.csv --node=h1 --map=a100-sxm4-80gb=a100
is_out "nvidia-smi" <<EOT
$header
a100,3,h1,84934656000,,0;2;3
v100-sxm2-16gb,1,h1,16944988160,,1
EOT
sed 's/ MiB$//' smi.csv >nounits.csv
run gv-profile devices --from=nounits.csv --node=h1 --map=a100-sxm4-80gb=a100
same_file out want "with nounits, too"
printf 'gpu_name, memory.total [MiB]\r\nA, [N/A]\r\nA, 2\r\nB, 0\r\nA, 1.5 MiB\r\nA, -1\r\nB, 7\r\nC, 1e12\r\n' >smi.csv
run gv-profile devices --from=smi.csv --node=h1
is_out "memory is the least that is known, indices those of rows" <<EOT
$header
a,4,h1,1572864,,0;1;3;4
b,2,h1,0,,2;5
c,1,h1,,,6
EOT
printf 'uuid, name\r\nx, A\r\n' >smi.csv
run gv-profile devices --from=smi.csv --node=h1
out_has a,1,h1,,,0 "the name as the last column"
for i in 4096 4097 -1; do
	printf 'name, index\nx, %s\n' $i >smi.csv
	run gv-profile devices --from=smi.csv --node=h1
	if [ $i = 4096 ]; then
		out_has "x,1,h1,,,$i" "the largest index"
	else
		err_has 'expected the index of a GPU' "an index of $i"
	fi
done
printf 'name, index\nx, one\n' >smi.csv
run gv-profile devices --from=smi.csv
err_has 'smi.csv:2:' "an index that is none"
err_has 'expected the index of a GPU' "is an error"
run gv-profile devices --from=smi.csv --cpu
err_has 'gv-profile: --from cannot be combined with --cpu, --list or --measure' "not with --cpu"
done_testing

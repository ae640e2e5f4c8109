#!/bin/sh
# gv-profile: subcommands, and what devices makes of the GPUs of a fake NVML.
. "${0%/*}/lib.sh"

# ---- the command line ----
run gv-profile
is_status 2 "no subcommand"
is_err "no subcommand: message" <<'EOT'
gv-profile: no subcommand given; known: arrays, devices, jobs, layers, links, memory, pairs
usage: gv-profile [-hV] arrays|devices|jobs|layers|links|memory|pairs [option ...] [file]
EOT
run gv-profile nothing
is_status 2 "an unknown subcommand"
is_err "an unknown subcommand: message" <<'EOT'
gv-profile: unknown subcommand "nothing"; known: arrays, devices, jobs, layers, links, memory, pairs
usage: gv-profile [-hV] arrays|devices|jobs|layers|links|memory|pairs [option ...] [file]
EOT
run gv-profile -v devices
is_status 2 "an option before the subcommand"
is_err "an option before the subcommand: message" <<'EOT'
gv-profile: options other than -h and -V go after the subcommand
usage: gv-profile [-hV] arrays|devices|jobs|layers|links|memory|pairs [option ...] [file]
EOT
run gv-profile devices --version
is_out "version" <<EOT
gv-profile $(cat "$src/VERSION")
EOT
silent "version: status"
run gv-profile --help
out_has "jobs      how fast each job trains on each GPU type: a rates table" "help names the subcommands"
silent "help: status"
usage='usage: gv-profile devices [-hqvV] [-o FILE] [--list] [--cpu] [--from=FILE] [--measure] [--node=NAME] [--map=FROM=TO]'
run gv-profile devices file
is_status 2 "devices: an operand"
is_err "devices: an operand: message" <<EOT
gv-profile: too many operands
$usage
EOT
for map in h100 =h100 h100=; do
	run gv-profile devices --map "$map"
	is_status 2 "devices --map $map"
	is_err "devices --map $map: message" <<EOT
gv-profile: --map: expected FROM=TO, got "$map"
$usage
EOT
done

# ---- no GPU ----
LD_LIBRARY_PATH=$scratch/none
export LD_LIBRARY_PATH
if [ -e /proc/driver/nvidia/version ]; then
	skip "a driver is here"
else
	run gv-profile devices -v
	threads=$(nproc)
	memory=$(($(getconf _PHYS_PAGES) * $(getconf PAGESIZE)))
	is_out "no driver: the CPU" <<EOT
gpu_type,gpus,node,memory_bytes,threads,ids
cpu,1,,$memory,$threads,
EOT
	is_err "no driver: said with -v" <<'EOT'
gv-profile: no driver: libnvidia-ml.so.1 is not there
EOT
	run gv-profile devices --list --tsv --node=n7
	printf 'index\tgpu_type\tnode\tuuid\tname\tpci_bus_id\tmemory_bytes\tmemory_free_bytes\tthreads\tdriver\tproblem\n0\tcpu\tn7\t\t\t\t%s\t\t%s\t\t\n' \
		"$memory" "$threads" >want
	same_file out want "no driver: --list --tsv --node"
	silent "no driver: quiet"
	run taskset -c 0 gv-profile devices
	is_out "threads are those this process may use" <<EOT
gpu_type,gpus,node,memory_bytes,threads,ids
cpu,1,,$memory,1,
EOT
fi

# ---- eight GPUs of a fake NVML ----
mkdir lib
cp "$build/preload/nvml.so" lib/libnvidia-ml.so.1
LD_LIBRARY_PATH=$scratch/lib
cat >gpus <<'EOT'
driver 570.86.15
GPU-0|NVIDIA A100-SXM4-40GB|00000000:07:00.0|42949672960|42949000000|ok
GPU-1|NVIDIA A100-SXM4-40GB|00000000:0F:00.0|42949672960|1000|ok
GPU-2|Tesla V100-SXM2-16GB|00000000:47:00.0|17179869184|17179869184|ok
GPU-3|NVIDIA A100-SXM4-40GB|00000000:4E:00.0|42949672000|42949000000|ok
GPU-4|NVIDIA H100 80GB HBM3|00000000:87:00.0|85520809984|85520809984|ok
GPU-5|NVIDIA H100 80GB HBM3|00000000:90:00.0|85520809984|85520809984|lost
GPU-6|NVIDIA GeForce RTX 3090|00000000:B7:00.0|25769803776|0|ok
GPU-7|Tesla V100-SXM2-16GB|00000000:BD:00.0|17179869184|17179869184|dark
EOT
GV_FAKE_NVML=$scratch/gpus
export GV_FAKE_NVML
run gv-profile devices
is_out "eight GPUs" <<'EOT'
gpu_type,gpus,node,memory_bytes,threads,ids
a100-sxm4-40gb,3,,42949672000,,0;1;3
v100-sxm2-16gb,1,,17179869184,,2
h100-80gb-hbm3,1,,85520809984,,4
rtx-3090,1,,25769803776,,6
EOT
is_err "those left out" <<'EOT'
gv-profile: warning: GPU 5 is left out: GPU is lost
gv-profile: warning: GPU 7 is left out: Unknown Error
EOT
is_status 0 "eight GPUs: status"
cp out cluster.csv
run gv-profile devices -q --node=n1 --map=h100-80gb-hbm3=h100 --map 'NVIDIA A100-SXM4-40GB=a100' \
	--map 'Tesla V100-SXM2-16GB=old' --map rtx-3090=old
is_out "mapped, with a node" <<'EOT'
gpu_type,gpus,node,memory_bytes,threads,ids
a100,3,n1,42949672000,,0;1;3
old,2,n1,17179869184,,2;6
h100,1,n1,85520809984,,4
EOT
silent "-q: no warnings"
run gv-profile devices -v -q
err_has "gv-profile: driver 570.86.15, 8 GPUs" "-v: the driver"
run gv-profile devices --list
is_out "--list" <<'EOT'
index,gpu_type,node,uuid,name,pci_bus_id,memory_bytes,memory_free_bytes,threads,driver,problem
0,a100-sxm4-40gb,,GPU-0,NVIDIA A100-SXM4-40GB,00000000:07:00.0,42949672960,42949000000,,570.86.15,
1,a100-sxm4-40gb,,GPU-1,NVIDIA A100-SXM4-40GB,00000000:0F:00.0,42949672960,1000,,570.86.15,
2,v100-sxm2-16gb,,GPU-2,Tesla V100-SXM2-16GB,00000000:47:00.0,17179869184,17179869184,,570.86.15,
3,a100-sxm4-40gb,,GPU-3,NVIDIA A100-SXM4-40GB,00000000:4E:00.0,42949672000,42949000000,,570.86.15,
4,h100-80gb-hbm3,,GPU-4,NVIDIA H100 80GB HBM3,00000000:87:00.0,85520809984,85520809984,,570.86.15,
5,,,,,,,,,570.86.15,GPU is lost
6,rtx-3090,,GPU-6,NVIDIA GeForce RTX 3090,00000000:B7:00.0,25769803776,0,,570.86.15,
7,v100-sxm2-16gb,,GPU-7,Tesla V100-SXM2-16GB,00000000:BD:00.0,,,,570.86.15,Unknown Error
EOT
silent "--list: the problem is in the table"
run gv-profile devices --cpu -q -o d.csv
silent "--cpu -o"
if [ "$(sed -n '$s/,.*//p' d.csv)" = cpu ] && [ "$(wc -l <d.csv)" -eq 6 ]; then
	pass "--cpu: GPUs and the CPU"
else
	fail "--cpu: GPUs and the CPU" d.csv
fi
# the table is one that the others take: real GPUs get the ids of the column
cat >jobs.csv <<'EOT'
job_id,scale_factor,command
a,2,"[ $RANK = 0 ] || exec sleep 9; env | grep -E '^(CUDA|GV_GPUS)' >got.$GV_GPU_TYPE; echo step 5 >>$GV_PROGRESS"
EOT
run gv-profile jobs -q --grace=0s -c cluster.csv jobs.csv --timeout=2s
sort got.a100-sxm4-40gb >out
is_out "as -c of gv-profile jobs" <<'EOT'
CUDA_DEVICE_ORDER=PCI_BUS_ID
CUDA_VISIBLE_DEVICES=0,1
GV_GPUS=0;1
EOT

# ---- all GPUs lost, no driver, a failing one ----
sed 's/|ok$/|lost/' gpus >lost && mv lost gpus
run gv-profile devices -q
if [ "$(cut -d, -f1,2 out | tr '\n' ' ')" = "gpu_type,gpus cpu,1 " ]; then
	pass "no usable GPU: the CPU"
else
	fail "no usable GPU: the CPU" out
fi
echo "fail 9" >gpus
run gv-profile devices -v --list
is_err "the driver is not loaded" <<'EOT'
gv-profile: no driver: NVML: Driver Not Loaded
EOT
is_status 0 "the driver is not loaded: status"
echo "fail 999" >gpus
run gv-profile devices
is_status 2 "NVML fails"
is_err "NVML fails: message" <<'EOT'
gv-profile: NVML: Unknown Error
EOT
ok "NVML fails: no table" [ ! -s out ]
printf 'int nvmlInit_v2(void){return 0;}\n' >odd.c
if ${CC:-cc} -shared -fPIC -o lib/libnvidia-ml.so.1 odd.c 2>/dev/null; then
	run gv-profile devices
	is_status 2 "a library that is not NVML"
	is_err "a library that is not NVML: message" <<'EOT'
gv-profile: libnvidia-ml.so.1: has no nvmlShutdown
EOT
else
	skip "no compiler"
fi
done_testing

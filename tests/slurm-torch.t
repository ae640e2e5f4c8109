#!/bin/sh
# A gang of PyTorch's DistributedDataParallel with DataLoaders over two nodes of Slurm, stopped
# and started again ten times: every rank does every step once.
# shellcheck disable=SC2002,SC2013,SC2015,SC2016,SC2035,SC2046,SC2086,SC2154
. "${0%/*}/lib.sh"
[ -n "${GV_LONG:-}" ] || { echo "1..0 # SKIP long: a gang over two nodes" && exit 0; }
"$GV_PYTHON" -c 'import torch' 2>/dev/null || { echo "1..0 # SKIP no torch" && exit 0; }
. "$src/tests/slurm_runs.sh"

cat >ddp.py <<'EOT'
import os, signal, time
import torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
import gv_progress

torch.set_num_threads(1)
told = False
def tell(*_):
    global told
    told = True
signal.signal(signal.SIGTERM, tell)
dist.init_process_group("gloo")
rank, d, total = dist.get_rank(), os.environ["GV_CHECKPOINT_DIR"], int(os.environ["GV_TOTAL_STEPS"])
torch.manual_seed(0)
model = torch.nn.Linear(16, 4)
opt = torch.optim.SGD(model.parameters(), lr=.01, momentum=.9)
step, path = 0, d + "/state.pt"
if os.path.exists(path):
    s = torch.load(path)
    model.load_state_dict(s["model"]), opt.load_state_dict(s["opt"])
    step = s["step"]
ddp = DDP(model)
data = TensorDataset(torch.arange(total))
where = f"{os.environ['SLURMD_NODENAME']} {rank} {os.environ['LOCAL_RANK']} {os.environ['CUDA_VISIBLE_DEVICES']}"
open(f"{d}/ranks", "a").write(where + "\n")
loader = DataLoader(torch.utils.data.Subset(data, range(step, total)), batch_size=1, num_workers=1)
for (i,) in loader:
    flag = torch.tensor([int(told)])
    dist.all_reduce(flag, dist.ReduceOp.MAX)  # all stop at the same step
    if flag.item():
        if rank == 0:
            torch.save({"model": model.state_dict(), "opt": opt.state_dict(), "step": step}, path + ".new")
            os.rename(path + ".new", path)
            gv_progress.checkpoint(step)
        dist.barrier()
        os._exit(143)
    torch.manual_seed(1000 * int(i) + rank)
    opt.zero_grad()
    ddp(torch.randn(8, 16)).square().mean().backward()
    opt.step()
    open(f"{d}/steps.{rank}", "a").write(f"{int(i)}\n")
    step += 1
    if rank == 0:
        gv_progress.step(step)
    time.sleep(.01)
if rank == 0:
    torch.save({"model": model.state_dict(), "step": step}, d + "/final.pt")
    print("sum", sum(p.double().sum().item() for p in model.parameters()))
dist.barrier()
EOT
printf 'gpu_type,gpus,node\ng,2,n1\ng,2,n2\n' >cluster.csv
printf 'job_id,scale_factor,total_steps,command,gpu_type,steps_per_s,share\nddp,4,1500,exec %s %s/ddp.py,g,20,1\n' \
	"$GV_PYTHON" "$scratch" >jobs.csv
allocate
begin ddp --round=600s --grace=20s -c cluster.csv jobs.csv
so_far() { cat ddp/jobs/ddp/checkpoint/steps.0 2>/dev/null | wc -l; }
i=0 before=0
while [ $i -lt 10 ]; do
	i=$((i + 1))
	until_true 60 sh -c "test \$(cat ddp/jobs/ddp/checkpoint/steps.0 | wc -l) -gt $before" || break
	sleep .$((i * 7 % 10))
	gv-run --hold -s ddp ddp
	until_true 60 sh -c "test \$(grep -c ,preempt,ddp, ddp/events.csv) -ge $i" || break
	before=$(so_far)
	gv-run --release -s ddp ddp
done
finish
is_status 0 "it finishes"
is 10 "$(n preempt)" "preempted ten times"
is 0 "$(n fail)" "it never fails"
for r in 0 1 2 3; do
	seq 0 1499 | cmp -s - ddp/jobs/ddp/checkpoint/steps.$r || echo "rank $r: $(wc -l <ddp/jobs/ddp/checkpoint/steps.$r)"
done >got
same_file /dev/null got "every rank has done every step once, in order"
sort ddp/jobs/ddp/checkpoint/ranks | uniq -c | sed 's/^ *//' >got
cat >want <<'EOT'
11 n1 0 0 0,1
11 n1 1 1 0,1
11 n2 2 0 0,1
11 n2 3 1 0,1
EOT
same_file want got "on two nodes, with their devices"
nothing_left
done_testing

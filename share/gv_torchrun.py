"""torchrun under gv-run: python3 -m gv_torchrun [OPTION of torchrun]... SCRIPT [ARGUMENT]...

For scripts that torchrun has to start.  gv-run starts a worker for each GPU; the first of a node
becomes torchrun, which starts the ranks there, the others leave at once.  (A script that
only reads the variables of torchrun needs none of this: gv-run sets the same.)

When gv-run asks for the GPUs, torchrun sends SIGTERM to all processes of each rank and then fails,
however well they have saved themselves.  Where they have, behind the step that they reported
last, this leaves with 143, as one that was preempted.  A rank's DataLoader must outlive the
signal: gv_torch.Run.loader makes one that does, or worker_init_fn=gv_torch.outlive.
torchrun kills after 30 s what has not left, whatever grace gv-run gives.
"""
import os
import signal
import subprocess
import sys

PREEMPTED = 143


def saved(path):
    """Whether the last step that was reported is safe on disk."""
    last = {}
    try:
        with open(path, "rb") as f:
            for line in f:
                kind, _, n = line.strip().partition(b" ")
                if line.endswith(b"\n") and n.isdigit():
                    last[kind] = int(n)
    except OSError:
        return False
    return last.get(b"checkpoint", -1) >= last.get(b"step", 0)


def command(arguments):
    """torchrun's, for the ranks of this node."""
    def of(name, otherwise):
        return os.environ.get(name, otherwise)
    return [sys.executable, "-m", "torch.distributed.run", "--nnodes=" + of("GROUP_WORLD_SIZE", "1"),
            "--node-rank=" + of("GROUP_RANK", "0"), "--nproc-per-node=" + of("LOCAL_WORLD_SIZE", "1"),
            "--master-addr=" + of("MASTER_ADDR", "127.0.0.1"), "--master-port=" + of("MASTER_PORT", "29500"),
            *arguments]


def main(arguments):
    if os.environ.get("LOCAL_RANK", "0") != "0":
        return 0
    told = []
    # caught before it runs, and passed on when it does: none is lost in between
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    p = subprocess.Popen(command(arguments), preexec_fn=lambda: signal.pthread_sigmask(
        signal.SIG_UNBLOCK, {signal.SIGTERM}))

    def tell(signum, frame):
        told.append(signum)
        p.send_signal(signum)
    signal.signal(signal.SIGTERM, tell)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    status = p.wait()
    if status != 0 and told and saved(os.environ.get("GV_PROGRESS", "")):
        return PREEMPTED
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What a training script tells gv-run and gv-profile.  Without them it does nothing.

    step(n)           n steps are done, counted from the job's very beginning
    checkpoint(n)     the state after n steps is safe on disk
    checkpoint_dir()  where to keep it: $GV_CHECKPOINT_DIR, or the given directory
    stopped()         true after SIGTERM: save, then sys.exit(PREEMPTED).  Its first
                      call catches the signal; a script that never asks just dies of it.
    catch()           catches SIGTERM now, also where a framework has taken it meanwhile

Only rank 0 of a gang reports, so every rank may call all of them.
"""
import os
import signal

PREEMPTED = 143
_stopped = None  # None: nobody has asked yet


def _report(kind, n):
    path = os.environ.get("GV_PROGRESS")
    if path and os.environ.get("RANK", "0") == "0":
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        os.write(fd, b"%s %d\n" % (kind, n))  # one write: never half a line
        os.close(fd)


def step(n):
    _report(b"step", n)


def checkpoint(n):
    _report(b"checkpoint", n)


def checkpoint_dir(otherwise="."):
    return os.environ.get("GV_CHECKPOINT_DIR") or otherwise


def _on_term(signum, frame):
    global _stopped
    _stopped = True


def catch():
    global _stopped
    _stopped = bool(_stopped)
    if "GV_PROGRESS" in os.environ:
        signal.signal(signal.SIGTERM, _on_term)


def stopped():
    if _stopped is None:
        catch()
    return _stopped

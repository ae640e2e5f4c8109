#!/bin/sh
# The modules in share/ for PyTorch, Hugging Face's Trainer and Lightning: their examples are
# stopped and started again, and end with the weights of a run that was left alone.
. "${0%/*}/lib.sh"
. "$src/tests/torch.sh"
examples=$src/examples/pytorch
# is WANT GOT NAME
is() {
	echo "$1" >is.want
	echo "$2" >is.got
	same_file is.want is.got "$3"
}

is "version = \"$(cat "$src/VERSION")\"" "$(grep ^version "$src/share/pyproject.toml")" "pyproject.toml: the version"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
if [ -n "$GV_PYTHON" ] && "$GV_PYTHON" -m pip --version >/dev/null 2>&1; then
	mkdir "a dir"
	cp "$src"/share/gv_*.py "$src/share/pyproject.toml" "a dir"
	run "$GV_PYTHON" -m pip install -q --no-index --disable-pip-version-check --root-user-action=ignore \
		--no-compile --target to "./a dir"
	is_status 0 "pip installs them, without a network"
	(cd to && echo *.py) >got
	echo gv_layers.py gv_lightning.py gv_progress.py gv_torch.py gv_torchrun.py gv_transformers.py >want
	same_file want got "the modules"
	(cd "a dir" && echo *) >got
	(cd "$src/share" && echo gv_*.py pyproject.toml) >want
	same_file want got "and writes nothing beside them"
	for f in to/*.py; do cmp -s "$f" "$src/share/${f#to/}" || echo "$f"; done >got
	same_file /dev/null got "as they are"
else
	skip "no pip"
fi

has_torch "$examples/loop.py"
PYTHONPATH=$src/share MASTER_ADDR=127.0.0.1
export PYTHONPATH MASTER_ADDR
for s in fit_transformers:transformers:"'transformers[torch]'" fit_lightning:Lightning:lightning; do
	run "$GV_PYTHON" -I -S "$examples/${s%%:*}.py"
	m=${s#*:}
	echo "${s%%:*}.py: ${m%%:*} is not installed: pip install ${m#*:}" | is_err "${s%%:*}: without it"
done

# What a Run does by itself: a gang of one, its samples, a save that is killed.
cat >alone.py <<'EOF'
import os
import torch
import gv_torch

class Part(dict):
    state_dict = dict.copy
    def load_state_dict(self, d): self.update(d)

part = Part(n=0)
run = gv_torch.Run(every=3, part=part)
assert run.done == 0
want = list(run.batches(10, 3, 7))
assert [len(b) for b in want] == [3] * 7 and len(set(sum(want[:3], []))) == 9 and want[:3] != want[3:6]
try:
    for i in run.steps(7):
        assert i == part["n"]
        if i == 5:
            raise KeyError
        part["n"] += 1
except KeyError:
    pass
open("run.pt.new", "w").write("half of it")  # as a kill would leave it
part = Part(n=-1)
run = gv_torch.Run(every=3, part=part)
assert run.done == 3 and part["n"] == 3
assert list(run.batches(10, 3, 7)) == want[3:]
for i in run.steps(7):
    part["n"] += 1
assert part["n"] == 7 and list(gv_torch.Run(part=part).steps(7)) == []
try:
    list(run.batches(2, 3, 9))
except ValueError as e:
    print(e)
EOF
run "$GV_PYTHON" alone.py
echo "2 samples are less than a step" >want
same_file want out "a Run alone: saves, samples, the end"
[ "$status" -eq 0 ] || fail "a Run alone" err

# go DIR: a gang of $ranks in the background
go() {
	pids='' r=0
	mkdir -p "$1"
	: >progress
	MASTER_PORT=$("$GV_PYTHON" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	while [ $r -lt "$ranks" ]; do
		RANK=$r LOCAL_RANK=$r WORLD_SIZE=$ranks LOCAL_WORLD_SIZE=$ranks MASTER_PORT=$MASTER_PORT GV_THREADS=1 \
			OMP_NUM_THREADS=1 GV_TOTAL_STEPS=$total GV_PROGRESS=$scratch/progress \
			GV_CHECKPOINT_DIR=$scratch/$1 "$GV_PYTHON" "$examples/$script" >"out.$r" 2>"err.$r" &
		pids="$pids $!" r=$((r + 1))
	done
}
# ended: how, one status for all
ended() {
	how=
	for pid in $pids; do
		status=0
		wait "$pid" || status=$?
		case " $how " in *" $status "*) ;; *) how="$how${how:+ }$status" ;; esac
	done
}
# stopped SCRIPT RANKS STEPS TIMES
stopped() {
	script=$1 ranks=$2 total=$3 times=0
	go whole
	ended
	is 0 "$how" "$1, $2 ranks: left alone"
	grep 'weights' out.0 >want
	while [ $times -lt "$4" ]; do
		go parts
		i=0
		until grep -q step progress || [ $i -gt 1200 ]; do i=$((i + 1)) && sleep 0.05; done
		# shellcheck disable=SC2086
		kill $pids
		ended
		is 143 "$how" "$1, $2 ranks: is told to stop"
		sed -n '$s/^checkpoint //p' progress >saved
		ok "$1, $2 ranks: and has saved its last step" grep -qx "step $(cat saved)" progress
		times=$((times + 1))
	done
	go parts
	ended
	is 0 "$how" "$1, $2 ranks: goes on"
	grep 'weights' out.0 >got
	[ -s want ] || fail "$1: no weights" err.0
	same_file want got "$1, $2 ranks: the same weights"
	rm -rf whole parts
}
stopped loop.py 1 500 1
if [ -z "${GV_LONG:-}" ]; then
	skip "long: gangs and other frameworks"
	done_testing
	exit
fi
stopped loop.py 2 500 3
for m in transformers lightning; do
	if has_module $m; then
		stopped fit_$m.py 1 200 3
		stopped fit_$m.py 2 60 2
	else
		skip "no $m"
	fi
done
done_testing

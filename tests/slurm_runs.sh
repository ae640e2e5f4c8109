# Runs of gv-run in an allocation of Slurm, for tests: source it behind lib.sh.  Three nodes
# are begun, and ended with the test; without Slurm the test is skipped.
# shellcheck shell=sh disable=SC2034,SC2154,SC2013,SC2015,SC2035

slurm() { sh "$src/tests/slurm.sh" "$@"; }
# A node that does not answer for SLURM_LOST s counts as lost, and is not given back to the
# allocation: a busy machine must not lose one that no test kills.  Steps that are told to end
# are killed soon.
export SLURM_LOST="${SLURM_LOST:-30}" SLURM_KILL_WAIT=2
slurm up "$scratch/slurm" >up.log 2>&1 || {
	[ $? -eq 77 ] && echo "1..0 # SKIP Slurm is not here: make deps-test installs it" && exit 0
	cat up.log >&2
	echo "1..0 # SKIP no Slurm could be begun on this host"
	exit 0
}
trap 'cd /; slurm down "$scratch/slurm"; rm -rf "$scratch" "$scratch.tap"' EXIT
export SLURM_CONF="$scratch/slurm/slurm.conf"
worker=$build/helpers/worker

# allocate [OPTION...]: an allocation of all nodes; $job is its id.  Nothing of a test can be
# said without one: when none comes for a minute it ends there, with what Slurm says.
allocate() {
	salloc --no-shell --immediate=60 -J pool -N3 --gres=gpu:4 --exclusive --no-kill "$@" >allocation 2>&1 || {
		{ cat allocation; sinfo -N -o '%N %T %E'; squeue; tail -n 20 "$scratch"/slurm/log/*; } | sed 's/^/# /'
		fail "an allocation of Slurm"
		done_testing
		exit 1
	}
	job=$(sed -n 's/.*Granted job allocation //p' allocation)
}
# gvrun OPTION...: gv-run there
gvrun() { gv-run --launcher=slurm --slurm-job="$job" "$@"; }
# until_true SECONDS CMD...
until_true() {
	n=$(($1 * 20))
	shift
	until "$@" >/dev/null 2>&1; do
		n=$((n - 1))
		[ $n -gt 0 ] || return 1
		sleep .05
	done
}
# begin STATE OPTION...: gv-run in the background; $pid, its output in STATE.out
begin() {
	state=$1
	shift
	gv-run --launcher=slurm --slurm-job="$job" -s "$state" "$@" >"$state.out" 2>"$state.err" &
	pid=$!
}
# finish: waits for it; $status
finish() {
	status=0
	wait "$pid" || status=$?
	ran="gv-run --launcher=slurm -s $state"
	cp "$state.out" out
	cp "$state.err" err
}
# n EVENT [JOB]: how often it stands in out
n() { grep -c ",$1,${2:-}" out; }
# is N A NAME
is() { if [ "$1" = "$2" ]; then pass "$3"; else fail "$3: $2, not $1" out err; fi; }

# steps: the programs of Slurm that look after its steps on the nodes
steps() {
	for p in $(grep -lsazxF "GV_TEST_SLURM=$scratch/slurm" /proc/[0-9]*/environ); do
		case $(cat "${p%/environ}/comm" 2>/dev/null) in slurmstepd) echo "$p" ;; esac
	done
}
no_steps() { [ -z "$(steps)" ]; }
# nothing_left [SECONDS]: all programs of steps have ended, all launches are forgotten
nothing_left() {
	until_true "${1:-60}" no_steps
	for p in $(grep -lsaz "^GV_LAUNCH_DIR=$scratch/" /proc/[0-9]*/environ) $(steps); do
		p=${p%/environ}
		echo "${p#/proc/} $(tr '\0' ' ' <"$p/cmdline")"
	done >got
	ls -d */launches/* >>got 2>/dev/null
	same_file /dev/null got "nothing is left behind"
}

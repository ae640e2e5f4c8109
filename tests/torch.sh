# Tests of programs that train with PyTorch.  Source it behind lib.sh.
# shellcheck shell=sh

# needs_torch SCRIPT: the script says so where there is no torch; the test ends
# here unless it is a long one and there is
needs_torch() {
	PYTHONDONTWRITEBYTECODE=1
	export PYTHONDONTWRITEBYTECODE
	if [ -z "$GV_PYTHON" ]; then
		skip "no python3"
		done_testing
		exit
	fi
	# without site-packages there is no torch
	run "$GV_PYTHON" -I -S "$1"
	is_status 1 "no torch"
	echo "${1##*/}: PyTorch is not installed: pip install torch" | is_err "no torch: message"
	if [ -z "${GV_LONG:-}" ]; then
		skip "long: training with PyTorch"
		done_testing
		exit
	fi
	if ! "$GV_PYTHON" -c 'import torch' 2>/dev/null; then
		skip "no torch"
		done_testing
		exit
	fi
}

# Tests of programs that train with PyTorch.  Source it behind lib.sh.
# shellcheck shell=sh

# has_module NAME: Python could import it, which may take seconds
has_module() { "$GV_PYTHON" -c "import importlib.util as u, sys; sys.exit(u.find_spec('$1') is None)"; }
# has_torch SCRIPT: the script says so where there is no torch; the test ends here where
# there is none
has_torch() {
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
	if ! has_module torch; then
		skip "no torch"
		done_testing
		exit
	fi
}
# needs_torch SCRIPT: the same, and it ends here unless it is a long test
needs_torch() {
	has_torch "$1"
	if [ -z "${GV_LONG:-}" ]; then
		skip "long: training with PyTorch"
		done_testing
		exit
	fi
}

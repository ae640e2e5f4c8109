# ranks.sh: workers that have GPUs that are fakes, each in a host of its own, over NCCL of
# the tests (tests/cuda/fake_nccl.c).  Behind lib.sh; ends the test where there are no fakes.
# shellcheck shell=sh
fake=$build/fake
if [ ! -f "$fake/libnccl.so.2" ]; then
	skip "no C++ compiler: kernels are not emulated"
	done_testing
	exit 0
fi
export TMPDIR="$scratch" GV_PLUGINS="$fake" LD_LIBRARY_PATH="$fake"
pids=''
# begin N OPTION...: gv-train with the words of $train, out.R and err.R.  $HOST: one host for
# all; $GV_FAKE: words of the fake driver, of rank $ON or of all
begin() {
	world=$1 rank=0 pids=''
	shift
	free_port
	# shellcheck disable=SC2034
	ran="ranks $*"
	while [ "$rank" -lt "$world" ]; do
		# shellcheck disable=SC2086,SC2154
		env RANK=$rank LOCAL_RANK=$rank WORLD_SIZE="$world" MASTER_ADDR=127.0.0.1 MASTER_PORT=$port NCCL_HOSTID="${HOST:-host$rank}" \
			GV_FAKE_CUDA="$([ "$rank" -eq "${ON:-$rank}" ] && echo "${GV_FAKE:-}")" \
			timeout 120 gv-train --device=cuda $train "$@" >out.$rank 2>err.$rank &
		pids="$pids $!"
		rank=$((rank + 1))
	done
}
# end: waits for them; their statuses to $statuses, what they say to err
end() {
	statuses=''
	for i in $pids; do
		wait "$i"
		statuses="$statuses $?"
	done
	statuses=${statuses# }
	cat err.* >err
}
# signal NAME R: to the gv-train of rank R
signal() {
	# shellcheck disable=SC2046
	set -- "$1" $(echo "$pids" | cut -d' ' -f$(($2 + 2)))
	kill "-$1" "$(ps -o pid= --ppid "$2")"
}

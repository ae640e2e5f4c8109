# What the tests of gv-run share: workers, what events say, two clusters.
# Source it behind lib.sh.
#
# A job whose command begins with $w is a worker that has $mark in its arguments.
# shellcheck shell=sh disable=SC2034,SC2154

worker=$build/helpers/worker
mark=$(basename "$0" .t)-test-$$
w="exec $worker -m $mark"
strays() { grep -las "[g]${mark#g}" /proc/[0-9]*/cmdline; }
# events KIND [JOB] [WITH]: how many of them ./out holds
events() { awk -F, -v k="$1" -v j="${2:-}" -v w="${3:-}" '$2 == k && (j == "" || $3 == j) && (w == "" || $11 == w)' out | wc -l; }
# is_events N KIND JOB NAME
is_events() {
	got=$(events "$2" "$3")
	if [ "$got" -eq "$1" ]; then pass "$4"; else fail "$4: $got events $2 $3, not $1" out err; fi
}
# every_step DIR JOB N NAME: the job has done each step from 1 to N once, in order
every_step() {
	seq "$3" >want
	same_file want "$1/jobs/$2/checkpoint/steps" "$4"
}
locker() { # HOW FILE...: locked until release
	rm -f held # what is in the background makes it when its turn comes
	"$build/helpers/locker" "$@" >held &
	holder=$!
	true_within 60 grep -qs locked held
}
release() {
	kill "$holder"
	wait "$holder" 2>/dev/null
}

cat >cluster.csv <<'EOT'
gpu_type,gpus,threads
big,1,2
small,2,1
EOT
printf 'gpu_type,gpus,threads\nbig,1,2\n' >one.csv

#!/bin/sh
# bench.sh BUILD BIN: runs BUILD/bench/* and tests/bench/*.sh, which print
# tables of ratios.  Status 1 when one of them fails: each checks what it measures.
set -u
build=$1 bin=$2
case $build in /*) ;; *) build=$PWD/$build ;; esac
case $bin in /*) ;; *) bin=$PWD/$bin ;; esac
export GV_BUILD="$build" GV_BIN="$bin" GV_DATA="$PWD/share" GV_SHARED="${GV_SHARED:-$PWD/../shared}" LC_ALL=C
PATH=$bin:$PATH
failed=0
for bench in "$build"/bench/* tests/bench/*.sh; do
	case $bench in
	*.d | */\*) continue ;;
	*.sh) set -- sh "$bench" ;;
	*) set -- "$bench" ;;
	esac
	name=${bench##*/}
	echo "== ${name%.sh}"
	"$@" || { echo "== ${name%.sh}: status $?" && failed=1; }
	echo
done
exit $failed

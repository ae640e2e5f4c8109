#!/bin/sh
# check.sh BUILD BIN: runs every test under prove and counts the skips.
set -eu
build=$1 bin=$2
case $build in /*) ;; *) build=$PWD/$build ;; esac
case $bin in /*) ;; *) bin=$PWD/$bin ;; esac
export GV_BUILD="$build" GV_BIN="$bin"
tests=$(ls tests/*.t)
units=$(find "$build/unit" -type f -perm -u+x ! -name '*.d' 2>/dev/null | sort)
# shellcheck disable=SC2086
exec prove -j2 --timer $tests $units

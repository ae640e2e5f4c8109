#!/bin/sh
# deps.sh probe|install|long BUILD: is everything here that the build (and, for
# install, the tests, for long, the long ones) need?  probe only asks; the others also
# get it through apt-get.  BUILD/deps.ok remembers that the build's needs are met.
set -eu
mode=$1 build=$2

# what to look for: a header, a command or a module of Python, and the Debian
# package that has it
needs_build='csv.h libcsv-dev
glpk.h libglpk-dev
gmp.h libgmp-dev
zlib.h zlib1g-dev'
needs_test='prove perl
glpsol glpk-utils
mandoc mandoc
json.py python3'

needs_long='slurmctld slurmctld
slurmd slurmd
srun slurm-client'

have_header() {
	printf '#include <stdio.h>\n#include <%s>\n' "$1" | ${CC:-cc} -E - >/dev/null 2>&1
}
missing=
look() {
	while read -r what package; do
		[ -n "$what" ] || continue
		case $what in
		*.h) have_header "$what" || missing="$missing $package" ;;
		*.py) python3 -c "import ${what%.py}" 2>/dev/null || missing="$missing $package" ;;
		*) command -v "$what" >/dev/null 2>&1 || missing="$missing $package" ;;
		esac
	done <<-EOF
		$1
	EOF
}

look "$needs_build"
if [ "$mode" != probe ]; then
	look "$needs_test"
fi
if [ "$mode" = long ]; then
	look "$needs_long"
fi
if [ -n "$missing" ]; then
	line="apt-get install -y --no-install-recommends$missing"
	if [ "$mode" != probe ] && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
		echo "installing:$missing"
		export DEBIAN_FRONTEND=noninteractive
		# shellcheck disable=SC2086
		log=$(mktemp)
		trap 'rm -f "$log"' EXIT
		# shellcheck disable=SC2086
		{ apt-get update && apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1 || {
			cat "$log" >&2
			echo "could not install:$missing" >&2
			exit 2
		}
	else
		echo "missing:$missing" >&2
		echo "run:  sudo $line" >&2
		exit 2
	fi
fi
mkdir -p "$build"
: >"$build/deps.ok"

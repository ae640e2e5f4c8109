#!/bin/sh
# What README.md tells people to type works.  Its fenced blocks, in their order
# and in one directory that holds copies of examples/ and share/, and the files
# of examples/man:
#
#	```sh        a script; each line is run, status 0.  Lines of make are
#	             checked with make -n; git clone, cd gv, sudo and apt-get not
#	```console   a session: "$ command" and what it prints (tests/session.sh)
#
# Other blocks are not run.
. "${0%/*}/lib.sh"
. "$src/tests/session.sh"

mkdir dir
cd dir || exit 2
cp -r "$src/examples" "$src/share" .
cp "$src"/examples/man/* .
unset GV_DATA # programs find it
# the blocks: N.sh and N.console
awk -v dir="$scratch" '
	/^```/ && kind != "" { kind = ""; next }
	/^```(sh|console)$/ { kind = substr($0, 4); name = sprintf("%s/%03d.%s", dir, ++n, kind); next }
	/^```/ { kind = "none"; next }
	kind != "" && kind != "none" { print >name }' "$src/README.md"

for block in "$scratch"/[0-9]*.*; do
	[ -f "$block" ] || continue
	name="README.md, block ${block##*/}"
	case $block in
	*.console)
		session "$name" <"$block"
		continue
		;;
	esac
	: >"$scratch/script"
	while IFS= read -r line; do
		case $line in
		make | make\ *)
			target=${line#make} target=${target%%#*}
			# shellcheck disable=SC2086
			run make -C "$src" -n $target
			if [ "$status" -eq 0 ]; then pass "$name: $line"; else fail "$name: $line" err; fi
			;;
		git\ clone\ * | cd\ gv* | sudo\ * | apt-get\ *) ;;
		*) printf '%s\n' "$line" >>"$scratch/script" ;;
		esac
	done <"$block"
	grep -q '[^ ]' "$scratch/script" || continue
	run timeout 120 sh -e "$scratch/script"
	ran=$(cat "$scratch/script")
	if [ "$status" -eq 0 ]; then pass "$name"; else fail "$name" err; fi
done
if [ "$tap_n" -eq 0 ]; then fail "README.md has blocks to run"; fi
done_testing

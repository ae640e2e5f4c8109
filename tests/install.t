#!/bin/sh
# make install puts a set of files that runs on its own, make uninstall removes
# them all, make dist makes the same archive each time.  What is built already is
# installed: nothing is compiled here.
# shellcheck disable=SC2086
. "${0%/*}/lib.sh"

dest=$scratch/dest
make="make -C $src BIN=$bin DESTDIR=$dest PREFIX=/opt/gv"

run $make install-files
if [ "$status" -eq 0 ]; then pass "install"; else fail "install" err; fi
root=$dest/opt/gv
for dir in "$src"/cmd/*/; do
	dir=${dir%/} prog=${dir##*/}
	run env PATH="$root/bin:/usr/bin:/bin" "$prog" --version
	silent "$prog: runs where it is installed"
	run test -f "$root/share/man/man1/$prog.1" -a -f "$root/share/bash-completion/completions/$prog" \
		-a -f "$root/share/zsh/site-functions/_$prog"
	silent "$prog: its page and completions are installed"
done
run sh -c 'cd "$1" && find . -type f ! -perm -u+r -o -type f -perm -g+w -o -type f -perm -o+w' sh "$dest"
if [ "$status" -eq 0 ] && [ ! -s out ]; then pass "modes"; else fail "modes: everybody may write" out; fi
for file in "$root"/share/man/man[157]/gv*; do
	if have mandoc; then
		run mandoc -T utf8 "$file"
		if [ "$status" -le 2 ] && [ -s out ]; then pass "${file##*/}: can be read"; else fail "${file##*/}: can be read" err; fi
	fi
done
# an installed program finds its data without GV_DATA only at the true prefix;
# with it, the installed files do
for f in "$src"/share/*; do
	case ${f##*/} in
	bash-completion | zsh) ;;
	*) [ ! -e "$f" ] || { run test -e "$root/share/gv/${f##*/}" && silent "share/${f##*/} is installed"; } ;;
	esac
done
run $make install-files
if [ "$status" -eq 0 ]; then pass "install once more"; else fail "install once more" err; fi
run $make uninstall
if [ "$status" -eq 0 ]; then pass "uninstall"; else fail "uninstall" err; fi
find "$dest" ! -type d >out
ran="find what uninstall left"
if [ ! -s out ]; then pass "uninstall leaves nothing"; else fail "uninstall leaves nothing" out; fi

if have git && git -C "$src" rev-parse -q --verify HEAD >/dev/null 2>&1; then
	for n in 1 2; do
		run make -C "$src" dist DIST="$scratch/dist$n"
		[ "$status" -eq 0 ] || fail "dist" err
		sleep 1.1
	done
	ran="make dist, twice"
	set -- "$scratch"/dist1/*.tar.gz
	same_file "$1" "$scratch/dist2/${1##*/}" "dist: the same bytes again"
	tar -tzf "$1" >out
	if grep -q "^gv-$(cat "$src/VERSION")/Makefile$" out; then pass "dist: holds the tree"; else fail "dist: holds the tree" out; fi
else
	skip "no git"
fi
done_testing

#!/bin/sh
# make install puts a set of files that runs on its own, make uninstall removes
# them all, make dist makes the same archive each time.  What is built already is
# installed: nothing is compiled here.
# shellcheck disable=SC2086
. "${0%/*}/lib.sh"

dest="$scratch/a dest"
root="$dest/opt/g v"
# installed TARGET: makes it with names that hold spaces
installed() { run make -C "$src" BIN="$bin" DESTDIR="$dest" PREFIX="/opt/g v" "$1"; }

# what lies there before: of others, and of a user
mkdir -p "$root/share/gv" "$root/share/doc/gv" "$root/share/gv-toolkit/models"
touch "$root/share/gv/gv.ad" "$root/share/doc/gv/copyright" "$root/share/gv-toolkit/models/mine.tsv"
find "$dest" -type f | sort >before

installed install-files
if [ "$status" -eq 0 ]; then pass "install"; else fail "install" err; fi
for dir in "$src"/cmd/*/; do
	dir=${dir%/} prog=${dir##*/}
	run env PATH="$root/bin:/usr/bin:/bin" "$prog" --version
	silent "$prog: runs where it is installed"
	run test -f "$root/share/man/man1/$prog.1" -a -f "$root/share/bash-completion/completions/$prog" \
		-a -f "$root/share/zsh/site-functions/_$prog"
	silent "$prog: its page and completions are installed"
	if have readelf; then
		readelf -h -l -d -s --wide "$root/bin/$prog" >elf
		ran="readelf of $prog" status=0
		for what in 'Type:.*DYN' GNU_RELRO 'FLAGS.*NOW' __stack_chk_fail '__v*snprintf_chk'; do
			case $what,${GV_SAN:-} in *chk*,?*) continue ;; esac
			grep -q -e "$what" elf || status=1 ran="$ran: no $what"
		done
		is_status 0 "$prog: PIE, RELRO, BIND_NOW, stack protector, _FORTIFY_SOURCE"
	else
		skip "no readelf"
	fi
done
if [ -f "$build/plugin/gv-cuda.so" ]; then
	run cmp "$build/plugin/gv-cuda.so" "$root/lib/gv/gv-cuda.so"
	silent "gv-cuda.so is installed where it was built"
	run env -u GV_PLUGINS "$root/bin/gv-train" --device=cuda:999 --data=digits:1 --steps=1 mlp
	is_status 2 "an installed program finds it"
	ok "and says what is missing behind it" grep -q -e 'NVIDIA driver' -e 'no GPU 999' err
else
	run test ! -e "$root/lib/gv/gv-cuda.so"
	silent "gv-cuda.so was not built, and is not installed"
fi
run sh -c 'cd "$1" && find . -type f ! -perm -u+r -o -type f -perm -g+w -o -type f -perm -o+w' sh "$dest"
if [ "$status" -eq 0 ] && [ ! -s out ]; then pass "modes"; else fail "modes: everybody may write" out; fi
for file in "$root"/share/man/man[157]/gv*; do
	if have mandoc; then
		run mandoc -T utf8 "$file"
		if [ "$status" -le 2 ] && [ -s out ]; then pass "${file##*/}: can be read"; else fail "${file##*/}: can be read" err; fi
	fi
done
# programs find what is shipped beside them: here, and where they are built
run env -u GV_DATA "$root/bin/gv-train" --shapes --data=digits:1 cnn
silent "a program finds its data where it is installed"
run env -u GV_DATA "$bin/gv-train" --shapes --data=digits:1 cnn
silent "a program finds its data in the tree it was built in"
ln -s "$bin/gv-train" train
run env -u GV_DATA ./train --shapes --data=digits:1 cnn
silent "also when it is called by a link"
# and so do the jobs of the tables that come with it, as they stand there
docs=$root/share/doc/gv-toolkit/examples
awk -F, 'FNR == 1 { for (i = NF; i > 0 && $i != "command"; i--); next } i > 0 && $i ~ /^gv-train / { print $i }' \
	"$docs"/*/*.csv | sort -u >commands
[ "$(wc -l <commands)" -ge 8 ] || fail "tables with jobs are installed" commands
while IFS= read -r command; do
	run env PATH="$root/bin:/usr/bin:/bin" GV_DATA="$root/share/gv-toolkit" GV_TOTAL_STEPS=1 sh -c "$command"
	if [ "$status" -eq 0 ]; then pass "$command"; else fail "$command" err; fi
done <commands
# so do the jobs that gv-run starts, Python's modules behind those of the user
printf 'gpu_type,gpus,threads\ncpu1,1,1\n' >cluster.csv
printf 'job_id,gpu_type,steps_per_s,share,command\na,cpu1,1,1,"echo $GV_DATA:$PYTHONPATH >%s/there"\n' "$scratch" >jobs.csv
for options in '' --clean-env; do
	rm -rf state there
	run env -u GV_DATA PYTHONPATH=/mine "$bin/gv-run" -q $options -s state -c cluster.csv --round=1s jobs.csv
	mine=/mine:
	[ -z "$options" ] || mine=
	[ "$(cat there)" = "$src/share:$mine$src/share" ] || status=1
	is_status 0 "jobs find the data and Python's modules ${options:-}"
done
for f in "$src"/share/*; do
	case ${f##*/} in
	bash-completion | zsh) ;;
	*) [ ! -e "$f" ] || { run test -e "$root/share/gv-toolkit/${f##*/}" && silent "share/${f##*/} is installed"; } ;;
	esac
done
installed install-files
if [ "$status" -eq 0 ]; then pass "install once more"; else fail "install once more" err; fi
installed uninstall
if [ "$status" -eq 0 ]; then pass "uninstall"; else fail "uninstall" err; fi
find "$dest" ! -type d | sort >out
ran="find what uninstall left"
same_file before out "uninstall leaves what was there before, and nothing else"
run test ! -e "$root/share/doc/gv-toolkit" -a -d "$root/share/gv-toolkit/models" -a -d "$root/share/man/man1"
silent "uninstall removes its own folders, unless somebody keeps something there"
rm -r "$root/share/gv-toolkit"
installed uninstall
silent "uninstall where nothing is"

# a small part of the tree, built in a folder whose name has spaces
if have cc; then
	mkdir -p "a tree/common" "a tree/cmd" "a tree/tests/kernels" "a tree/gpu/cuda"
	cp "$src/Makefile" "$src/config.mk" "$src/VERSION" "a tree"
	cp "$src"/tests/deps.sh "$src"/tests/harden.sh "$src"/tests/link.sh "a tree/tests"
	cp "$src/tests/kernels/rules.mk" "a tree/tests/kernels"
	cp "$src/gpu/cuda/rules.mk" "a tree/gpu/cuda"
	cp -r "$src"/common/base "$src"/common/table "a tree/common"
	mkdir "a tree/cmd/gv-cat"
	cp "$src/tests/helpers/tabcat.c" "a tree/cmd/gv-cat/gv-cat.c"
	printf 'a,b\n1,2\n' >table.csv
	for flags in 'CFLAGS=-O1' 'CFLAGS=-O0 BUILD=new' 'HARDEN= CFLAGS=-O0 BUILD=none'; do
		run make -s -C "a tree" WERROR=1 CUDA=0 BUILD="$scratch/a build" BIN="$scratch/a bin" $flags all
		silent "a tree and folders with spaces, ${flags%% *}: make, without a warning"
		run "$scratch/a bin/gv-cat" table.csv
		silent "and it runs"
	done
	run make -s -C "a tree" SAN=1 CUDA=0 CFLAGS=-O0 all
	silent "the same with sanitizers"
else
	skip "no compiler"
fi

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

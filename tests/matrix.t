#!/bin/sh
# What every program must stand: full disks, closed descriptors, broken pipes,
# odd inputs, other environments.  matrix.tab has the runs.
# shellcheck disable=SC2086
. "${0%/*}/lib.sh"

tab=$(printf '\t')
table=$src/tests/matrix.tab
cp "$src"/examples/man/* .
cp "$src"/tests/matrix/* .
mkdir tmp
TMPDIR=$scratch/tmp
export TMPDIR

# use INPUT [OPTION...]: the command of this line on INPUT, with more options
use() {
	use_input=$1
	shift
	cmd=$bin/$prog
	for word in $args; do
		case $word in
		@*) cmd="$cmd $* $use_input" ;;
		*) cmd="$cmd $word" ;;
		esac
	done
}
# go INPUT [OPTION...]: runs it; with a shell's redirections around it
go() { use "$@" && run timeout 30 $cmd; }
go_sh() {
	go_script=$1
	shift
	use "$@" && run timeout 30 sh -c "$go_script" sh $cmd
}
check() {
	if [ "$1" -eq 0 ]; then pass "$prog: $2"; else fail "$prog: $2" out err; fi
}
# one_line: stderr is one message of the program
one_line() {
	[ "$state" = no ] || sed -i '/: the state is kept: /d' err
	[ "$(wc -l <err)" -eq 1 ] && grep -q "^$prog: " err
}
# trouble NAME: ended as a failure of its own, saying so once
trouble() { [ "$status" -eq "$trouble" ] && one_line; check $? "$1"; }
# good NAME [FILE]: ended well, quiet, with the bytes of the plain run in FILE
good() { [ "$status" -eq 0 ] && [ ! -s err ] && good_bytes "${2:-out}"; check $? "$1"; }
good_bytes() { if [ "$timing" = yes ]; then [ -s "$1" ]; else cmp -s plain "$1"; fi; }
# leftovers: files beside those that were there when before was set
leftovers() { [ "$(ls -A)" != "$before" ]; }
# old NAME: the file target is the old one and nothing lies beside it
old() { [ "$(cat target)" = old ] && ! leftovers; check $? "$1"; }

full_and_closed() {
	go_sh 'exec "$@" >/dev/full' "$input"
	trouble "stdout full"
	for option in --help --version; do
		run timeout 30 sh -c 'exec "$@" >/dev/full' sh "$bin/$prog" $option
		[ "$status" -eq 2 ] && one_line
		check $? "$option into a full stdout"
	done
	go_sh 'exec "$@" 2>/dev/full' "$input"
	good "stderr full, nothing to say"
	run timeout 30 sh -c 'exec "$@" 2>/dev/full' sh "$bin/$prog" --no-such-option
	[ "$status" -eq "$usage" ]
	check $? "stderr full, an error to say"
	go_sh 'exec "$@" >&-' "$input"
	trouble "stdout closed"
	go_sh 'exec "$@" 2>&-' "$input"
	good "stderr closed, nothing to say"
	go_sh 'exec "$@" 2>&-' "$input" -o target
	good "stderr closed, -o" target
	go_sh 'exec "$@" 2>&- >&-' "$input" -o target
	[ "$status" -eq 0 ] && good_bytes target
	check $? "stdout and stderr closed, -o"
	run timeout 30 sh -c 'exec "$@" 2>&-' sh "$bin/$prog" --no-such-option
	[ "$status" -eq "$usage" ] && [ ! -s out ]
	check $? "stderr closed, an error to say"
	[ -z "$input" ] && return
	go_sh 'exec "$@" <&-' -
	trouble "stdin closed"
	go_sh 'exec "$@" <&- >&- 2>&-' -
	[ "$status" -eq "$trouble" ]
	check $? "all three closed"
}

outputs() {
	echo old >target
	chmod 640 target
	ln target other
	before=$(ls -A)
	go "$input" -o target
	good "-o has the bytes of stdout" target
	[ "$(cat other)" = old ] && [ "$(stat -c %a target)" = 640 ] && ! leftovers && [ ! -s out ]
	check $? "-o is a new file of the old mode"
	rm other
	echo old >target
	before=$(ls -A)
	go_sh 'ulimit -f 0; trap "" XFSZ; exec "$@"' "$input" -o target
	[ "$status" -eq "$trouble" ] # its message is over the limit too
	check $? "-o on a full file system fails"
	old "the old file stays: full"
	go_sh 'ulimit -f 0; exec "$@"' "$input" -o target
	[ "$status" -ne 0 ]
	check $? "-o over the file size limit fails"
	old "the old file stays: size limit"
	go "$input" -o /dev/full
	trouble "-o /dev/full"
	go "$input" -o .
	trouble "-o a directory"
	go "$input" -o missing/target
	trouble "-o in no directory"
	ln -s target link
	before=$(ls -A)
	go "$input" -o link
	[ "$status" -eq 0 ] && [ -L link ] && good_bytes target && ! leftovers
	check $? "-o follows a symbolic link"
	rm link target
	[ -z "$input" ] && return
	cp "$input" same.csv
	go same.csv -o same.csv
	good "-o onto its own input" same.csv
	echo old >target
	before=$(ls -A)
	go missing.csv -o target
	[ "$status" -ne 0 ]
	check $? "-o, no input"
	old "the old file stays: no input"
	rm target same.csv
}

inputs() {
	cat "$input" >plain.in
	sep=,
	case $(head -n 1 plain.in) in *"$tab"*) sep=$tab ;; esac
	go . && trouble "a directory as input"
	[ "$(cat err)" = "$prog: .: is a directory" ]
	check $? "a directory as input: message"
	go missing.csv && trouble "no input"
	[ "$(cat err)" = "$prog: missing.csv: cannot open: No such file or directory" ]
	check $? "no input: message"
	go /dev/null && trouble "empty input"
	head -n 1 plain.in >odd.csv
	go odd.csv
	case $status in
	0 | 1 | "$trouble") [ "$status" -eq 0 ] || [ -s err ] ;;
	*) false ;;
	esac
	check $? "header only"
	go - <plain.in && good "- is stdin"
	use "" && run timeout 30 $cmd <plain.in && good "no operand is stdin"
	sed 's/$/\r/' plain.in >odd.csv
	go odd.csv && good "CRLF"
	{ printf '\357\273\277' && cat plain.in; } >odd.csv
	go odd.csv && good "BOM"
	{ printf '\357\273\277' && sed 's/$/\r/' plain.in; } >odd.csv
	go odd.csv && good "BOM and CRLF"
	printf %s "$(cat plain.in)" >odd.csv
	go odd.csv && good "no final newline"
	gzip -c plain.in >odd.gz
	go odd.gz && good "gzip"
	gzip -c plain.in | head -c 30 >odd.gz
	go odd.gz && trouble "gzip, cut"
	tr "$sep" '\0' <plain.in >odd.csv
	go odd.csv
	[ "$status" -eq "$trouble" ] && grep -q "^$prog: odd.csv:1: " err
	check $? "NUL bytes"
	sed "2s/\$/${sep}more/" plain.in >odd.csv
	go odd.csv
	[ "$status" -eq "$trouble" ] && grep -q "^$prog: odd.csv:2: " err
	check $? "a ragged row"
	sed "1s/^\\([^$sep]*\\)$sep/\\1$sep\\1$sep/;2,\$s/^/x$sep/" plain.in >odd.csv
	go odd.csv && [ "$status" -eq "$trouble" ] && grep -q "^$prog: odd.csv:1: " err
	check $? "a column twice"
	{ cat plain.in && printf '"open'; } >odd.csv
	go odd.csv && [ "$status" -eq "$trouble" ] && grep -q "^$prog: odd.csv:" err
	check $? "an unterminated quote"
	rm -f odd.csv odd.gz plain.in
}

# a pipe whose reader has gone: descriptor 4 of the script
broken='mkfifo gone && exec 3<>gone 4>gone 3<&- && rm gone &&'
pipes() {
	go_sh "$broken"' exec env --default-signal=PIPE "$@" >&4' "$input"
	[ "$status" -eq 141 ] && { [ ! -s err ] || [ "$state" = yes ]; }
	check $? "a broken pipe ends it quietly"
	go_sh "$broken"' exec env --ignore-signal=PIPE "$@" >&4' "$input"
	if [ "$state" = yes ]; then # it ends its jobs, then itself by the signal
		[ "$status" -eq 141 ] || [ "$status" -eq "$trouble" ]
		check $? "a broken pipe, SIGPIPE ignored"
	else
		trouble "a broken pipe, SIGPIPE ignored"
	fi
}

environments() {
	rm -rf elsewhere && mkdir elsewhere
	for f in *.csv *.tsv *.txt; do [ ! -f "$f" ] || ln "$f" "elsewhere/$f"; done
	go_sh 'cd elsewhere && exec env LC_ALL=de_DE.UTF-8 LANG=tr_TR.UTF-8 TZ=Asia/Kathmandu HOME=/ \
		COLUMNS=20 TERM=dumb MALLOC_PERTURB_=165 POSIXLY_CORRECT= "$@"' "$input"
	good "another place, language, zone: the same bytes"
	go "$input"
	good "twice: the same bytes"
	rm -rf elsewhere
}

options() {
	run "$bin/$prog" --no-such-option
	[ "$status" -eq "$usage" ] && [ ! -s out ] && [ "$(sed -n '$=' err)" -eq 2 ] &&
		[ "$(head -n 1 err)" = "$prog: unknown option \"--no-such-option\"" ] &&
		sed -n 2p err | grep -q "^usage: $prog "
	check $? "an unknown option"
	run "$bin/$prog" -o
	[ "$status" -eq "$usage" ] && [ ! -s out ] &&
		[ "$(head -n 1 err)" = "$prog: option \"-o\" needs an argument" ]
	check $? "an option without its argument"
	run "$bin/$prog" --version
	[ "$status" -eq 0 ] && [ ! -s err ] && grep -q "^$prog $(cat "$src/VERSION")" out
	check $? "--version"
	run "$bin/$prog" --help
	[ "$status" -eq 0 ] && [ ! -s err ] && [ "$(wc -l <out)" -le 24 ] && head -n 1 out | grep -q "^usage: $prog"
	check $? "--help: at most 24 lines"
}

# many PROG: a table of a million rows (fewer when it must be quick) and what to do with it
rows=100000
[ -z "${GV_LONG:-}" ] || rows=1000000
many() {
	case $1 in
	gv-alloc)
		printf 'gpu_type,gpus\nv100,1000\nk80,2000\n' >many.cluster
		awk -v n=$rows 'BEGIN {
			print "job_id,gpu_type,steps_per_s"
			for (i = 0; i < n / 2; i++) printf "j%d,v100,%d\nj%d,k80,%d\n", i, 7 + i % 3, i, 2 + i % 5
		}' >many.csv
		many_args="-p max-min -c many.cluster"
		;;
	gv-report)
		awk -v n=$rows 'BEGIN {
			print "time_s,event,job_id,gpu_type,gpus,steps"
			print "0,pool,,v100,0;1;2;3,"
			for (i = 0; i < 4; i++) printf "0,arrive,j%d,,,%d\n", i, n
			for (i = 0; i < 4; i++) printf "0,start,j%d,v100,%d,0\n", i, i
			for (i = 0; i < n; i++) printf "%d,checkpoint,j%d,v100,%d,%d\n", i, i % 4, i % 4, i
			printf "%d,end,,,,\n", n
		}' >many.csv
		many_args=
		;;
	*) return ;;
	esac
	ran="$prog $many_args many.csv" status=0
	timeout 60 "$bin/$prog" $many_args many.csv >out 2>err || status=$?
	[ "$status" -eq 0 ] && [ ! -s err ] && [ -s out ] && { [ $1 != gv-alloc ] || [ "$(wc -l <out)" -eq $((rows + 1)) ]; }
	check $? "$rows rows"
	go_script='"$@" | head -n 1'
	run timeout 60 sh -c "$go_script" sh "$bin/$prog" $many_args many.csv
	[ "$status" -eq 0 ] && [ ! -s err ] && [ "$(wc -l <out)" -eq 1 ]
	check $? "$rows rows into head -n 1"
	rm -f many.csv many.cluster
}

# every program has a line
for dir in "$src"/cmd/*/; do
	dir=${dir%/} prog=${dir##*/}
	grep -q "^$prog$tab" "$table"
	check $? "has a line in matrix.tab"
done

while IFS=$tab read -r prog flags args <&9; do
	case $prog in '' | '#'*) continue ;; esac
	input="" timing=no trouble=2 usage=2 state=no
	case ,$flags, in *,timing,*) timing=yes ;; esac
	case ,$flags, in *,state,*) state=yes ;; esac
	case $flags in *trouble=*) trouble=${flags##*trouble=} trouble=${trouble%%,*} ;; esac
	for word in $args; do case $word in @*) input=${word#@} ;; esac; done
	[ "$prog" = "$last" ] || { options && many "$prog"; }
	last=$prog
	go "$input"
	[ "$status" -eq 0 ] && [ ! -s err ] && [ -s out ]
	check $? "the plain run: $args"
	[ "$status" -eq 0 ] || continue
	mv out plain
	full_and_closed
	outputs
	pipes
	case ,$flags, in *,slow,*) [ -n "${GV_LONG:-}" ] || continue ;; esac
	[ -z "$input" ] || inputs
	environments
done 9<"$table"
done_testing

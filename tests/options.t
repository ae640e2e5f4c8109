#!/bin/sh
# A program's long options are the same in its code, in --help, in its page and
# in both completions, and take the numbers of ranges.tab; every program has a page and is
# named where all are.
# shellcheck disable=SC2086
. "${0%/*}/lib.sh"

common='help output quiet verbose version'
# the long options that a text with --words names
words() { grep -o -e '--[a-z][a-z0-9-]*' | sed 's/^--//' | sort -u; }

# in_code PROG: what its getopt tables hold
in_code() {
	find "$src/cmd/$1" -name "*.[ch]" -exec cat {} + >"$scratch/code"
	{
		grep -o '{"[a-z][a-z0-9-]*", *\(no\|required\|optional\)_argument' "$scratch/code" |
			sed 's/{"//; s/".*//'
		grep -q -e 'GV_OPT_TABLE\>' -e 'gv_opt_parse(.*, true,' "$scratch/code" && echo tsv
		printf '%s\n' $common
	} | sort -u
}
# subcommands PROG: names for which "PROG NAME --help" is a help of its own
subcommands() {
	sed -n "s/^$1	[^	]*	\([a-z]*\) .*/\1/p" "$src/tests/matrix.tab" | sort -u
}
in_help() {
	{
		"$bin/$1" --help
		for sub in $(subcommands "$1"); do "$bin/$1" "$sub" --help; done
		[ "$1" != gv-partition ] || for sub in 2bw ptd-p; do "$bin/$1" -p "$sub" --help; done
	} | words
}
in_page() {
	grep -o -e 'Fl Fl [a-z][a-z0-9-]*' -e 'Fl \\*-[a-z][a-z0-9-]*' "$src/man/$1.1" |
		sed 's/Fl Fl //; s/Fl \\*-//' | sort -u
}
# offered PROG: what bash offers behind "PROG --"
offered() {
	bash --norc -c '
		. "$1" && name=${1##*/}
		f=$(complete -p "$name" | sed "s/.*-F \([^ ]*\) .*/\1/")
		for line in "$name" $2; do
			COMP_WORDS=("$name") COMPREPLY=()
			[ "$line" = "$name" ] || COMP_WORDS+=("$line")
			COMP_WORDS+=(--) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
			COMP_LINE="${COMP_WORDS[*]}" COMP_POINT=${#COMP_LINE}
			"$f" "$name" -- "$line"
			printf "%s\n" "${COMPREPLY[@]}"
		done' bash "$src/share/bash-completion/$1" "$(subcommands "$1" | tr '\n' ' ')" 2>"$scratch/err" | words
}

# ranges PROG: what its options that take numbers say of "x"
ranges() {
	grep -o '{"[a-z][a-z0-9-]*", *required_argument' "$scratch/code" | sed 's/{"//; s/".*//' | sort -u >"$scratch/taking"
	for sub in "" $(subcommands "$1"); do
		while IFS= read -r option; do
			"$bin/$1" $sub "--$option=x" 2>&1 </dev/null >/dev/null |
				sed -n "s/^$1: \(--$option\): expected [a-z ]* \(from [^ ]* to [^ ]*\), got.*/$1${sub:+ $sub} \1 \2/p"
		done <"$scratch/taking"
	done | LC_ALL=C sort
}

# same PLACE: the options in ./out are those of the code
same() {
	ran="comparing the options of $prog in its code (<) and in $1 (>)" status=0
	if cmp -s code.list out; then
		pass "$prog: options in $1"
	else
		diff code.list out >differ
		fail "$prog: options in $1" differ err
	fi
}
names() { if grep -qsF "$prog" "$src/$1"; then pass "$prog: named in $1"; else fail "$prog: named in $1"; fi; }

for dir in "$src"/cmd/*/; do
	dir=${dir%/} prog=${dir##*/}
	: >err
	in_code "$prog" >code.list
	in_help "$prog" >out
	same --help
	if [ -f "$src/man/$prog.1" ]; then
		in_page "$prog" >out
		same "its page"
	else
		fail "$prog: has a page"
	fi
	for file in "share/bash-completion/$prog" "share/zsh/_$prog"; do
		if [ -f "$src/$file" ]; then
			words <"$src/$file" >out
			same "$file"
		else
			fail "$prog: has $file"
		fi
	done
	if ! have bash; then
		skip "no bash"
	elif [ -f "$src/share/bash-completion/$prog" ]; then
		offered "$prog" >out
		same "what bash offers"
	fi
	ranges "$prog" >code.list
	grep "^$prog " "$src/tests/ranges.tab" >out
	same tests/ranges.tab
	names man/gv.7
	names README.md
	screens=$(subcommands "$prog")
	[ "$prog" != gv-partition ] || screens='-p%2bw -p%ptd-p'
	for sub in "" $screens; do
		sub=$(echo "$sub" | tr % ' ')
		run "$bin/$prog" $sub --help
		if [ "$status" -eq 0 ] && [ ! -s err ] && [ "$(wc -l <out)" -le 24 ] &&
			[ "$(wc -L <out)" -le 80 ] && head -n 1 out | grep -q "^usage: $prog${sub:+ $sub}"; then
			pass "$prog${sub:+ $sub}: --help is a screen"
		else
			fail "$prog${sub:+ $sub}: --help is a screen: 24 lines of 80" out err
		fi
	done
done
done_testing

#!/bin/sh
# mutate.sh [PLACE...]: plants small changes (tests/mutate.awk) in the cores, one at a time,
# in a copy of the tree, and sees whether a test notices.  PLACE is a folder of tests/mutants
# or a file in one; without any, all folders.  Prints the changes that no test notices, and
# per folder how many were drawn, killed (noticed), equivalent and survived; status 1 when
# more than 5 % of all that are not equivalent survive.
#
# Equivalent is what compiles to the same code, and what tests/mutants.equivalent lists: what no
# program shows.  What shows in nothing but time or memory is in tests/mutants.costs, and counted by
# itself: neither is it in the rate.
#
# MUTANTS=N changes of each folder, drawn by SEED (default 30 and 1; MUTANTS=all).
# MUTANTS_OF_ALL=N changes of all that is asked for together instead: a large folder has more.
# MUTATE_S=SECONDS ends it after about that long: folders share what time is left.
# MUTANTS_FROM=FILE are those of this file instead: what survives stays in build/mutate/survivors,
# which (copied elsewhere) brings them back as long as the sources are the same.
# MUTANTS_WITHIN=SECONDS is a first look, whose survivors may be none: without the later tests of
# a row, and without those that took longer the last time.
# MUTATE_GATE=COMMAND is where others measure: what is built and run is so while COMMAND (flock FILE,
# say) runs a sleep, which is ended and begun anew every four minutes.
#
# What makes it cheap: the libraries of the copy are shared, and the objects of the folder
# under test come before them in one of their own, so that a change costs one object and one
# small link; which tests come to which line is counted first, and only those that come to
# the changed one run, the quickest first, each up to its first failure; only a test that fails
# is also run without the change.  Where a draw from all comes to a folder a few times only, lines
# are not counted, and most changes are killed before the slow tests run.  The later tests of a
# row, whose lines are never counted, run when no other has noticed a change.
set -u
cd "$(dirname "$0")/.." || exit 2
src=$PWD copy=$PWD/build/mutate
most=${MUTANTS:-30} seed=${SEED:-1} seconds=${MUTATE_S:-} together=${MUTANTS_OF_ALL:-} from=${MUTANTS_FROM:-}
within=${MUTANTS_WITHIN:-} gate=${MUTATE_GATE:-} entered=0 at_gate=
[ "$most" != all ] || most=1000000
tab=$(printf '\t')
unset MAKEFLAGS MAKELEVEL MFLAGS
if [ -n "$from" ]; then
	mkdir -p "$copy" && cp "$from" "$copy/given" || exit 2
	together=$(wc -l <"$copy/given")
fi

mkdir -p "$copy/plant"
# two in one copy would plant in each other's
other=$(cat "$copy/running" 2>/dev/null)
if [ -n "$other" ] && kill -0 "$other" 2>/dev/null; then
	echo "mutate: process $other is at work in $copy" >&2
	exit 2
fi
echo $$ >"$copy/running"
trap 'leave; rm -f "$copy/running"' EXIT
trap 'exit 2' HUP INT TERM
# what is there now, not what is committed, and no more than that
{ git ls-files -co --exclude-standard 2>/dev/null || find . -type f ! -path './build/*' ! -path './bin/*'; } |
	while IFS= read -r f; do [ ! -f "$f" ] || printf '%s\n' "${f#./}"; done | sort >"$copy/files"
(cd "$copy" && find common cmd tests -name '*.[ch]' 2>/dev/null | grep -vxFf files | while IFS= read -r f; do rm -f "$f"; done)
# times are kept, so that make builds little
while IFS= read -r f; do
	cmp -s "$f" "$copy/$f" || printf '%s\n' "$f"
done <"$copy/files" | tar -cf - -T - | tar -C "$copy" -xmf - || exit 2
cd "$copy" || exit 2

now() { # hundredths of a second
	read -r up _ </proc/uptime && echo "${up%.*}${up#*.}"
}
# at the gate: who has been in for four minutes goes out and waits for his turn
enter() {
	[ -n "$gate" ] || return 0
	[ -s held ] && kill -0 "$(cat held)" 2>/dev/null && [ "$(($(now) - entered))" -lt 24000 ] && return 0
	leave
	# shellcheck disable=SC2016
	$gate sh -c 'echo $$ >held.new && mv held.new held && exec sleep 3600' >/dev/null 2>&1 </dev/null &
	at_gate=$!
	while [ ! -s held ] && kill -0 "$at_gate" 2>/dev/null; do sleep .2; done
	entered=$(now)
}
leave() {
	[ -n "$at_gate" ] || return 0
	if [ -s held ]; then kill "$(cat held)"; else kill "$at_gate"; fi 2>/dev/null
	rm -f held
	wait "$at_gate"
	at_gate=
}
# what a run that was ended has left out of programs
find build/obj -name '*.o.saved' 2>/dev/null | while IFS= read -r o; do
	mv "$o" "${o%.saved}" && touch "${o%.saved}"
done
# what reads behind the end of something is noticed by the address sanitizer
export GV_SAN=1 ASAN_OPTIONS=exitcode=99:detect_leaks=0:hard_rss_limit_mb=4000:allocator_may_return_null=1
export GV_SHARED="$src/../shared" GV_DATA="$copy/share" GV_BIN="$copy/bin" GV_BUILD="$copy/build" GV_TAP_STOP=1

# what is not set is not 0 by chance, where the compiler can see to that
garbage=-ftrivial-auto-var-init=pattern
echo 'extern int gv_nothing;' | ${CC:-cc} $garbage -x c - -c -o plant/garbage.o 2>/dev/null || garbage=

# make in the copy: archives are shared libraries, and a program looks into that of the
# folder under test before them, by a name of its own: what the folder of one program wants
# (tables of its functions) no other has; nothing planted is for GPUs, whose compiler is slow
planted=$copy/planted/libplanted.so doubles=$copy/planted/libdoubles.so
# of gv-tree and its unit tests planted/gv-tree.so, of the double build of the trainer
# planted/f64.so, of what is no program's planted/any.so
planted_of='$(or $(filter $(PROGRAMS),$(firstword $(subst ., ,$(notdir $@)))),$(if $(filter %_f64,$@),f64),any)'
build() {
	enter
	# shellcheck disable=SC2016
	make -s CUDA=0 HARDEN= CC="${CC:-cc}" CFLAGS="-O2 -fPIC $garbage" \
		LDFLAGS="-fsanitize=address -rdynamic -Wl,--no-as-needed '$copy/planted/$planted_of.so' -Wl,-rpath,'$copy/build'" \
		AR='shared() { shift; to=$$1; shift; $(CC) -shared -Wl,-soname,"$${to##*/}" -o "$$to" "$$@"; }; shared' "$@"
}
# link OBJECT...: these are what programs see first (without a name: found by path)
link() { link_to "$planted" "$@"; }
link_to() {
	to=$1
	shift
	${CC:-cc} -shared -o "$to.new" "$@" && mv "$to.new" "$to"
}
# link_planted: the objects of the folder, in a double build as well where there is one
link_planted() {
	# shellcheck disable=SC2046
	link $(objects o) && { ! is_double || link_to "$doubles" $(objects f64.o); }
}
is_double() { case $folder in common/nn | common/nn/*) true ;; *) false ;; esac; }
# seen_by FOLDER: all programs see what is planted in common/, that of cmd/PROG only PROG
seen_by() {
	for p in any f64 cmd/*; do
		p=${p#cmd/}
		case $1,$p in
		common/nn,f64 | common/nn/*,f64) ln -sf libdoubles.so planted/f64.so ;;
		common/*,* | "cmd/$p,"* | "cmd/$p/"*) ln -sf libplanted.so "planted/$p.so" ;;
		*) ln -sf libnothing.so "planted/$p.so" ;;
		esac
	done
}
# nothing NAME: an object without anything in it
nothing() { echo 'extern int gv_nothing;' | ${CC:-cc} -x c - -c -o "$1"; }
# a test in the time of $2 hundredths, without leaving a program of ours behind; a change may
# make it ask for all memory, or fill the disk; how long it took (not how long it waited at the
# gate) is $spent
try() {
	case $1 in
	unit/*) set -- "$2" "build/$1" ;;
	fuzz/*) set -- "$2" "build/$1" -n 5 "tests/fuzz/corpus/${1#fuzz/}" ;;
	*) set -- "$2" sh "tests/$1.t" ;;
	esac
	limit=$1
	shift
	enter
	began_at=$(now)
	{
		(ulimit -f 2000000 &&
			exec timeout -k 1 "$((limit / 100)).$((limit / 10 % 10))" "$@") >test.log 2>&1 </dev/null
		tried=$?
	} 2>/dev/null # where the shell says what a signal ended
	find /proc -maxdepth 2 -name exe \( -lname "$copy/bin/*" -o -lname "$copy/build/*" \) 2>/dev/null |
		cut -d / -f 3 | xargs -r kill -9 2>/dev/null
	spent=$(($(now) - began_at))
	return $tried
}

# objects TAIL: plant/NAME.TAIL of each file that is changed
objects() { sed "s|.*/|plant/|; s|\.c\$|.$1|" folder; }

# compile FILE OBJECT [OPTION...]: as make would, quicker, for a library that is shared
compile() {
	command=$(grep -F -- " -o build/obj/${1%.c}.o " commands | sed "s| -o [^ ]* | -o $2 |; s/ -MMD -MP / /; s/^ccache //; s/ -O2 / -O1 /")
	shift 2
	enter
	sh -c "$command -fPIC -w ${*:--fsanitize=address}"
}

# which tests come to which line: TEST<TAB>FILE:LINE in plant/reach, lines that none comes to
# with "-"; how long each takes in plant/took, those that fail without a change left out
count_lines() { # FOLDER TESTS
	while IFS= read -r f; do
		o=${f##*/}
		compile "$f" "plant/${o%.c}.cov.o" -O0 --coverage || return 1
	done <folder
	# shellcheck disable=SC2046
	link --coverage $(objects cov.o) || return 1
	: >plant/reach && : >plant/took
	for t in $2; do
		rm -f plant/*.gcda
		if ! try "$t" 60000; then
			echo "$1: $t fails without any change: $(grep -m 1 '^not ok' test.log)" >&2
			continue
		fi
		echo "$spent$tab$t" >>plant/took
		for f in plant/*.gcda; do [ ! -f "$f" ] || gcov -t "$f" 2>/dev/null; done | awk -F : -v test="$t" '
			$2 + 0 == 0 && $3 == "Source" { file = $4; sub(/^\.\//, "", file) }
			$2 + 0 > 0 && $1 !~ /-$/ { print ($1 ~ /[#=]$/ ? "-" : test) "\t" file ":" ($2 + 0) }' >>plant/reach
	done
	sort -n plant/took >plant/sorted
	sed "s|^|$1$tab|" plant/sorted >>took
}

# line_up TESTS: all tests in the order of how long they took the last time, those that never ran
# in that of the row, behind the quick ones
line_up() {
	touch lasted
	for t in $1; do
		awk -F '\t' -v test="$t" '$2 == test { took = $1 } END { print (took ? took : 500) "\t" test }' lasted
	done | sort -s -n
}
# measured TEST: how long it takes without a change, status 1 when it fails then
measured() {
	if ! grep -q "^$1$tab" plant/measured; then
		for so in "$planted" "$doubles"; do
			cp "$so" "plant/${so##*/}.changed" && cp "plant/${so##*/}.whole" "$so.new" && mv "$so.new" "$so"
		done
		takes=-
		for _ in once again; do
			try "$1" 30000 && takes=$spent && break
		done
		if [ "$takes" != - ]; then
			echo "$takes$tab$1" >>lasted
		else
			echo "$folder: $1 fails without any change: $(grep -m 1 '^not ok' test.log)" >&2
		fi
		for so in "$planted" "$doubles"; do mv "plant/${so##*/}.changed" "$so"; done
		echo "$1$tab$takes" >>plant/measured
	fi
	takes=$(sed -n "s|^$1$tab||p" plant/measured)
	[ "$takes" != - ]
}

# notices COMMA,SEPARATED,TESTS: one of them fails, or one of the later ones
notices() {
	while IFS=$tab read -r takes t <&7; do
		case ",$1, $later " in *",$t,"* | *" $t "*) ;; *) continue ;; esac
		if try "$t" $((3 * takes + 300)); then
			echo "$spent$tab$t" >>lasted
			continue
		fi
		measured "$t" || continue
		# on a busy machine a test may fail once, or take long, without any change
		try "$t" $((12 * takes + 1200)) || { killer=$t && return 0; }
	done 7<plant/queue
	return 1
}
listed() { # LIST FILE LINE
	grep -qxF -e "$2$tab$3" "tests/mutants.$1" 2>/dev/null
}

# prepare FOLDER TESTS LATER: everything built; where the folder is in programs, not in a library,
# they are made without what is changed, so that they take what is planted
prepare() {
	seen_by "$1"
	# all programs, since unit tests ask some, and skip where they are not there; so do tests
	# of ranks without libraries of a fake driver
	goals="all fakes $helpers $(for t in $2 $3; do case $t in unit/* | fuzz/*) echo "build/$t" ;; esac done)"
	objects=$(sed 's|^|build/obj/|; s|\.c$|.o|' folder)
	# shellcheck disable=SC2046,SC2086
	if ! build -j"$(nproc 2>/dev/null || echo 2)" $objects $goals >build.log 2>&1 ||
		! build -n $(sed 's|^|-W |' folder) $objects >build.log 2>&1; then
		tail build.log >&2
		return 1
	fi
	grep -- ' -c -o ' build.log >commands
	while IFS= read -r f; do
		o=${f##*/}
		compile "$f" "plant/${o%.c}.o"
		! is_double || compile "$f" "plant/${o%.c}.f64.o" -fsanitize=address -DGV_REAL_DOUBLE
	done <folder
	case $1 in
	cmd/*)
		# shellcheck disable=SC2046
		link $(objects o) || return 1
		for o in $objects; do
			mv "$o" "$o.saved" && nothing "$o"
		done
		# shellcheck disable=SC2086
		build $goals >build.log 2>&1 || { tail build.log >&2 && return 1; }
		;;
	esac
}

# some N FILE...: that many changes of these files, or as many as there are
some() {
	n=$1
	shift
	for f; do
		awk -f tests/mutate.awk "$f" | sed "s|^|$f$tab|"
	done | awk -v seed="$seed" '
		BEGIN { srand(seed) }
		{ printf "%.9f\t%s\n", rand(), $0 }' | sort | head -n "$n" | cut -f 2-
}
# draw FILE...: changes of these files with the tests that come to them; all, behind a "-", where
# none is seen to, for what ends by _exit() is not
draw() {
	if [ -n "$together" ]; then
		for f; do grep "^$f$tab" sample; done
	else
		some "$most" "$@"
	fi |
		awk -F '\t' -v always="$always" -v OFS='\t' '
			BEGIN {
				while ((getline line < "plant/sorted") > 0) { split(line, p, "\t"); every = every "," p[2] }
				while ((getline line < "plant/reach") > 0) {
					split(line, p, "\t")
					code[p[2]] = 1
					if (p[1] != "-") comes[p[2]] = comes[p[2]] "," p[1]
				}
			}
			{ at = $1 ":" $2; print ((always || !(at in code)) ? every : comes[at] != "" ? comes[at] : "-" every), $0 }'
}

# Unit tests that have a file of their folder in them (or a header of theirs has), for bounds of
# their own, are not linked with it: they are made anew with what is planted.
having() { # FILE
	grep -lF "/../../$1" build/unit/*.d 2>/dev/null | sed 's|.*/||; s|\.d$||' | while IFS= read -r u; do
		case " $tests $later " in *" unit/$u "*) echo "$u" ;; esac
	done
}
remake() { # "UNIT..."
	for u in $1; do
		[ -f "plant/$u.remake" ] || build -n -W "tests/unit/$u.c" "build/unit/$u" | grep -- ' -MF ' >"plant/$u.remake"
		enter
		sh "plant/$u.remake" 2>/dev/null
	done
}

# plant TESTS FILE LINE COLUMN LENGTH INSTEAD: one change; counts what comes of it
plant() {
	o=${2##*/}
	o=plant/${o%.c}
	[ -f "$o.whole.o" ] || cp "$o.o" "$o.whole.o"
	[ ! -f "$o.f64.o" ] || [ -f "$o.whole.f64.o" ] || cp "$o.f64.o" "$o.whole.f64.o"
	units=$(having "$2")
	for u in $units; do
		[ -f "plant/$u.remake" ] || remake "$u"
		measured "unit/$u"
	done
	cp "$2" saved
	INSTEAD=$6 awk -v line="$3" -v column="$4" -v n="$5" '
		NR == line { $0 = substr($0, 1, column - 1) ENVIRON["INSTEAD"] substr($0, column + n) }
		{ print }' saved >"$2"
	now=$(sed -n "${3}s/^$tab*//p" "$2")
	! is_double || compile "$2" "$o.f64.o" -fsanitize=address -DGV_REAL_DOUBLE 2>/dev/null
	if compile "$2" "$o.o" 2>/dev/null; then # what is no program is no change
		drawn=$((drawn + 1))
		if cmp -s "$o.o" "$o.whole.o" || listed equivalent "$2" "$now"; then
			equivalent=$((equivalent + 1))
		elif listed costs "$2" "$now"; then
			costs=$((costs + 1))
		elif link_planted && remake "$units" && notices "$1"; then
			killed=$((killed + 1))
			printf '%s:%s: %s\t%s\n' "$2" "$3" "$killer" "$now" >>kills
		else
			survived=$((survived + 1))
			case $1 in -*) none=' (no test seems to come here)' ;; *) none= ;; esac
			printf '%s:%s: %s%s\n' "$2" "$3" "$now" "$none"
			printf '%s\t%s\t%s\t%s\t%s\n' "$2" "$3" "$4" "$5" "$6" >>survivors
		fi
	fi
	cp saved "$2"
	cp "$o.whole.o" "$o.o"
	! is_double || cp "$o.whole.f64.o" "$o.f64.o"
	remake "$units"
}

# named TESTS PATTERN...: the tests of these patterns that TESTS has not
named() {
	but=$1
	shift
	for t; do
		# shellcheck disable=SC2086
		case $t in
		unit/* | fuzz/*) set -- tests/$t.c ;;
		*) set -- tests/$t.t ;;
		esac
		for f; do
			f=${f#tests/}
			case " $but " in *" ${f%.[ct]} "*) ;; *) [ ! -f "tests/$f" ] || echo "${f%.[ct]}" ;; esac
		done
	done | sort -u
}

# mutate FOLDER TESTS PATTERNS FILE...: changes of these files; a line of totals
mutate() {
	folder=$1 tests=$2 later=$3
	shift 3
	always=
	until=$(($(now) + ${share:-100000000}))
	case $tests in '* '*) always=yes && tests=${tests#??} ;; esac
	# shellcheck disable=SC2086
	if [ -n "$within" ]; then later=; else later=$(named "$tests" $later | tr '\n' ' '); fi
	printf '%s\n' "$@" >folder
	prepare "$folder" "$tests" "$later" || return 1
	: >plant/measured
	if [ -n "$together" ] && [ "$(for f; do grep "^$f$tab" sample; done | wc -l)" -le 8 ]; then
		always=yes && : >plant/reach && line_up "$tests" >plant/sorted
	else
		count_lines "$folder" "$tests" || return 1
		awk -F '\t' -v OFS='\t' '{ print $2, $1 }' plant/sorted >plant/measured
	fi
	{ cat plant/sorted && line_up "$later"; } >plant/queue
	link_planted && for so in "$planted" "$doubles"; do cp "$so" "plant/${so##*/}.whole"; done || return 1
	draw "$@" >sites || return 1
	drawn=0 killed=0 equivalent=0 costs=0 survived=0
	while IFS=$tab read -r by file line column length instead <&8; do
		# some of each, however long it took to build
		[ "$drawn" -lt 4 ] || [ "$(now)" -lt "$until" ] || { echo "$folder: time is up" && break; }
		plant "$by" "$file" "$line" "$column" "$length" "$instead"
	done 8<sites
	rm -f plant/*
	for o in $objects; do
		[ ! -f "$o.saved" ] || { mv "$o.saved" "$o" && touch "$o"; }
	done
	nothing plant/nothing.o && link plant/nothing.o && link_to "$doubles" plant/nothing.o
	echo "$folder $drawn $killed $equivalent $costs $survived" >>totals
	row "$folder" $drawn $killed $equivalent $costs $survived
}
row() { # NAME DRAWN KILLED EQUIVALENT COSTS SURVIVED
	awk -v name="$1" -v d="$2" -v k="$3" -v e="$4" -v c="$5" -v s="$6" 'BEGIN {
		rate = d == e + c ? 0 : 100 * s / (d - e - c)
		printf "%-32s %5d drawn, %5d killed, %4d equivalent, %4d cost time or memory, %4d survived, %4.1f %%\n",
			name, d, k, e, c, s, rate }'
}

mkdir -p planted
helpers=$(for f in tests/helpers/*.c tests/preload/*.c; do echo "$f"; done |
	sed 's|^tests|build|; s|\(/preload/.*\)\.c$|\1.so|; s|\.c$||' | tr '\n' ' ')
nothing plant/nothing.o && link plant/nothing.o && link_to "$doubles" plant/nothing.o && cp "$planted" planted/libnothing.so || exit 2
: >totals
: >took
: >kills
: >survivors
# which files of the row FOLDER are asked for
asked() { # FOLDER PLACE...
	in=$1
	shift
	for f in "$in"/*.c; do
		case " ${*:-$in} " in *" $in "* | *" $in/ "* | *" $f "*) echo "$f" ;; esac
	done
}
grep -v '^#' tests/mutants | grep "$tab" | while IFS= read -r line; do
	[ -z "$(asked "${line%%"$tab"*}" "$@")" ] || printf '%s\n' "$line"
done >rows
# of a draw from all only rows that it comes to are built
if [ -n "$together" ]; then
	# shellcheck disable=SC2046
	if [ -n "$from" ]; then cp given sample; else
		some "$together" $(while IFS=$tab read -r folder _; do asked "$folder" "$@"; done <rows) >sample
	fi
	while IFS= read -r line; do
		for f in $(asked "${line%%"$tab"*}" "$@"); do
			! grep -q "^$f$tab" sample || { printf '%s\n' "$line" && break; }
		done
	done <rows >drawn_rows
	mv drawn_rows rows
fi
began=$(now)
left=$(wc -l <rows)
while IFS=$tab read -r folder tests later <&9; do
	files=$(for f in $(asked "$folder" "$@"); do
		[ -n "$together" ] && ! grep -q "^$f$tab" sample || echo "$f"
	done)
	[ -z "$seconds" ] || share=$(((began + seconds * 100 - $(now)) / left))
	left=$((left - 1))
	# shellcheck disable=SC2086
	mutate "$folder" "$tests" "$later" $files || { echo "$folder: not tried" && echo "$folder 0 0 0 0 1" >>totals; }
done 9<rows
# shellcheck disable=SC2046
row "all mutants:" $(awk '{ d += $2; k += $3; e += $4; c += $5; s += $6 } END { print d + 0, k + 0, e + 0, c + 0, s + 0 }' totals)
awk '{ d += $2 - $4 - $5; s += $6 } END { exit s > .05 * d }' totals

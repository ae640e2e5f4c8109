# What programs answer to drawn input is what they have answered before: plans and allocations
# that people rely on do not change unnoticed from one version to the next.  Behind lib.sh:
#
#	answers NAME ["new"]	tests/answers/NAME holds a checksum for each question
#	drawn_trace SEED JOBS TYPES	tables for gv-sim
#	same CMD...	what CMD prints, its status, and the file "beside" where it wrote one,
#			are what they were, numbers to $digits digits; $case is what it is of
#	answered	the end
#
# Where an answer is meant to change, "sh tests/gv-alloc-answers.t new" writes the checksums
# anew: the lines that differ then are the questions to look at, and NEWS says why.
# shellcheck shell=sh disable=SC2034,SC2154

answers() {
	digits=7
	answers_in=$src/tests/answers/$1 answers_new=${2:-}
	[ -z "$answers_new" ] || answers_in=$scratch/answers.new
	answers_version=$(sed 's/\./\\./g' "$src/VERSION")
	: >answers.new
}
# drawn_trace SEED JOBS TYPES: c.csv, j.csv, t.csv and ch.csv, for gv-sim
drawn_trace() {
	drawn cluster "$@" | awk -F, -v OFS=, 'NR > 1 { $2 += 2 } 1' >c.csv
	drawn jobs "$@" >j.csv
	drawn throughputs "$@" >t.csv
	drawn changes "$@" >ch.csv
}
# Without what compilers that sum in another order make of last digits, and the version.
what_counts() {
	sed "s/$answers_version/VERSION/g" | awk -v form="%s%.${digits}g" '{
		for (rest = $0; match(rest, /[0-9]+(\.[0-9]+)?e-?[0-9]+|[0-9]+\.[0-9]+/); rest = substr(rest, RSTART + RLENGTH)) {
			v = substr(rest, RSTART, RLENGTH) + 0
			printf form, substr(rest, 1, RSTART - 1), v < 1e-12 ? 0 : v
		}
		print rest
	}'
}
same() {
	rm -f beside
	run "$@"
	[ -f beside ] || : >beside
	set -- "$(cat out beside err - <<-END | what_counts | cksum
		$status
	END
	)	$case: $*"
	[ -z "$answers_new" ] || printf '%s\n' "$1" >>answers.new
	if grep -qxF -- "$1" "$answers_in"; then pass "${1#*	}"; else fail "${1#*	} is answered as before" out beside err; fi
}
answered() {
	[ -z "$answers_new" ] || cp answers.new "$src/tests/answers/$(basename "$0" -answers.t)"
	done_testing
}

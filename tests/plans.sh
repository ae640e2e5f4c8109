# What the tests of gv-partition share.  Source it behind lib.sh; usage is the line
# behind a usage error, and a test may have a plan() of its own.
# shellcheck shell=sh disable=SC2154

# plan ARGS...: what bad and wrong run
plan() { gv-partition "$@"; }
# bad NAME LINE ARGS...: a usage error that says LINE
bad() {
	bad_name=$1 bad_line=$2
	shift 2
	run plan "$@"
	is_status 2 "$bad_name: status"
	is_err "$bad_name" <<EOF
gv-partition: $bad_line
$usage
EOF
}
# wrong NAME LINE ARGS...: another error that says LINE
wrong() {
	wrong_name=$1 wrong_line=$2
	shift 2
	run plan "$@"
	is_status 2 "$wrong_name: status"
	echo "gv-partition: $wrong_line" | is_err "$wrong_name"
}
# columns NAMES [FILE]: those columns of a CSV, ./out by default, spaces between
columns() {
	awk -F, -v want="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(want, c, " ") }
		{ for (i = 1; i <= n; i++) printf "%s%s", $at[c[i]], i < n ? " " : "\n" }' "${2:-out}"
}

# called.awk SOURCE...: the functions that nobody calls, and those that only tests do, whatever
# comments and strings say of them.
BEGIN {
	n = split("gv_oracle_force gv_price_solve gv_problem_excess gv_launch_local_guard " \
		"gv_cpu_gemm_kernel gv_cpu_gemm_use gv_net_get_gradients gv_policy_starts " \
		"gv_rounds_pass gv_rounds_hold gv_tab_only_libcsv", name)
	for (i = 1; i <= n; i++) of_tests[name[i]] = 1 # made for them, and for benches
}
FNR == 1 { comment = 0 }
{
	line = ""
	rest = $0
	while (rest != "") {
		if (comment) {
			if (!(ends = index(rest, "*/"))) break
			comment = 0
			rest = substr(rest, ends + 2)
		} else if (match(rest, /"([^"\\]|\\.)*"|'([^'\\]|\\.)*'|\/\*|\/\//)) {
			begins = substr(rest, RSTART, 2)
			line = line substr(rest, 1, RSTART - 1) " "
			rest = substr(rest, RSTART + RLENGTH)
			if (begins == "/*") comment = 1
			else if (begins == "//") break
		} else {
			line = line rest
			break
		}
	}
	whole = line
	while (match(line, /[a-z_][a-z_0-9]*/)) {
		word = substr(line, RSTART, RLENGTH)
		if (FILENAME !~ /h$/ && RSTART == 1 && line == whole && substr(line, RLENGTH + 1, 1) == "(")
			at[word] = FILENAME ":" FNR
		else if (FILENAME !~ /h$/ || whole !~ /^[a-z].*[a-z_0-9]\(/)
			used[word] = used[word] == "here" || FILENAME !~ /^tests/ ? "here" : "tests"
		line = substr(line, RSTART + RLENGTH)
	}
}
END {
	for (word in at)
		if (!(word in used)) found += say("nobody calls ")
		else if (at[word] !~ /^tests/ && used[word] == "tests" && !(word in of_tests))
			found += say("only tests call ")
	exit found > 0
}
function say(what) {
	print at[word] ": " what word
	return 1
}

# A plan of gv-tree against the links it is made from, told apart from the planner:
# every phase of every tree reaches all GPUs once, along links that are there, each
# node after what feeds it; no direction of a link carries more than it can.
#	awk -F, -v gpus=N [-v root=NAME] [-v lowered=1] [-v busiest="SRC to DST"] -f tree_check.awk LINKS TREES
# prints the sum of the weights and the number of trees, or what is wrong.  lowered: links
# count as the slower direction.  busiest: that one is, and how much of it is used follows in %.
function wrong(s) { if (!bad) print "line " FNR ": " s; bad = 1 }
function close_phase(  v, n) {
	if (edges == 0) return
	n = 0
	for (v in has) n++
	if (edges != gpus - 1) wrong(edges " edges in tree " tree ", " phase)
	if (n != gpus) wrong(n " of " gpus " GPUs in tree " tree ", " phase)
	if (phase == "reduce" && sent[tree_root]) wrong("the root sends up in tree " tree)
	edges = 0
	split("", has)
	split("", got)
	split("", sent)
}
FNR == 1 { for (i = 1; i <= NF; i++) col[FILENAME == ARGV[1] ? "l" $i : "t" $i] = i; file++; next }
file == 1 { cap[$(col["lsrc"]), $(col["ldst"])] += $(col["lgbytes_per_s"]); next }
{
	t = $(col["ttree"]); r = $(col["troot"]); p = $(col["tphase"]); w = $(col["tweight"])
	s = $(col["tsrc"]); d = $(col["tdst"])
	if (t != tree || p != phase || FNR == 2) {
		close_phase()
		if (t != tree || FNR == 2) { sum += w; trees++; weight = w }
		tree = t; phase = p; tree_root = r
		if (p == "broadcast") has[r]
	}
	if (w != weight) wrong("tree " t " changes its weight")
	if (root != "" && r != root) wrong("tree " t " has another root")
	if (w <= 0) wrong("a weight of " w)
	edges++
	if (p == "broadcast") {
		if (!(s in has)) wrong(s " sends before it has something")
		if (d in has) wrong(d " is reached twice")
		has[d]
	} else if (p == "reduce") {
		if (sent[s]++) wrong(s " sends twice")
		if (d in sent && sent[d]) wrong(d " is sent to after it has sent")
		has[s]; has[d]
	} else wrong("phase " p)
	n = split($(col["tpath"]), hop, ";")
	at = s
	for (i = 1; i <= n; i++) { load[at, hop[i]] += w; at = hop[i] }
	load[at, d] += w
}
END {
	close_phase()
	for (k in load) {
		split(k, e, SUBSEP)
		c = cap[k]
		if (lowered && cap[e[2], e[1]] < c) c = cap[e[2], e[1]]
		if (c <= 0) wrong("no link from " e[1] " to " e[2])
		else if (load[k] / c > most) most = load[k] / c
		if (e[1] " to " e[2] == busiest) busy = load[k] / c
		if (c > 0 && load[k] > c * (1 + 1e-9)) wrong(e[1] " to " e[2] " carries " load[k] " of " c)
	}
	if (busiest != "" && busy < most * (1 - 1e-9)) wrong("not the busiest link: " busiest)
	if (!bad && busiest != "") printf "%.9g %d %.4g\n", sum, trees, 100 * most
	else if (!bad) printf "%.9g %d\n", sum, trees
}

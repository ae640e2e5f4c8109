# awk -f FILTER -f stream.awk: what filters for a stream of tables have in common.
#
# column[NAME] is where a column stands; row[1..n] the rows of the present table, which a
# filter's seen() has met one by one and its flush() writes and forgets.
BEGIN { FS = OFS = "," }
FNR == 1 || head {
	split("", column)
	for (i = 1; i <= NF; i++)
		column[$i] = i
	head = 0
	print
	next
}
/^$/ {
	flush()
	n = 0
	print ""
	fflush()
	head = 1
	next
}
{
	row[++n] = $0
	seen()
}
END { if (n) flush() }

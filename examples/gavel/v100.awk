# awk -f v100.awk: every rate of a job as it is on V100s.
#
# So Gavel's makespan and finish-time see jobs when they are to know of no GPU types.  A
# filter for a stream of tables, in front of gv-alloc --stream.
BEGIN { FS = OFS = "," }
NR == 1 || head {
	split("", column)
	for (i = 1; i <= NF; i++)
		column[$i] = i
	head = 0
	print
	next
}
/^$/ {
	flush()
	print ""
	fflush()
	head = 1
	next
}
{
	row[++n] = $0
	if ($column["gpu_type"] == "v100")
		rate[$column["job_id"]] = $column["steps_per_s"]
}
END { flush() }

function flush(    i) {
	for (i = 1; i <= n; i++) {
		$0 = row[i]
		$column["steps_per_s"] = rate[$column["job_id"]]
		print
	}
	n = 0
	split("", rate)
}

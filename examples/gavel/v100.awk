# awk -f v100.awk -f stream.awk: every rate of a job as it is on V100s.
#
# So Gavel's makespan and finish-time see jobs when they are to know of no GPU types.  A
# filter for a stream of tables, in front of gv-alloc --stream.
function seen() {
	if ($column["gpu_type"] == "v100")
		rate[$column["job_id"]] = $column["steps_per_s"]
}

function flush(    i) {
	for (i = 1; i <= n; i++) {
		$0 = row[i]
		$column["steps_per_s"] = rate[$column["job_id"]]
		print
	}
	split("", rate)
}

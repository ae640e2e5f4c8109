# awk -f spread.awk -f stream.awk CLUSTER -: shares of an allocation, those of a job in the middle of all types.
#
# To a policy that knows of no types every split of a job's time over them is as good; this is
# the one that treats all types alike: by their GPUs.  A filter for a stream of tables,
# behind gv-alloc --stream.
BEGIN { FS = "," }
NR == FNR {
	if (FNR > 1)
		gpus[$1] += $2
	next
}

function seen(    job) {
	job = $column["job_id"]
	share[job] += $column["share"]
	if ($column["steps_per_s"] > 0)
		all[job] += gpus[$column["gpu_type"]]
}

function flush(    i, job, part) {
	for (i = 1; i <= n; i++) {
		$0 = row[i]
		job = $column["job_id"]
		part = $column["steps_per_s"] > 0 ? gpus[$column["gpu_type"]] / all[job] : 0
		$column["share"] = sprintf("%.12g", share[job] * part * (1 - 1e-9)) # 1e-9: sums round
		print
	}
	split("", share)
	split("", all)
}

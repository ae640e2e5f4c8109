# equal.awk CLUSTER -: every job gets an equal part of each GPU type it can run on.
#
#	gv-run -c cluster.csv -p 'awk -f equal.awk cluster.csv -' rates.csv
#
# A policy of the simplest kind: it reads a table to its end, writes the table with one
# column more, and exits.  For tables without commas or line breaks inside cells.
BEGIN { FS = OFS = "," }

FNR == 1 { # a header: where the columns are
	file++
	split("", column)
	for (i = 1; i <= NF; i++)
		column[$i] = i
	if (file == 2)
		header = $0
	next
}

file == 1 { gpus[$column["gpu_type"]] += $column["gpus"]; next }

{ # kept, for shares need the number of jobs
	row[++n] = $0
	job[n] = $column["job_id"]
	type[n] = $column["gpu_type"]
	gang[n] = "scale_factor" in column && $column["scale_factor"] != "" ? $column["scale_factor"] : 1
	works[n] = ($column["steps_per_s"] > 0)
	if (!(job[n] in seen))
		jobs++
	seen[job[n]] = 1
}

END {
	print header, "share"
	for (i = 1; i <= n; i++) {
		share[i] = works[i] && gang[i] <= gpus[type[i]] ? gpus[type[i]] / (jobs * gang[i]) : 0
		sum[job[i]] += share[i]
	}
	for (i = 1; i <= n; i++) # nobody runs for more than all of the time
		print row[i], (sum[job[i]] > 1 ? share[i] / sum[job[i]] : share[i])
}

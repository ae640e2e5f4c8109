#!/bin/sh
# Programs whose numbers are far apart: rates over twelve decades, weights over nine.  Each of these
# was once given up, by all solvers; with solvers that do not know of each other the
# lowest level of water-filling is that of max-min.
. "${0%/*}/lib.sh"

cat >a.cluster.csv <<'EOF'
gpu_type,gpus
t00,2
t01,1
t02,2
EOF
cat >a.rates.csv <<'EOF'
job_id,scale_factor,priority_weight,gpu_type,steps_per_s
j1,2,0.37,t00,7.264e-05
j1,2,0.37,t01,0.006139
j1,2,0.37,t02,3.74e-06
j2,2,0.37,t00,0.0003935
j2,2,0.37,t02,0.03142
j3,2,0.37,t02,0.9008
j4,2,0.001,t00,514.9
j4,2,0.001,t01,0.01109
j4,2,0.001,t02,1.806e+05
j5,2,1,t00,1.105
j5,2,1,t01,5.219e-06
j5,2,1,t02,3.514e-05
j6,2,5,t00,2.957e-05
j6,2,5,t01,688.1
j6,2,5,t02,0.6857
j7,2,0.37,t00,1.177e-06
j7,2,0.37,t01,0.02501
j7,2,0.37,t02,1.571e-05
j8,2,0.001,t00,116
j8,2,0.001,t01,0.02087
j8,2,0.001,t02,0.02961
j9,2,1e+06,t00,80.57
j9,2,1e+06,t01,31.77
j9,2,1e+06,t02,26.36
j10,2,1e+06,t00,0.2005
j10,2,1e+06,t01,3.449e+04
j10,2,1e+06,t02,1.577e-06
j13,2,5,t00,1.466e+05
j13,2,5,t01,71.23
j13,2,5,t02,25.77
j14,2,5,t00,0.01734
j14,2,5,t01,1.172
j14,2,5,t02,680.3
j15,2,0.37,t00,0.003533
j15,2,0.37,t01,9.032e-06
j15,2,0.37,t02,6.378
j16,2,0.37,t00,0.001421
j16,2,0.37,t01,0.0126
j16,2,0.37,t02,0.02241
j17,2,1,t00,8.104e-06
j17,2,1,t02,9.707e+05
j18,2,5,t00,5132
j18,2,5,t01,788.2
j18,2,5,t02,1.47e-05
j19,2,0.001,t00,0.0003802
j19,2,0.001,t01,4502
j19,2,0.001,t02,4.278e+05
EOF
cat >b.cluster.csv <<'EOF'
gpu_type,gpus
t00,2
t01,1
t02,4
t03,15
EOF
cat >b.rates.csv <<'EOF'
job_id,scale_factor,priority_weight,gpu_type,steps_per_s
j2,1,5,t00,6.18e+05
j3,1,1,t01,0.000284
j3,1,1,t03,4.35e+05
j4,1,1e+06,t02,3.97
j5,1,5,t00,7.55e-06
j5,1,5,t01,49.5
j6,1,0.001,t03,0.000271
j7,1,5,t00,2.02e-05
j7,1,5,t01,0.00117
j8,1,1e+06,t01,2.4e-06
j8,1,1e+06,t02,4.31
j9,1,5,t00,1.12e-06
j9,1,5,t01,3.4e+04
j12,1,1e+06,t02,0.0116
j13,1,1,t00,1.03e+04
j13,1,1,t01,21
j14,1,1e+06,t01,4.18e+03
j15,1,0.37,t02,9.86e+04
j15,1,0.37,t03,358
j16,1,1,t01,2.42e+04
j16,1,1,t03,0.0184
j17,1,0.001,t00,1.98
j17,1,0.001,t02,0.004
j18,1,5,t00,1.42e-05
j18,1,5,t03,0.0288
j19,1,0.001,t00,8.21e-06
j19,1,0.001,t02,170
EOF
cat >c.cluster.csv <<'EOF'
gpu_type,gpus
t00,1
t01,2
t02,1
t03,1
EOF
cat >c.rates.csv <<'EOF'
job_id,scale_factor,priority_weight,gpu_type,steps_per_s
j7,1,5,t00,25.6
j7,1,5,t01,3.95
j7,1,5,t02,0.055
j8,1,1,t01,590
j8,1,1,t02,0.000419
j8,1,1,t03,31.9
j11,1,0.37,t00,3.51e+04
j11,1,0.37,t02,0.0155
j11,1,0.37,t03,0.00325
j16,1,1,t00,1.56e-05
j16,1,1,t01,5.76e-06
j16,1,1,t02,0.00102
j16,1,1,t03,0.000127
j17,1,1,t00,1.38e+03
j17,1,1,t01,0.000364
j17,1,1,t02,0.00665
j17,1,1,t03,2.14e-06
j19,1,1e+06,t00,8.67e+04
j19,1,1e+06,t02,6.18e+03
j19,1,1e+06,t03,93.2
EOF
cat >d.cluster.csv <<'EOF'
gpu_type,gpus
t00,2
t01,3
t02,4
EOF
cat >d.rates.csv <<'EOF'
job_id,scale_factor,priority_weight,gpu_type,steps_per_s
j2,1,5,t00,3.03
j2,1,5,t01,1.03e+05
j2,1,5,t02,0.194
j3,1,1e+06,t00,124
j3,1,1e+06,t01,0.0778
j3,1,1e+06,t02,0.0036
j4,1,1,t00,0.0104
j4,1,1,t01,44.9
j5,1,0.001,t00,6.07e+03
j5,1,0.001,t01,0.00326
j6,1,1e+06,t00,27.2
j6,1,1e+06,t01,1.65
j6,1,1e+06,t02,1.13e+03
j7,1,5,t00,39.3
j7,1,5,t01,3.68e-05
j7,1,5,t02,1.25e-06
j8,1,1e+06,t00,2.26e+04
j8,1,1e+06,t01,0.0374
j8,1,1e+06,t02,0.0104
j9,1,5,t00,1.26
j9,1,5,t01,3.8e-05
j9,1,5,t02,6.27e-05
j10,1,1e+06,t00,6.51e-06
j10,1,1e+06,t01,1.38e+04
j10,1,1e+06,t02,1.12e+05
j12,1,1e+06,t00,3.79e+04
j12,1,1e+06,t01,2.7e+03
j12,1,1e+06,t02,0.00759
j13,1,1,t00,0.01
j13,1,1,t01,8.26e+05
j13,1,1,t02,305
j14,1,0.37,t00,197
j14,1,0.37,t01,11.3
j14,1,0.37,t02,1.61e+04
j15,1,0.001,t00,3.93e-06
j15,1,0.001,t01,7.47
j15,1,0.001,t02,1.59e+04
j18,1,0.37,t00,1.67e-06
j18,1,0.37,t01,3.32e+03
j18,1,0.37,t02,545
EOF

# word NAME: of the last -v line in err
word() { tail -n 1 err | tr ' ' '\n' | sed -n "s/^$1=//p"; }
near() { awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; d = d < 0 ? -d : d
	exit !(a != "" && b != "" && d <= t * (b < 0 ? -b : b)) }'; }

for table in a b c d; do
	run gv-alloc -q -v -p max-min -c $table.cluster.csv -o out.csv $table.rates.csv
	is_status 0 "$table: max-min comes to its end"
	level=$(word objective)
	ok "$table: within 1e-9 of its bound" near "$(word bound)" "$level" 1e-9
	run gv-alloc -q -v -p water-filling -c $table.cluster.csv -o out.csv $table.rates.csv
	is_status 0 "$table: water-filling comes to its end"
	ok "$table: and its lowest level is that of max-min" near "$(word objective)" "$level" 1e-8
done

# a share of 1e-18 that is all a job has to live on: no dust
printf 'gpu_type,gpus\nfast,1\nslow,4\n' >dust.cluster.csv
printf '%s\n' job_id,total_steps,gpu_type,steps_per_s x,1000,fast,1e16 x,1000,slow,1e-15 \
	y,1000,fast,0.0166 >dust.rates.csv
run gv-alloc -q -v -p makespan -c dust.cluster.csv -o out.csv dust.rates.csv
is_status 0 "a tiny share of a very fast type"
ok "is kept: the makespan is that of the other job" near "$(word objective)" 60240.96385542169 1e-9
ok "and it is proved" near "$(word bound)" "$(word objective)" 1e-9

# a ratio of times that is next to the time gone by, and a second sum that no solver finds: each
# try costs little, and is not made again and again (14 s of a processor, now .7)
awk -v s=7 -v n=100 -v m=16 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
BEGIN {
	for (i = 0; i < 20; i++)
		u()
	print "gpu_type,gpus" >"far.cluster.csv"
	for (j = 0; j < m; j++)
		print "t" j "," 1 + int(n / 2 / m * (.3 + 1.4 * u())) >"far.cluster.csv"
	print "job_id,total_steps,elapsed_s,gpu_type,steps_per_s" >"far.rates.csv"
	for (i = 0; i < n; i++) {
		job = "j" i "," int(exp(5 + 4 * u())) "," 30 * u()
		for (j = 0; j < m; j++)
			print job ",t" j "," exp(8 * log(10) * u()) >"far.rates.csv"
	}
}'
seconds=6
[ -z "${GV_SAN:-}" ] || seconds=60
run sh -c "ulimit -t $seconds"'; exec gv-alloc -q -v -p finish-time -c far.cluster.csv -o out.csv far.rates.csv'
is_status 0 "finish-time of rates over eight decades takes no more than some seconds"
ok "and is within 1e-9 of its bound" near "$(word bound)" "$(word objective)" 1e-9
done_testing

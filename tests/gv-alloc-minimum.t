#!/bin/sh
# gv-alloc: what jobs must have whatever the policy aims for, min_steps_per_s and deadlines.
. "${0%/*}/lib.sh"

# word NAME: of the last -v line in err
word() { tail -n 1 err | tr ' ' '\n' | sed -n "s/^$1=//p"; }
near() { awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; d = d < 0 ? -d : d
	exit !(a != "" && b != "" && d <= t * (b < 0 ? -b : b)) }'; }

# ---- by hand ----
cat >cluster.csv <<EOF
gpu_type,gpus,usd_per_h
v100,1,2
EOF
cat >two.csv <<EOF
job_id,gpu_type,steps_per_s,min_steps_per_s
a,v100,10,7.5
b,v100,20,
EOF
run gv-alloc -p max-min -c cluster.csv two.csv
is_out "a has its minimum, b the rest" <<EOF
job_id,gpu_type,steps_per_s,min_steps_per_s,share,policy
a,v100,10,7.5,0.75,max-min
b,v100,20,,0.25,max-min
EOF
sed 's/7.5/5/' two.csv >less.csv
run gv-alloc -p max-min -c cluster.csv less.csv
cut -d, -f1-3,5,6 out >with
cut -d, -f1-3 two.csv >plain.csv
run gv-alloc -p max-min -c cluster.csv plain.csv
same_file out with "a minimum that all have anyway changes nothing"
cat >steps.csv <<EOF
job_id,gpu_type,steps_per_s,total_steps,min_steps_per_s,deadline_s
a,v100,10,1000,7.5,
b,v100,20,500,,100
EOF
for policy in makespan finish-time fifo max-sum min-cost min-cost+per-dollar max-min; do
	run gv-alloc -p $policy -c cluster.csv steps.csv
	awk -F, 'NR > 1 { printf "%s,%.9f\n", $1, $7 }' out >shares
	mv shares out
	is_out "$policy: a minimum and a deadline" <<EOF
a,0.750000000
b,0.250000000
EOF
done
sed '3s/100$/80/' steps.csv >late.csv
run gv-alloc -p finish-time -c cluster.csv -o none.csv late.csv
is_err "both cannot be met: who, and by how much" <<EOF
gv-alloc: late.csv:2: job "a" cannot have its min_steps_per_s: others need the GPUs, too
gv-alloc: late.csv:3: job "b" cannot be done by its deadline: others need the GPUs, too
gv-alloc: with 1.0625 times the time that is left the deadlines could be met, and each min_steps_per_s divided by it (--relax-slo)
EOF
is_status 1 "status"
ok "nothing is written" [ ! -e none.csv ]
run gv-alloc -p finish-time --relax-slo -c cluster.csv late.csv
awk -F, 'NR > 1 { printf "%s,%s,%.9f,%s\n", $1, $7, $8, $9 }' out >shares
mv shares out
is_out "--relax-slo divides the one and moves the other" <<EOF
a,1.0625,0.705882353,finish-time+relax-slo
b,1.0625,0.294117647,finish-time+relax-slo
EOF
tail -n 2 err >last && mv last err
is_err "and says so" <<EOF
gv-alloc: deadlines have 1.0625 times the time that is left
gv-alloc: each min_steps_per_s is divided by 1.0625
EOF
sed '2s/7.5$/12/; 3s/$/8/' two.csv >more.csv
run gv-alloc -p max-min -c cluster.csv more.csv
is_err "more than a type gives" <<EOF
gv-alloc: more.csv:2: job "a" cannot have its min_steps_per_s: it needs 12 steps/s, its fastest GPU type gives 10
gv-alloc: more.csv:3: job "b" cannot have its min_steps_per_s: others need the GPUs, too
gv-alloc: divided by 1.6 each min_steps_per_s could be met (--relax-slo)
EOF
cat >never.csv <<EOF
job_id,scale_factor,gpu_type,steps_per_s,min_steps_per_s
gang,2,v100,10,1
one,1,v100,10,
EOF
run gv-alloc -q -p max-min -c cluster.csv never.csv
is_err "a minimum of a job that can never run" <<EOF
gv-alloc: never.csv:2: job "gang" cannot have its min_steps_per_s: it can never run
EOF
is_status 1 "a minimum of a job that can never run: status"
cat >all.csv <<EOF
job_id,gpu_type,steps_per_s,min_steps_per_s
a,v100,10,10
b,v100,20,
EOF
run gv-alloc -v -p max-min -c cluster.csv all.csv
cut -d, -f1,5 out >shares && mv shares out
is_out "a minimum of all there is leaves nothing" <<EOF
job_id,share
a,1
b,0
EOF
is_status 0 "and is an answer"
printf 'job_id,gpu_type,steps_per_s,total_steps,min_steps_per_s\na,v100,10,0,9\nb,v100,20,5,20\n' >done.csv
run gv-alloc -q -p makespan -c cluster.csv done.csv
is_status 0 "a job without a step left needs nothing"
printf 'job_id,gpu_type,steps_per_s,min_steps_per_s\na,v100,10,-1\n' >bad.csv
run gv-alloc -p max-min -c cluster.csv bad.csv
is_err "below 0" <<EOF
gv-alloc: bad.csv:2: min_steps_per_s: expected a number >= 0, got "-1"
EOF
run gv-alloc -p max-min --pop=2 -c cluster.csv two.csv
is_err "not in parts" <<EOF
gv-alloc: --pop: deadlines and minimums are not met part by part
EOF

# ---- random tables ----
# table SEED JOBS PART: types v100 and k80, every third job with a minimum
table() {
	awk -v seed="$1" -v n="$2" -v part="$3" 'BEGIN {
		srand(seed); OFS = ","
		print "job_id", "scale_factor", "priority_weight", "total_steps", "gpu_type", "steps_per_s", "min_steps_per_s"
		for (i = 0; i < n; i++) {
			s = rand() < .2 ? 2 : 1; w = rand() < .5 ? 1 : 2; steps = int(100 + 900 * rand())
			v = 1 + 9 * rand(); k = 1 + 4 * rand(); m = i % 3 == 0 ? part * (v + k) * rand() : ""
			print "j" i, s, w, steps, "v100", v, m
			print "j" i, s, w, steps, "k80", k, m
		} }'
}
printf 'gpu_type,gpus,usd_per_h\nv100,5,3\nk80,8,1\n' >pools.csv
have_glpsol=$(command -v glpsol)
bad=0 n=0 unlike=0 prices=0 stayed=0 loose=0 missed=0 exact=0
for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
	table $seed 30 .6 >t.csv
	for policy in max-min makespan; do
		run gv-alloc -v -p $policy -c pools.csv --dump-lp=p.lp t.csv
		[ "$status" -eq 0 ] || continue
		n=$((n + 1))
		value=$(word objective)
		cp out now.csv
		awk -F, 'NR > 1 { thr[$1] += $6 * $8; if ($7 != "") min[$1] = $7 }
			END { for (j in min) if (thr[j] < min[j] * (1 - 1e-9)) exit 1 }' now.csv || missed=$((missed + 1))
		if [ -n "$have_glpsol" ]; then
			glpsol --lp p.lp -o p.out >/dev/null
			other=$(awk '/^Objective:/ { print $4 }' p.out)
			[ $policy = makespan ] && other=$(awk -v t="$other" 'BEGIN { printf "%.12g", 1 / t }')
			near "$value" "$other" 1e-6 || bad=$((bad + 1))
		fi
		run gv-alloc -v -p $policy -c pools.csv --solver=price t.csv
		near "$(word objective)" "$value" 1e-9 || prices=$((prices + 1))
		run gv-alloc -v --certify -p $policy -c pools.csv t.csv
		near "$(word objective)" "$value" 1e-9 || exact=$((exact + 1))
		run gv-alloc -v --budget=1000 -p $policy -c pools.csv t.csv
		near "$(word objective)" "$value" 1e-9 || unlike=$((unlike + 1))
		run gv-alloc -v --budget=17 -p $policy -c pools.csv t.csv
		awk -v g="$(word gap)" 'BEGIN { exit !(g != "" && g <= 1e-9) }' || loose=$((loose + 1))
		run gv-alloc -q --previous=now.csv --stay=.2 -p $policy -c pools.csv t.csv
		awk -F, 'NR > 1 { thr[$1] += $6 * $8; if ($7 != "") min[$1] = $7 }
			END { for (j in min) if (thr[j] < min[j] * (1 - 1e-9)) exit 1 }' out || stayed=$((stayed + 1))
	done
done
ran="24 random tables" status=0
ok "most can be met ($n)" [ "$n" -ge 12 ]
ok "minimums are met" [ "$missed" -eq 0 ]
if [ -n "$have_glpsol" ]; then ok "glpsol finds the same" [ "$bad" -eq 0 ]; else skip "no glpsol"; fi
ok "prices find the same" [ "$prices" -eq 0 ]
ok "--certify proves it ($exact)" [ "$exact" -eq 0 ]
ok "a budget that does not bind changes nothing" [ "$unlike" -eq 0 ]
ok "one that binds is proved" [ "$loose" -eq 0 ]
ok "--stay gives up no minimum" [ "$stayed" -eq 0 ]

# ---- many jobs, and again ----
table 3 3000 .01 >many.csv
printf 'gpu_type,gpus\nv100,700\nk80,900\n' >large.csv
run gv-alloc -v -p max-min -c large.csv -o cold --warm=prices many.csv
is_status 0 "3,000 that all differ"
ok "their gap is proved" awk -v g="$(word gap)" 'BEGIN { exit !(g != "" && g <= 1e-9) }'
run gv-alloc -q -p max-min -c large.csv -o warm --warm=prices many.csv
same_file warm cold "--warm: the same bytes"
{ cat many.csv && echo && cat many.csv; } | gv-alloc -q -p max-min -c large.csv --stream >both
{ cat cold && echo && cat cold && echo; } >twice
same_file both twice "--stream: each as if alone"

# ---- two jobs on the same GPUs ----
cat >pairs.csv <<EOF
job_a,job_b,scale_factor,gpu_type,steps_per_s_a,steps_per_s_b
a,b,1,v100,8,12
EOF
run gv-alloc -v -p max-min -c cluster.csv --space-sharing=pairs.csv two.csv
awk -F, 'NR > 1 { printf "%s,%s,%.9f\n", $1, $5, $7 }' out >shares && mv shares out
is_out "with pairs a minimum costs less" <<EOF
a,,0.000000000
b,,0.062500000
a,b,0.937500000
EOF
# ---- deadlines ten orders of magnitude away beside minimums: the simplex method and prices fail ----
printf 'gpu_type,gpus\nv100,8\np100,5\nk80,6\n' >far-gpus.csv
cat >far.csv <<'EOF'
job_id,gpu_type,steps_per_s,scale_factor,priority_weight,steps_remaining,elapsed_s,isolated_elapsed_s,total_steps,slo_factor,min_steps_per_s
"a,0",k80,20,2,5,90,1203,601.5,200000,1000000,0.01
j4,k80,60,2,1,0,331,165.5,200000,,0
j8,v100,89,2,1,0,379,189.5,200000,,0
j9,v100,52,1,5,76,310,155,200000,,0.01
j9,k80,83,1,5,76,310,155,200000,,0.01
j12,v100,60,2,5,41,534,267,200000,1000000,0
j12,p100,87,2,5,41,534,267,200000,1000000,0
j13,v100,34,1,1,0,738,369,200000,,0
j13,p100,97,1,1,0,738,369,200000,,0
j18,v100,50,1,5,179,490,245,200000,1000000,0.01
j18,p100,55,1,5,179,490,245,200000,1000000,0.01
"a,20",p100,97,2,1,4,530,265,200000,,0
"a,25",v100,50,1,1,16,269,134.5,200000,,0
j26,v100,60,1,1,3,399,199.5,200000,,0
j29,k80,68,1,1,445,229,114.5,200000,,0
j39,v100,50,1,5,0,177,88.5,200000,,0
j43,v100,89,1,1,0,735,367.5,200000,,0
j48,v100,34,2,5,15,352,176,200000,1000000,0
j48,p100,97,2,5,15,352,176,200000,1000000,0
j54,v100,60,1,5,915,442,221,200000,1000000,0.01
EOF
for solver in auto glpk price interior; do
	run gv-alloc -q -v -p max-sum --solver=$solver -c far-gpus.csv far.csv
	is_status 0 "--solver=$solver: far deadlines"
	# 970 but for GPUs of far deadlines and minimums, 2.05e-9
	ok "and the sum" [ "$(word objective | cut -c1-15)" = 969.99999999795 ]
done

# ---- minimums that are all a job can have on its fastest GPUs ----
printf 'gpu_type,gpus\nv100,4\n' >four.csv
cat >all.csv <<EOF
job_id,scale_factor,gpu_type,steps_per_s,min_steps_per_s
a,2,v100,0.127494,
b,2,v100,4.5717,4.5717
c,1,v100,8.4952,
EOF
run gv-alloc -p max-min -c four.csv all.csv
silent "a minimum that is all a job can have"
awk -F, '{ print $1 (NR > 1 ? sprintf(",%.9f", $6) : ",share") }' out >shares && mv shares out
is_out "takes nothing from what others could have beside it" <<EOF
job_id,share
a,0.500000000
b,1.000000000
c,1.000000000
EOF
# drawn: max-min's level is the lowest of water-filling, which goes another way
full() { # SEED JOBS
	awk -v seed="$1" -v n="$2" 'BEGIN { srand(seed)
		print "job_id,scale_factor,gpu_type,steps_per_s,min_steps_per_s"
		for (i = 0; i < n; i++) {
			a = int(1e4 * exp(rand() * 4)) / 1e4; b = int(1e4 * exp(rand() * 4)) / 1e4
			least = i % 4 != 1 ? "" : rand() < .7 ? (a > b ? a : b) : int(a * rand() * 1e4) / 1e4
			s = rand() < .7 ? 1 : 2
			print i "," s ",v100," a "," least; print i "," s ",k80," b "," least
		} }'
}
printf 'gpu_type,gpus\nv100,8\nk80,5\n' >eight.csv
drawn=0 apart=0
for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	for n in 6 13 30; do
		full $seed $n >full.csv
		run gv-alloc -q -v -p water-filling -c eight.csv full.csv
		[ "$status" -eq 0 ] || continue
		level=$(word objective)
		for solver in auto glpk price interior; do
			run gv-alloc -q -v -p max-min --solver=$solver -c eight.csv full.csv
			drawn=$((drawn + 1))
			near "$(word objective)" "$level" 1e-8 && near "$(word bound)" "$level" 1e-8 || apart=$((apart + 1))
		done
	done
done
ok "level and bound are water-filling's, of $drawn drawn" [ $drawn -gt 60 ]
ok "by every solver ($apart are not)" [ $apart -eq 0 ]

# ---- minimums that leave others nothing ----
printf 'gpu_type,gpus\nv100,1\n' >one.csv
printf 'job_id,total_steps,gpu_type,steps_per_s,min_steps_per_s\na,100,v100,10,10\nb,100,v100,10,\n' >none.csv
run gv-alloc -v -p makespan -c one.csv --explain=why.csv none.csv
is_status 0 "others are never done"
err_has 'warning: what deadlines and minimums need leaves nothing for other jobs, which are never done' "is said"
err_has ' objective=inf ' "and the makespan has no end"
cut -d, -f1,6 out >shares && mv shares out
is_out "shares are what is needed" <<EOF
job_id,share
a,1
b,0
EOF
ok "explained without a number for never" grep -q '^policy,makespan,,,,,,,,,,$' why.csv
run gv-alloc -p makespan --certify -c one.csv none.csv
is_status 1 "there is no proof of it"
done_testing

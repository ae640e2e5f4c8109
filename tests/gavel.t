#!/bin/sh
# examples/gavel: the figures that take seconds are reproduced, and are those of its README; the
# filters and the policy of the published program alone.
. "${0%/*}/lib.sh"
gavel=$src/examples/gavel
export PYTHONDONTWRITEBYTECODE=1

# ---- the filters, over a stream of two tables ----
printf 'gpu_type,gpus\nv100,2\nk80,6\n' >gpus.csv
cat >stream <<'EOF'
job_id,gpu_type,steps_per_s,share
a,v100,4,0.5
a,k80,1,0.5
b,v100,6,1
b,k80,0,0

gpu_type,job_id,share,steps_per_s
k80,c,0.4,3
v100,c,0,5

EOF
run awk -f "$gavel/v100.awk" -f "$gavel/stream.awk" stream
is_out "rates as on V100s" <<'EOF'
job_id,gpu_type,steps_per_s,share
a,v100,4,0.5
a,k80,4,0.5
b,v100,6,1
b,k80,6,0

gpu_type,job_id,share,steps_per_s
k80,c,0.4,5
v100,c,0,5

EOF
run awk -f "$gavel/spread.awk" -f "$gavel/stream.awk" gpus.csv stream
cut -d, -f3,4 out | tr '\n' ' ' >got
echo "steps_per_s,share 4,0.24999999975 1,0.74999999925 6,0.999999999 0,0  share,steps_per_s 0.2999999997,3 0.0999999999,5  " >want
tr -d '\n' <want >want.line
same_file want.line got "shares spread over types by their GPUs, where a job runs"

# ---- the published program alone: the same level, less beside it ----
if [ -n "$GV_PYTHON" ] && "$GV_PYTHON" -c 'import scipy' 2>/dev/null; then
	cat >rates.csv <<'EOF'
job_id,scale_factor,total_steps,priority_weight,elapsed_s,gpu_type,steps_per_s
a,1,100,1,10,v100,40
a,1,100,1,10,k80,10
b,1,900,2,0,v100,12
b,1,900,2,0,k80,4
c,2,700,1,50,v100,100
c,2,700,1,50,k80,50
d,2,500,1,0,v100,9
d,2,500,1,0,k80,7
e,1,300,1,5,v100,1
e,1,300,1,5,k80,1
EOF
	for policy in max-min finish-time; do
		gv-alloc -v -p $policy -c gpus.csv -o all.out rates.csv 2>err.best
		"$GV_PYTHON" "$gavel/plain.py" gpus.csv $policy <rates.csv >plain.out
		# what both objectives are, by their definitions
		for f in all.out plain.out; do
			awk -F, -v policy=$policy '
				NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
				/^$/ { next }
				{ j = $1; n = $c["gpu_type"] == "v100" ? 2 : 6; r = $c["steps_per_s"]; s[j] = $2; left[j] = $3; w[j] = $4; e[j] = $5
					thr[j] += r * $c["share"]; equal[j] += r * n / 8; x[j] += n / 5 / $2; alone[j] += r * n / 5 / $2 }
				END { for (j in thr) {
					v = policy == "max-min" ? s[j] * thr[j] / w[j] / equal[j] \
						: (e[j] + left[j] / thr[j]) / (left[j] / (alone[j] / (x[j] > 1 ? x[j] : 1)))
					if (policy == "max-min" ? (best == "" || v < best) : (best == "" || v > best)) best = v }
					printf "%.6f\n", best }' $f
		done >objectives
		ok "$policy: plain.py has gv-alloc's objective: $(tr '\n' ' ' <objectives)" \
			awk 'NR == 1 { a = $1 } NR == 2 { ok = ($1 / a - 1) ^ 2 < 1e-8 } END { exit !ok }' objectives
	done
else
	skip "no scipy"
fi

# ---- Gandiva's pairs, as published ----
if [ -n "$GV_PYTHON" ]; then
	cat >few.csv <<'EOF'
gpu_type,gpus
v100,1
k80,1
EOF
	cat >pairs.csv <<'EOF'
job_a,job_b,scale_factor,gpu_type,steps_per_s_a,steps_per_s_b
A,B,1,v100,6,5
A,B,1,k80,2,1
EOF
	jobs='a,A,1,v100,10
a,A,1,k80,4
b,B,1,v100,8
b,B,1,k80,2'
	cat >asked <<EOF
job_id,job_type,scale_factor,gpu_type,steps_per_s
$jobs

job_id,job_type,scale_factor,gpu_type,steps_per_s
$jobs
c,A,1,v100,10
c,A,1,k80,4

job_id,job_type,scale_factor,gpu_type,steps_per_s
c,A,1,v100,10
c,A,1,k80,4
d,A,1,v100,10
d,A,1,k80,4
e,A,1,v100,10
e,A,1,k80,4
f,A,1,v100,10
f,A,1,k80,4

EOF
	for draws in 0 1 2 3 4 5 6 7; do
		run "$GV_PYTHON" "$gavel/gandiva.py" few.csv pairs.csv $draws <asked
		is_status 0 "gandiva.py, seed $draws: three questions"
		awk -F, '/^job_id/ { n++; next } NF { print n, $4 ? "pair" : "alone", $1 $4, $2, $3 + 0, $5 + 0, sprintf("%.3f", $6) }' out | sort >got
		# all fit: each its part of each type, alone
		[ "$(grep -c '^1 alone . .* 0.500$' got)" -eq 4 ] && [ "$(grep -c '^1 pair' got)" -eq 0 ] || status=1
		# A beside A runs nowhere: no row of such a pair; of what runs, a half of each GPU
		[ "$(grep -c -e '^2 pair [ac]b v100 6 5 0.500$' -e '^2 pair bc v100 5 6 0.500$' got)" -eq "$(grep -c '^2 pair' got | awk '{ print $1 / 2 }')" ] || status=1
		# two pairs that do not run wait with all of the GPUs
		[ "$(grep -c '^3 alone . .* 0.000$' got)" -eq 8 ] && [ "$(grep -c '^3 pair' got)" -eq 0 ] || status=1
		is_status 0 "gandiva.py, seed $draws: who has what"
		cat got >>all
	done
	ok "gandiva.py: pairs differ with the seed" sh -c 'grep -q "^2 pair ab" all && grep -q "^2 pair [cb]*[bc] " all'
else
	skip "no python3"
fi

# ---- figures ----
run sh "$gavel/reproduce.sh"
is_status 2 "no data"
err_has 'usage: reproduce.sh' "is a mistake"
run sh "$gavel/reproduce.sh" . no-such
is_status 2 "no such figure"
err_has 'no such figure: no-such' "is said"
if [ -d "$shared/data/gavel" ]; then
	run sh "$gavel/reproduce.sh" --quick --markdown "$shared/data/gavel"
	silent "the quick figures"
	n=0
	grep -v -e '^| configuration' -e '^| ---' out >rows
	while IFS= read -r line; do
		case $line in
		*' | within | '* | *' | differs | '[1-9]*) n=$((n + 1)) ;;
		*) ok "$line" false ;;
		esac
		printf '%s\n' "$line" >row
		ok "README.md has ${line%% | *}, within 1 %" awk -F' [|] ' '
			NR == FNR { name = $1; published = $2; ours = $3; verdict = $6; next }
			$1 == name && $2 == published && $6 == verdict && ($3 - ours) ^ 2 <= 1e-4 * ours ^ 2 { found = 1 }
			END { exit !found }' row "$gavel/README.md"
	done <rows
	ok "each is within its band, or a note says why not: $n" [ "$n" -ge 20 ]
else
	skip "no shared data: gavel"
fi
done_testing

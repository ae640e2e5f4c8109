#!/bin/sh
# gv-train: what a model's head compares with: labels, numbers.
. "${0%/*}/lib.sh"

train() { run gv-train "$@"; }

# ---- numbers: a plane is found, exactly ----
awk 'BEGIN { print "a,b,y"; for (i = 0; i < 60; i++) { a = (i * 7) % 10; b = (i * 3) % 11;
	printf "%d,%d,%.9g\n", a, b, 2 * a - 0.5 * b + 1.25 } }' >plane.csv
printf 'id\top\tout\n1\tlinear\t\n2\tmse\t\n' >plane.tsv
train --data=csv:plane.csv --test=csv:plane.csv --label=y --steps=400 --batch=20 --lr=0.2 plane.tsv
is_status 0 "a regression: status"
ok "its loss vanishes, and there is no accuracy" awk -F, \
	'END { exit !($1 == 400 && $3 < 1e-9 && $4 < 1e-9 && $5 == "") }' out
train --data=csv:plane.csv --label=y --shapes plane.tsv
ok "the row that mse reads has as many outputs as there are targets" awk -F'\t' \
	'$2 == "linear" { exit !($7 == 1 && $10 == 3) }' out

# ---- logits: one of two, from numbers 0 and 1 ----
awk 'BEGIN { print "a,label"; for (i = 0; i < 64; i++) print i % 8 "," (i % 8 > 3) }' >side.csv
printf 'id\top\tout\n1\tlinear\t\n2\tbce\t\n' >side.tsv
train --data=csv:side.csv --test=csv:side.csv --steps=300 --batch=32 --lr=1 side.tsv
ok "bce: which side is learned" awk -F, 'END { exit !($4 < 0.1 && $5 == 1) }' out

# ---- classes as numbers ----
printf 'id\top\tout\tact\n1\tlinear\t32\trelu\n2\tlinear\t\t\n3\tbce\t\t\n' >each.tsv
train --data=digits:1000 --test=digits:200 --steps=150 --lr=0.3 --momentum=0.9 each.tsv
ok "bce of classes: a logit for each" awk -F, 'END { exit !($4 < 0.2 && $5 > 0.9) }' out
for threads in 1 2; do
	gv-train --data=digits:300 --steps=20 --log-every=1 --threads=$threads each.tsv >$threads.csv
done
ok "bce: threads change nothing" cmp 1.csv 2.csv

# ---- labels that do not fit ----
printf 'id\top\tout\tk\n1\tconv\t10\t1\n2\txent\t\t\n' >places.tsv
train --data=digits:10 --steps=1 places.tsv
is_err "a label for the sample, a head that wants one at every place" <<'EOF'
gv-train: places.tsv: a sample of digits:10 has 1 targets, the model's head wants 256
EOF
printf 'id\top\tout\n1\tlinear\t3\n2\tmse\t\n' >three.tsv
train --data=csv:plane.csv --label=y --steps=1 three.tsv
is_err "one number, a head that wants three" <<'EOF'
gv-train: three.tsv: a sample of csv:plane.csv has 1 targets, the model's head wants 3
EOF
printf 'a,label\n1,x\n2,1e39\n' >bad.csv
train --data=csv:bad.csv --steps=1 plane.tsv
is_err "numbers that are none" <<'EOF'
gv-train: bad.csv:2: label: expected a number, got "x"
gv-train: bad.csv:3: label: 1e+39 does not fit a 32-bit float
EOF

done_testing

#!/bin/sh
# gv-run: policies that are started for each question and policies that are kept;
# those of examples/; the order in which jobs are served.
. "${0%/*}/lib.sh"

w=$build/helpers/worker
printf 'gpu_type,gpus,threads\nbig,1,1\n' >one.csv
cat >jobs.csv <<EOT
job_id,total_steps,arrival_s,command,gpu_type,steps_per_s,share
p,60,0,$w -r 1000,big,1000,0.9
q,30,0,$w -r 1000,big,1000,0.1
r,20,0.1,$w -r 1000,big,1000,0
EOT
# equal shares, table after table
cat >stream <<'EOT'
#!/bin/sh
echo started >>starts
answer() {
	[ -s table ] || return 0
	echo asked >>asked
	awk -F, 'NR == FNR { if (FNR > 1) m++; next } FNR == 1 { print $0 ",share"; next } { printf "%s,%.6g\n", $0, 1 / m }' table table
	echo
	: >table
}
: >table
while IFS= read -r line; do
	if [ -n "$line" ]; then printf '%s\n' "$line" >>table; else answer; fi
done
answer
EOT
chmod +x stream
lines_of() { if [ -f "$1" ]; then wc -l <"$1" | tr -d ' '; else echo 0; fi; }

run gv-run -c one.csv -s s1 --round=0.2 -p ./stream jobs.csv
silent "a policy that answers table after table"
n=$(lines_of asked)
ok "is asked when jobs come and go: $n times" [ "$n" -ge 3 ]
ok "and started twice" [ "$(lines_of starts)" = 2 ]
finished=$(grep -c ',finish,' out)
ok "the jobs are done" [ "$finished" = 3 ]
sed -n 1p s1/policy.out.csv >got
echo 'job_id,total_steps,arrival_s,command,gpu_type,steps_per_s,steps_remaining,elapsed_s,isolated_elapsed_s,share' >want
same_file want got "its last answer can be looked at"
rm -f starts asked

# it dies at its second question; the third finds a new one
cat >dies <<'EOT'
#!/bin/sh
echo started >>lives
[ "$(wc -l <lives)" -ne 2 ] || exit 7
exec ./stream
EOT
chmod +x dies
run gv-run -c one.csv -s s2 --round=0.2 -p ./dies jobs.csv
is_status 0 "a policy that dies at its second question"
is_err "is a warning" <<'EOT'
gv-run: warning: the policy has failed with status 7, shares stay as they are
EOT
ok "and the jobs are done" [ "$(grep -c ',finish,' out)" = 3 ]

run gv-run -c one.csv -s s3 --round=0.2 -p 'cat; echo; echo more' jobs.csv
err_has 'gv-run: warning: the policy has written more than a table and an empty line, shares stay as they are' \
	"more than an answer is refused"
run gv-run -c one.csv -s s4 --round=0.2 --policy-timeout=0.5s -p 'yes' jobs.csv
is_status 0 "an answer without end"
err_has 'gv-run: warning: the policy ' "is a warning"

# ---- the policies of examples/ ----
cat >cluster.csv <<'EOT'
gpu_type,gpus,threads
big,2,1
small,4,1
EOT
cat >rates.csv <<'EOT'
job_id,scale_factor,total_steps,gpu_type,steps_per_s
a,1,100,big,4
a,1,100,small,1
b,2,1000,big,2
b,2,1000,small,1
c,4,10,big,0
c,4,10,small,5
d,1,10000,big,10
EOT
run awk -f "$src/examples/policy/equal.awk" cluster.csv rates.csv
silent "examples/policy/equal.awk"
cat >want <<'EOT'
job_id,scale_factor,total_steps,gpu_type,steps_per_s,share
a,1,100,big,4,0.333333
a,1,100,small,1,0.666667
b,2,1000,big,2,0.25
b,2,1000,small,1,0.5
c,4,10,big,0,0
c,4,10,small,5,0.25
d,1,10000,big,10,0.5
EOT
same_file want out "gives everybody an equal part of each type"
cp out equal.csv
sed 's/$/,true/; 1s/true/command/' equal.csv >runs.csv
run gv-run -n -c cluster.csv runs.csv
silent "gv-run takes it"
run gv-run -c one.csv -s s5 --round=0.2 -p "awk -f '$src/examples/policy/equal.awk' one.csv -" jobs.csv
silent "gv-run asks it"
ok "the jobs are done" [ "$(grep -c ',finish,' out)" = 3 ]
if [ -n "${GV_PYTHON:-}" ]; then
	shortest="$src/examples/policy/shortest.py"
	run "$GV_PYTHON" "$shortest" cluster.csv <rates.csv
	silent "examples/policy/shortest.py"
	cat >want <<'EOT'
job_id,scale_factor,total_steps,gpu_type,steps_per_s,share
a,1,100,big,4,1
a,1,100,small,1,0
b,2,1000,big,2,0
b,2,1000,small,1,0
c,4,10,big,0,0
c,4,10,small,5,1
d,1,10000,big,10,1

EOT
	same_file want out "gives GPUs to whoever needs least time"
	{ cat rates.csv && printf '\n' && sed 4,5d rates.csv && printf '\n\n' && sed 2,3d rates.csv; } >three
	run "$GV_PYTHON" "$shortest" cluster.csv <three
	ok "answers three tables" [ "$(grep -c '^$' out)" = 3 ]
	ok "each by itself" [ "$(grep -c '^b,2,1000,big,2,1' out)" = 1 ]
	# rounds begin without an answer that takes longer than a second: p and q wait for one
	cat >patient <<'EOT'
#!/bin/sh
n=0
until awk -F, '$2 == "allocate" && $3 == "q" && $9 == 1 { n++ } END { exit !n }' s6/events.csv || [ $n -ge 600 ]; do
	sleep 0.1
	n=$((n + 1))
done
EOT
	chmod +x patient
	sed "s|,$w|,./patient; $w|" jobs.csv >slow.csv
	run gv-run -c one.csv -s s6 --round=0.2 --grace=0 -p "'$GV_PYTHON' '$shortest' one.csv" slow.csv
	silent "gv-run asks it"
	ok "who needs least time has the GPU" awk -F, '$2 == "allocate" && $3 == "q" && $9 == 1 { n++ } END { exit !n }' out
else
	skip "no python3"
fi

# ---- the policy that the table names, with its options ----
cat >entities.csv <<'EOT'
entity,weight,quota_gpus
x,1,0.75
y,1,0
EOT
cat >whose.csv <<EOT
job_id,entity,total_steps,command,gpu_type,steps_per_s
a,x,2000,$w -r 1000,big,1000
b,y,2000,$w -r 1000,big,1000
c,y,5,$w -r 1000,big,1000
EOT
run gv-alloc -p water-filling -c one.csv --entities=entities.csv whose.csv
cp out asked.csv
awk -F, 'NR > 1 { printf "%s,%.6g,%s\n", $1, $7, $8 }' out >got
printf '%s,water-filling --entities=entities.csv\n' a,0.75 b,0.125 c,0.125 >want
same_file want got "gv-alloc says with which options it was asked"
run gv-run -c one.csv -s n1 --round=0.1 asked.csv
silent "they go with the next question"
ok "which is of what has changed" grep -q '^change,place,job_id,' n1/policy.in.csv
ok "and so is the answer" [ "$(head -n 1 n1/policy.out.csv)" = job_id,gpu_type,share ]
# new shares of a and b when c has left; of b the last, since an answer may come late
later() { awk -F, '$2 == "finish" { left[$3]; next } $2 == "allocate" && ("c" in left) && !("b" in left) && !("a" in left) { printf "%s %.6g\n", $3, $9 }' out; }
later | grep b | tail -n 1 >got
echo 'b 0.25' >want
same_file want got "a quota holds when others have left"
gv-alloc -p water-filling -c one.csv --entities=- whose.csv <entities.csv >stdin.csv
run gv-run -c one.csv -s n2 --round=0.1 stdin.csv
is_status 0 "a table that cannot be read again"
is_err "is a warning" <<'EOT'
gv-run: warning: the shares come from gv-alloc "--entities=-", and there is no such file to read again; they stay as they are when jobs come and go unless -p says how to ask
EOT
ok "and nobody is asked" [ "$(grep -c ',allocate,' out)" = 3 ]
run gv-run -c one.csv -s n3 --round=0.1 -p 'gv-alloc --stream -p water-filling -c one.csv --entities=entities.csv' stdin.csv
silent "-p says how"
later | grep b | tail -n 1 >got
echo 'b 0.25' >want
same_file want got "and the quota holds"
sed 's/--entities=-/--pop=3/' stdin.csv >other.csv
run gv-run -c one.csv -s n4 other.csv
is_status 2 "an option that gv-alloc does not write"
is_err "is an error" <<'EOT'
gv-run: policy: expected options that gv-alloc writes there, got "--pop=3"
EOT
# c leaves; a, alone on big, and b on small stay where they are though it does not matter
printf 'gpu_type,gpus,threads\nbig,1,1\nsmall,1,1\n' >two.csv
cat >stay.csv <<EOT
job_id,total_steps,command,gpu_type,steps_per_s,share,policy
a,60,$w -r 1000,small,1000,1,max-min --stay=0
a,60,$w -r 1000,big,1000,0,max-min --stay=0
b,60,$w -r 1000,small,1000,0,max-min --stay=0
b,60,$w -r 1000,big,1000,1,max-min --stay=0
c,5,$w -r 1000,big,1000,0,max-min --stay=0
EOT
run gv-run -c two.csv -s n5 --round=0.1 stay.csv
silent "--stay is asked with the shares of now"
later >got
: >want
same_file want got "so that nobody moves"

# ---- the order ----
cat >order.csv <<'EOT'
job_id,command,scale_factor,total_steps,gpu_type,steps_per_s,share
s1,true,1,1000000,big,1,0.6
s2,true,1,1000000,big,1,0.6
gang,true,2,1000000,big,1,0.4
EOT
run gv-run -n -c cluster.csv order.csv
silent "--order=owed is the default"
cp out want
run gv-run -n --order=owed -c cluster.csv order.csv
same_file want out "and the same"
awk -F, 'NR > 1 && $2 == "gang" { n++ } END { print n + 0 }' out >got
echo 4 >want
same_file want got "the gang has 4 of 10 rounds, on both GPUs"
run gv-run -n --order=gavel -c cluster.csv order.csv
silent "--order=gavel"
cut -d, -f1,2 out | awk -F, 'NR > 1 && $1 < 4 { print $1 $2 }' >got
printf '%s\n' 0s1 0s2 1gang 2s1 2s2 3gang >want
same_file want got "share over share received"
run gv-run -n --order=lag -c cluster.csv order.csv
is_status 2 "another order"
err_has 'gv-run: --order: unknown "lag"; known: owed, gavel' "is unknown"
done_testing

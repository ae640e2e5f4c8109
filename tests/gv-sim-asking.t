#!/bin/sh
# gv-sim: what a policy is told and by which way, what tables must hold, what --state is of, odd jobs.
. "${0%/*}/lib.sh"

cat >jobs.csv <<E
job_id,job_type,scale_factor,total_steps,arrival_s,entity
a,t,1,1000,0,x
b,t,1,1000,0,y
c,t,2,500,100,y
E
cat >speeds.csv <<E
job_type,scale_factor,gpu_type,steps_per_s
t,1,v,2
t,1,k,1
t,2,v,4
E
printf 'gpu_type,gpus,usd_per_h\nv,2,3\nk,1,1\n' >gpus.csv
printf 'entity,weight\nx,1\ny,2\n' >entities.csv
sim() { run gv-sim -c gpus.csv -t speeds.csv -r 60s "$@"; }

# ---- gv-alloc within: none is started ----
mkdir none
printf '#!/bin/sh\nexit 3\n' >none/gv-alloc
chmod +x none/gv-alloc
# asked POLICY: as text, and with a gv-alloc that fails
asked() {
	sim -p "exec $1 -c gpus.csv" jobs.csv
	cp out piped
	PATH=$PWD/none:$PATH sim -p "$1" jobs.csv
}
for p in '-p fifo' -pfifo '--policy=fifo -q' '--quiet --policy fifo --stream' '-p max-min --agnostic' '-p max-min -cgpus.csv' \
	'--cluster=gpus.csv -p finish-time' '-p water-filling --entities=entities.csv' '-p water-filling --entities entities.csv'; do
	asked "gv-alloc $p"
	silent "gv-alloc $p: within"
	same_file piped out "gv-alloc $p: answers as over the pipe"
done
q='-q -q -q -q -q -q -q -q -q -q'
for p in '-p max-min --trust' "-p 'max-min'" "-p max-min $q $q $q" '-p max-min+agnostic -c ./gpus.csv'; do
	asked "gv-alloc $p"
	is_status 2 "gv-alloc $p: is started"
	err_has 'the policy has failed with status 3' "gv-alloc $p: and fails here"
done
for p in '' '-p' '-p unheard' '-p max-min --entities entities.csv' '-p allox --space-sharing pairs.csv'; do
	PATH=$PWD/none:$PATH sim -p "gv-alloc $p" jobs.csv
	err_has 'the policy has failed with status 3' "gv-alloc $p: it says itself what is wrong"
done
for p in '-p max-min --space-sharing' '-p water-filling --entities'; do
	sim -p "gv-alloc $p none.csv" jobs.csv
	is_status 2 "gv-alloc $p: a table that is not there"
	err_has 'none.csv: cannot open' "gv-alloc $p: which one"
	sim -p "gv-alloc $p speeds.csv" jobs.csv
	is_status 2 "gv-alloc $p: a table of something else"
	err_has 'speeds.csv:1: this is a table of throughputs; expected a table of ' "gv-alloc $p: which is no such table"
done

# ---- over the pipe by changes: the same ----
mkdir tells
printf '#!/bin/sh\ntee told.csv | "%s/gv-alloc" "$@"\n' "$bin" >tells/gv-alloc
chmod +x tells/gv-alloc
for seed in 1 2; do
	drawn cluster $seed 12 2 | awk -F, -v OFS=, 'NR > 1 { $2 += 2 } 1' >c.csv
	drawn jobs $seed 12 2 >j.csv
	drawn throughputs $seed 12 2 >t.csv
	drawn changes $seed 12 2 >ch.csv
	for p in max-min finish-time max-sum; do
		set -- -q -c c.csv -t t.csv --changes ch.csv
		run gv-sim "$@" -p "gv-alloc -p $p -c c.csv" j.csv
		cp out within
		run gv-sim "$@" -p "tells/gv-alloc -q -p $p -c c.csv" j.csv
		silent "drawn $seed, $p: over the pipe"
		same_file within out "drawn $seed, $p: as within"
		ok "drawn $seed, $p: told the whole at first, then changes" awk -F, 'NR == 1 && $1 != "job_id" { exit 1 }
			/^change,|,change,/ { changes++ } /^job_id,.*,gpu_type/ { whole++ } END { exit !(changes > whole) }' told.csv
	done
done

# ---- what it is told ----
cat >teller.sh <<'E'
#!/bin/sh
tee -a told.csv | awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; print "job_id,gpu_type,steps_per_s,share"; next }
	$c["gpu_type"] == "v" && !s[$1]++ { print $1 ",v," $c["steps_per_s"] ",1" }'
E
chmod +x teller.sh
rm told.csv
cat >rates.csv <<E
job_id,total_steps,share,policy,usd_per_h,gpus_available,elapsed_s,isolated_elapsed_s,steps_remaining,gpu_type,steps_per_s,note
a,100,1,p,9,9,9,9,9,v,2,x
a,100,1,p,9,9,9,9,9,w,7,y
E
printf 'gpu_type,gpus,usd_per_h\nv,2,3\n' >v.csv
printf 'gpu_type,usd_per_h,time_s\nv,4,0\nw,1,0\n' >prices.csv
printf 'time_s,gpu_type,event\n900,v,away\n' >away.csv
run gv-sim -c v.csv -p ./teller.sh rates.csv
cp told.csv out
is_out "columns that it computes anew stand once, prices as they were" <<E
job_id,total_steps,usd_per_h,gpu_type,steps_per_s,note,steps_remaining,elapsed_s,isolated_elapsed_s
a,100,9,v,2,x,100,0,9
a,100,9,w,7,y,100,0,9
E
rm told.csv
run gv-sim -c v.csv -p ./teller.sh --prices=prices.csv --changes=away.csv rates.csv
cp told.csv out
is_out "what GPUs cost and how many are there, nothing of types that the cluster lacks" <<E
job_id,total_steps,gpu_type,steps_per_s,note,steps_remaining,elapsed_s,isolated_elapsed_s,usd_per_h,gpus_available
a,100,v,2,x,100,0,9,4,2
a,100,w,7,y,100,0,9,,
E

# ---- its own results as its jobs, and jobs that it knows no speed of ----
sim -p 'gv-alloc -p fifo' --jobs=first.csv jobs.csv
sed 's/^d,.*//; $ a\
d,u,1,100,0,x,,,,,,,' first.csv >again.csv
run gv-sim -q -c gpus.csv -t speeds.csv -r 60s -p 'gv-alloc -p fifo' --jobs=- --events=events.csv again.csv
is_out "columns of results are there once, empty where a job was left out" <<E
$(cat first.csv)
d,u,1,100,0,x,,,,,,,
E
sed 's/^d,u/e,u/; $ a\
d,u,1,100,0,x,,,,,,,' again.csv >two.csv
sim -p 'gv-alloc -p fifo' --events=events.csv two.csv
err_has 'warning: 2 jobs in two.csv are left out: no such job_type and scale_factor in speeds.csv, the first is "e"' "several are left out"

# ---- tables that lack something ----
# lacks FILE TEXT OPTION...
lacks() {
	file=$1 text=$2
	shift 2
	run gv-sim -c gpus.csv "$@"
	is_status 2 "$file: $text"
	err_has "gv-sim: $text" "$file: that is said"
	ok "$file: alone" [ "$(wc -l <err)" -eq 1 ]
}
printf 'job_id,total_steps,gpu_type,steps_per_s,share\nx,1000,v,2,1\n' >alone.csv
printf 'gpu_type,event,time_s,usd_per_h\nv,away,1,2\n' >all.csv
# without COLUMN...: of all.csv
without() {
	for column; do
		awk -F, -v OFS=, -v c="$column" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) at = i }
			{ line = ""; for (i = 1; i <= NF; i++) if (i != at) line = line (line == "" ? "" : OFS) $i; print line }' part.csv >less.csv
		mv less.csv part.csv
	done
}
for column in time_s gpu_type; do
	cp all.csv part.csv
	without usd_per_h $column
	lacks changes "part.csv:1: missing column \"$column\"" --changes=part.csv alone.csv
done
for column in gpu_type usd_per_h; do
	cp all.csv part.csv
	without event $column
	lacks prices "part.csv:1: missing column \"$column\"" --prices=part.csv alone.csv
done
lacks changes 'none.csv: cannot open: No such file or directory' --changes=none.csv alone.csv
lacks prices 'none.csv: cannot open: No such file or directory' --prices=none.csv alone.csv
printf 'gpu_type,usd_per_h,time_s\nv,1,0\nv,dear,soon\n' >odd.csv
lacks prices 'odd.csv:3: time_s: expected a number, got "soon"' --prices=odd.csv alone.csv
printf 'gpu_type,usd_per_h\nv,1\nv,dear\n' >odd.csv
lacks prices 'odd.csv:3: usd_per_h: expected a number, got "dear"' --prices=odd.csv alone.csv
printf 'time_s,gpu_type,event\n1,v,away\n' >none.csv
printf 'gpu_type,gpus,node\nv,1,a\nv,1,b\n' >nodes.csv
run gv-sim -c nodes.csv --changes=none.csv alone.csv
err_has 'none.csv:2: gpu_type: the cluster has no such GPUs on this node' "GPUs of nodes, changes of none"
printf 'job_id,gpu_type,steps_per_s,share\nx,v,2,1\n' >steps.csv
lacks jobs 'steps.csv:1: missing column "total_steps"' steps.csv
lacks jobs 'missing.csv: cannot open: No such file or directory' missing.csv
lacks jobs 'missing.csv: cannot open: No such file or directory' -t missing.csv jobs.csv
for rows in 5-4 -1-4 x-4 4-x 4-; do
	sim -p true --measure=$rows jobs.csv
	err_has "--measure: expected rows such as 4000-4999, got \"$rows\"" "--measure=$rows"
done
run gv-sim -c gpus.csv --prices=all.csv --bid=-1 alone.csv
err_has '--bid: expected US dollars, as 1.2 or v100:1.2, got "-1"' "a bid below 0"
run gv-sim -c gpus.csv --state=state alone.csv
err_has '--state is an option of --policy' "nothing is answered"
run gv-sim -c gpus.csv --events=/dev/null --jobs=/dev/null -o /dev/null alone.csv
silent "several tables for nobody"

# ---- of several changes at a time, away holds ----
printf 'job_id,total_steps,gpu_type,steps_per_s,share\nx,100,v,2,1\ny,100,k,1,1\n' >both.csv
printf 'time_s,gpu_type,event\n10,v,away\n10,v,back\n10,k,back\n10,k,away\n20,k,back\n30,v,back\n' >times.csv
run gv-sim -c gpus.csv --changes=times.csv --events=- both.csv
grep -e preempt -e resume out >got
cat >want <<E
10,preempt,x,v,,0,0,0,,its GPUs are gone
10,preempt,y,k,,2,0,0,,its GPUs are gone
20,resume,y,k,,2,0,0,,
30,resume,x,v,,0,0,0,,
E
same_file want got "back and away at the same time, in any order: away"
sed '1!G; h; $!d' times.csv | sed '$d' | sed '1i\
time_s,gpu_type,event' >reversed.csv
cp out before
run gv-sim -c gpus.csv --changes=reversed.csv --events=- both.csv
same_file before out "rows backwards: the same"

# ---- who never runs is named ----
awk 'BEGIN { print "job_id,total_steps,gpu_type,steps_per_s,share"; for (i = 1; i <= 5; i++) print "j" i ",10,v,1,0" }' >stuck.csv
run gv-sim -c gpus.csv --strict stuck.csv
is_status 1 "jobs without a share"
err_has 'jobs wait for ever, without a promise or without GPUs: 5 ("j1", "j2", "j3", ...)' "three of them by name"
sed 3,6d stuck.csv >one.csv
run gv-sim -q -c gpus.csv --strict one.csv
err_has ': 1 ("j1")' "one"

# ---- odd jobs ----
value() { sed -n "s/^$1,$2,//p" out; }
# is VALUE MEASURE NAME
is() { ok "$3: $1" [ "$(value "$2" "")" = "$1" ]; }
printf 'gpu_type,gpus,node\nv,1,a\nk,1,a\nv,1,b\nk,1,b\n' >types.csv
sed s/,100,/,2000,/ both.csv >longer.csv
run gv-sim -q -c types.csv --node-mtbf=100s --repair=30s --seed=3 --checkpoint=1s longer.csv
awk -F, '$NF == "its GPUs are gone" { s[$1] = s[$1] $3 } END { for (t in s) if (s[t] ~ /x/) print s[t] }' out | sort -u >got
printf 'xy\n' >want
same_file want got "GPUs of several types on a node fail at once"
printf 'job_id,total_steps,gpu_type,steps_per_s,share,slo_factor,deadline_s\n' >late.csv
printf '%s\n' x,100,v,2,1,1,100 y,100,v,2,1,1,40 z,100,k,1,1,9,100 w,100,k,1,1,1,2000 >>late.csv
run gv-sim -c gpus.csv --summary=- late.csv
is 4 deadlines "jobs with deadlines"
is 2 deadlines_missed "the sooner of two counts"
printf 'job_id,total_steps,gpu_type,steps_per_s,share,with_job_id,with_steps_per_s\nx,100,v,1,1,y,1\ny,100,v,2,1,,\n' >pair.csv
run gv-sim -c v.csv --events=- pair.csv
out_has 'time_s,event,job_id,gpu_type,node,gpus,steps,round,share,reason,with_job_id' "pairs without a policy: with whom"
printf 'job_id,total_steps,gpu_type,steps_per_s,share,scale_factor\nx,100,v,2,1,1\nbig,100,v,2,1,9\nz,100,k,1,1,1\n' >big.csv
run gv-sim -q -c gpus.csv --isolated --measure=0-9 --summary=- big.csv
is_status 1 "a job larger than the cluster"
ok "-q says nothing of it" [ ! -s err ]
is 3 jobs "rows to measure behind the last"
is 2 finished "those that are done"
is 1 fairness_mean "fairness of those that are done"
run gv-sim -c gpus.csv big.csv
is_err "who could never run is named" <<E
gv-sim: warning: 1 job could never run, of 3: "big"
E
for table in events jobs summary; do
	run gv-sim -c gpus.csv --$table=lost/x alone.csv
	is_status 2 "--$table in a folder that is not there"
	err_has 'lost/x' "--$table: that is said"
done

# ---- another world is another simulation ----
printf 'gpu_type,usd_per_h,time_s\nv,4,0\nk,1,0\nv,3,50\n' >prices.csv
printf 'time_s,gpu_type,event\n50,v,away\n70,v,back\n' >away.csv
p='gv-alloc -p max-min'
set -- --prices=prices.csv --changes=away.csv --bid=v:9,k:8 --state=state
sim -p "$p" "$@" jobs.csv
cp out whole
sim -p "$p" "$@" jobs.csv
silent "the same again"
same_file whole out "the same answers"
# other FILE LINE SED WHAT: with that line changed, the state is of another simulation
other() {
	cp "$1" kept
	sed "$2" kept >"$1"
	sim -p "$p" --prices=prices.csv --changes=away.csv --bid=v:9,k:8 --state=state jobs.csv
	err_has 'state is of another simulation' "another $3"
	mv kept "$1"
}
other away.csv '2s/50/51/' "time of a change"
other away.csv '3s/v/k/' "type of a change"
other away.csv '3s/back/away/' "change"
other prices.csv '4s/50/51/' "time of a price"
other prices.csv '4s/v/k/' "type of a price"
other prices.csv '4s/3/2/' "price"
for bid in v:9 v:9,k:7 9; do
	sim -p "$p" --prices=prices.csv --changes=away.csv --bid=$bid --state=state jobs.csv
	err_has 'state is of another simulation' "another bid"
done
sim -p "$p" --prices=prices.csv --changes=away.csv --state=state jobs.csv
err_has 'state is of another simulation' "no bid"

# ---- a state that is none ----
# odd SED NAME: answers that cannot be are asked for again
odd() {
	sed "$1" state >odd
	sim -p "$p" --prices=prices.csv --changes=away.csv --bid=v:9,k:8 --state=odd jobs.csv
	same_file whole out "$2: the same simulation"
	same_file state odd "$2: asked anew"
}
odd '3s/^0/x/' "no number"
odd '3s/^0/-1/' "a job below none"
odd '3s/^0/0.5/' "half a job"
odd '3s/^\([^ ]*\) [^ ]*/\1 -2/' "a partner below none"
odd '3s/^\([^ ]*\) [^ ]*/\1 7/' "a partner that is none"
odd '3s/^\([^ ]* [^ ]*\) [^ ]*/\1 -1/' "a type below none"
odd '3s/^\([^ ]* [^ ]*\) [^ ]*/\1 2/' "a type that is none"
odd '3s/$/ 1/' "a number too many"
odd '3s/ [^ ]*$//' "a number too few"
odd '2s/ .*/ 99/' "more shares than there are"
odd '2s/ .*/ 0/' "fewer shares than there are"
odd 's/^end$/END/' "no end"
printf '%0100d' 0 >odd
sim -p "$p" --state=odd jobs.csv
err_has 'odd is no file of --state' "a line too long"

done_testing

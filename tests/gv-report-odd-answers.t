#!/bin/sh
# gv-report: what it says and draws of tables with little, nothing, or extremes in them is what it has said before.
. "${0%/*}/lib.sh"
. "$src/tests/answers.sh"
answers gv-report-odd "${1:-}"

# table NAME HEADER ROW...: NAME.csv
table() {
	name=$1.csv
	shift
	printf '%s\n' "$@" >"$name"
}
# all FILE...: in each format
all() {
	for format in text csv json svg html; do same gv-report -f $format "$@"; done
}

# ---- events ----
case=events
head=time_s,event,job_id,gpu_type,node,gpus,steps,round,share,reason
v=0,pool,,v,,0,,,, a=0,arrive,a,,,,10,,,
table none "$head"
table nobody "$head" '0,pool,,v,,0;1,,,,' 0,end,,,,,,,,
table waits "$head" $a 7,end,,,,,,,,
table instant "$head" $v $a 0,start,a,v,,0,,0,, 0,finish,a,v,,0,10,0,, 0,end,,,,,,,,
table tiny "$head" $v $a 0,start,a,v,,0,,0,, 1e-7,finish,a,v,,0,10,0,, 1e-7,end,,,,,,,,
table huge "$head" $v $a 0,start,a,v,,0,,0,, 1e12,finish,a,v,,0,10,0,, 1e12,end,,,,,,,,
table cut "$head" $v $a 5,start,a,v,,0,,0,,
table twice "$head" $v $a 1,start,a,v,,0,,0,, 2,preempt,a,v,,0,3,0,, 2,start,a,v,,0,,0,, 2,fail,a,v,,0,0,0,, 4,start,a,v,,0,,0,, \
	9,finish,a,v,,0,10,0,, 9,end,,,,,,,,
{
	echo "$head"
	for t in v w x y z; do echo "0,pool,,$t,,$t-gpu-with-a-long-name,,,,"; done
	for t in v w x y z; do printf '0,arrive,"job %s, named at length, with ""quotes"" and Umlauts äöü",,,,10,,,\n' $t; done
	for t in v w x y z; do printf '1,start,"job %s, named at length, with ""quotes"" and Umlauts äöü",%s,,%s-gpu-with-a-long-name,,0,,\n' $t $t $t; done
	echo 1.5,end,,,,,,,,
} >types.csv
# 70 GPUs on 9 nodes, 120 jobs, some held by two
awk -v head="$head" 'BEGIN {
	print head
	for (n = 0; n < 9; n++) {
		g = ""
		for (i = 0; i < 8 && n * 8 + i < 70; i++) g = g (i ? ";" : "") n * 8 + i
		print "0,pool,,v,node" n "," g ",,,,"
	}
	for (j = 0; j < 120; j++) print j ",arrive,j" j ",,,,100,,,"
	for (j = 0; j < 120; j++) print 120 + j ",start,j" j ",v,node" int(j % 70 / 8) "," j % 70 ",," int(j / 70) ",,"
	for (j = 0; j < 115; j++) print 300 + j ",finish,j" j ",v,node" int(j % 70 / 8) "," j % 70 ",100,3,,"
	print "500,end,,,,,,,,"
}' >many.csv
for t in none nobody waits instant tiny huge cut twice types many; do
	all $t.csv
	same gv-report -f prom --per-job $t.csv
	same gv-report -f svg --chart=jobs $t.csv
	same gv-report -f csv -b job $t.csv
	same gv-report -f svg twice.csv $t.csv
	same gv-report -f csv twice.csv $t.csv
	same gv-report -f prom $t.csv twice.csv
done
for t in nobody tiny cut types; do
	same gv-report -f svg --chart=held,rounds,busy,waiting $t.csv
	same gv-report -f html -d 4 --chart=completion,queueing,runs $t.csv none.csv
done
same gv-report -f html none.csv nobody.csv waits.csv instant.csv tiny.csv huge.csv cut.csv twice.csv types.csv many.csv
same gv-report -f svg none.csv nobody.csv waits.csv instant.csv tiny.csv huge.csv cut.csv twice.csv types.csv many.csv

# ---- outcomes of jobs, and sums of them ----
case='jobs'
table undone job_id,arrival_s,completion_s,running_s a,0,, b,0,,
table ties job_id,arrival_s,completion_s,running_s,queueing_s a,0,5,5,0 b,0,5,5,0 c,0,5,5,0
table zeros job_id,arrival_s,completion_s,running_s,usd,deadline_s,finish_s a,0,0,0,0,0,0 b,0,0,0,0,5,9
table sums measure,gpu_type,value jobs,,3 finished,,2 completion_mean_s,,1e9 usd,,.5 usd,v,.25 utilisation,v,.5 busy_gpu_s,v,60
table nothing measure,gpu_type,value
for t in undone ties zeros sums nothing; do
	all $t.csv
	same gv-report -f svg ties.csv $t.csv twice.csv
	same gv-report ties.csv $t.csv twice.csv
	same gv-report -f prom ties.csv $t.csv
done
printf 'gpu_type,gpus,usd_per_h\nv,1,3600\nother,2,5\n' >costs.csv
same gv-report -c costs.csv twice.csv huge.csv sums.csv
same gv-report -c costs.csv -f csv twice.csv types.csv
same gv-report -c lost.csv twice.csv types.csv
mkdir -p runs/first runs/second
cp twice.csv runs/first/events.csv
cp types.csv runs/second/events.csv
cp ties.csv runs/first/jobs.csv
same gv-report runs/first/events.csv runs//second//events.csv
same gv-report -f csv runs/first/events.csv runs/first/jobs.csv
same gv-report x=twice.csv x=ties.csv y=ties.csv y=sums.csv
same gv-report =twice.csv ./twice.csv

# ---- allocations and explanations ----
case=allocations
table one job_id,gpu_type,steps_per_s,share a,v,2,1
table idle job_id,gpu_type,steps_per_s,share a,v,2,0 a,w,0,0 b,w,1e-9,1
table spread job_id,gpu_type,steps_per_s,share,steps_per_s_spread,policy a,v,2,.5,1,max-min a,w,1,.25,.5,max-min b,v,1e9,.5,,max-min
table bare job_id,gpu_type,steps_per_s,share
for t in one idle spread bare; do
	all $t.csv
	same gv-report -c costs.csv $t.csv
	same gv-report -c costs.csv -f svg $t.csv
done
same gv-report -c lost.csv one.csv

# ---- stages, plans, their times, and steps ----
case=stages
head=level,stage,within,layers,first_layer,last_layer,replicas,gpus,compute_s,sync_s,transfer_s,load_s,limit,parameter_bytes,memory_bytes
table stageless "$head"
table stage "$head" 1,0,,1,a,a,1,1,1,0,0,1,compute,0,0
table even "$head" 1,0,,2,a,b,1,1,0,0,0,0,,0,0 1,1,,2,c,d,1,1,0,0,0,0,,0,0
table uneven "$head" 1,0,,1,a,a,1,1,1e-9,0,0,1e-9,compute,1e15,1e15 1,1,,9,b,j,64,64,5e5,1,0,5e5,sync,1,
table inside "$head" 2,0,,3,a,c,2,4,1,0,0,2,sync,1e9,2e9 1,0,0,2,a,b,1,1,1,.5,0,1.5,sync,1e9,1e9 1,1,0,1,c,c,1,1,1,0,0,1,compute,1e9,1e9
table loads stage,load_s 0,1 1,0
table plan node_id,layer,forward_ms,backward_ms,activation_bytes,parameter_bytes,stage,replicas n1,Input,1,1,1,1,0,1 n2,only,1,2,8,8,0,1
for t in stageless stage even uneven inside loads plan; do all $t.csv; done
{ cat plan.csv && printf '\nsrc,dst\nn1,n2\n'; } >graph.csv
{ cat plan.csv && printf '\nsrc,to\nn1,n2\n'; } >no-graph.csv
{ cat plan.csv && printf '\nsrc,dst\nn1,n9\n'; } >lost-graph.csv
for t in graph no-graph lost-graph; do same gv-report $t.csv; done
for column in forward_ms backward_ms parameter_bytes activation_bytes; do
	awk -F, -v OFS=, -v c=$column 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) at = i } NR > 1 { $at = "much" } 1' plan.csv >word.csv
	same gv-report word.csv
done
head=stage,replica,micro_batches,forward_ms,planned_forward_ms,backward_ms,planned_backward_ms,other_ms,send_ms,update_ms,wait_ms
table times $head 0,0,1,0,0,0,0,0,0,0,0
table timeless $head
table slow $head 0,0,9,1e6,1,2e6,,0,0,0,0 0,1,9,1,1e6,2,9,0,0,0,1e7 1,0,9,1,1,1,1,1,1,1,1
for t in times timeless slow; do all $t.csv; done
head=gpu,stage,replica,step,op,micro_batch,version,start_ms,end_ms
table step $head 0,0,0,0,F,0,0,0,1
table update $head 0,0,0,0,F,0,0,0,1 0,0,0,1,B,0,0,1,3 0,0,0,2,U,0,0,3,3 0,0,0,3,AR,0,0,3,4 0,0,0,4,W,0,0,4,4
table point $head 0,0,0,0,F,0,0,5,5 1,1,0,0,F,0,0,5,5
# eight stages on a GPU each time, 70 GPUs; and 400 micro-batches with an update after each
awk -v head=$head 'BEGIN { print head; for (g = 0; g < 70; g++) for (k = 0; k < 8; k++) printf "%d,%d,0,%d,F,0,0,%d,%d\n", g, g + 70 * k, k, k, k + 1 }' >lanes.csv
awk -v head=$head 'BEGIN { print head; for (g = 0; g < 2; g++) for (k = 0; k < 200; k++)
	printf "%d,%d,0,%d,F,%d,%d,%d,%d\n%d,%d,0,%d,B,%d,%d,%d,%d\n%d,%d,0,%d,U,%d,%d,%d,%d\n", g, g, 3 * k, k, k, 4 * k + g, 4 * k + g + 1,
		g, g, 3 * k + 1, k, k, 4 * k + g + 1, 4 * k + g + 3, g, g, 3 * k + 2, k, k, 4 * k + g + 3, 4 * k + g + 3 }' >updates.csv
head -n 80 updates.csv >fewer.csv
head -n 20 updates.csv >few.csv
for t in step update point lanes updates fewer few; do
	same gv-report $t.csv
	same gv-report -f svg $t.csv
done

# ---- losses ----
case=losses
table loss step,loss 1,1
table flat step,loss 1,2 2,2 3,2
table below step,loss 1,-1 2,0 3,1
table far step,model,loss,test_loss,accuracy 1,0,1e30,1e-30,0 2,0,1e-30,,1 3,0,1,1e30,.5 1,1,1e10,,
table lossless step,loss
table nan step,loss 1,1 2,nan 3,inf
for t in loss flat below far lossless nan; do
	all $t.csv
	same gv-report -f svg --axis=log $t.csv
	same gv-report -f svg --smooth=2 --axis=linear $t.csv flat.csv
done

# ---- links and trees ----
case=links digits=3
# full "A..." "B..." [RATE]: each of A is linked to each of B
full() {
	for one in $1; do
		for two in $2; do printf '%s\n' "$one,$two,${3:-10}" "$two,$one,${3:-10}"; done
	done
}
for t in 'middle:gpu0 gpu1 gpu2 gpu3:swa swb swc' 'beside:gpu0:swa swb a-very-long-name-of-a-switch' \
	'columns:a.gpu0 a.gpu1 b.gpu0 b.gpu1:net.s0 net.s1 net.s2' 'around:a.gpu0 b.gpu0 c.gpu0:net.s0 net.s1' \
	'switches:sw1 sw2:sw3' 'still:gpu gpux:gpu:0' 'alone:gpu0:gpu1' 'pci:gpu0 gpu1 nic0 nic1 nic2:pci0'; do
	name=${t%%:*} t=${t#*:}
	case $t in *:*:*) rate=${t##*:} t=${t%:*} ;; *) rate=10 ;; esac
	{
		echo src,dst,gbytes_per_s
		full "${t%%:*}" "${t#*:}" "$rate"
	} >"$name.csv"
	same gv-report "$name.csv"
	same gv-report -f svg "$name.csv"
done
awk 'BEGIN { print "src,dst,gbytes_per_s"; for (i = 0; i < 40; i++) for (j = 0; j < 2; j++) print "h" int(i / 4) ".gpu" i ",h" int(i / 4) ".sw" j ",1" }' >hosts.csv
same gv-report -f svg hosts.csv
head=tree,root,weight,phase,src,dst,path
table cycle $head 0,gpu0,1,reduce,gpu1,gpu2, 0,gpu0,1,reduce,gpu2,gpu1, 0,gpu0,1,broadcast,gpu0,gpu1,
table single $head 0,gpu0,0,broadcast,gpu0,gpu1,
table up $head 5,gpu0,2.5,reduce,gpu1,gpu0,swa
table bush $head 0,gpu0,1,broadcast,gpu0,gpu1, 0,gpu0,1,broadcast,gpu0,gpu2, 0,gpu0,1,broadcast,gpu2,gpu3,
for t in cycle single up bush; do
	all $t.csv
	same gv-report $t.csv middle.csv
	same gv-report -f csv -b link $t.csv middle.csv
	same gv-report -f svg $t.csv middle.csv
done
digits=7

# ---- options that a table has no use for, outputs that cannot be, tables that break off ----
case=errors
table explanation gpu_type,usd_per_h,level v,2,1
table trees tree,root,weight,phase,src,dst,path 0,gpu0,1,broadcast,gpu0,gpu1,
{ cat middle.csv && printf '"x,y\n'; } >broken-links.csv
for t in even step one twice middle trees flat times costs ties plan sums; do
	case $t in flat) format=svg ;; *) format=text ;; esac
	for option in -olost/x -o/dev/full -v -ccosts.csv --chart=jobs --chart=length '--run=x --format=svg' '--run=x' --expect-finished --expect-shares=3 \
		'--axis=log --format=html' '--smooth=2 --format=svg' --axis=linear -fprom --by=none '--by=none -fsvg' --per-job '--per-job --format=prom'; do
		# shellcheck disable=SC2086
		same gv-report -f $format $option $t.csv
	done
	{ cat $t.csv && printf '"x\n'; } >broken.csv
	same gv-report -f $format broken.csv
	same gv-report -f $format $t.csv lost.csv
	same gv-report -f $format $t.csv broken.csv
	same gv-report -f $format again=$t.csv broken.csv
	{ cat $t.csv && printf '\nother,"x\n'; } >behind.csv
	same gv-report -f $format behind.csv
	head -n 1 $t.csv | sed 's/,[^,]*$//' >narrow.csv
	same gv-report -f $format narrow.csv
	sed '2,$s/[0-9]/x/g' $t.csv >letters.csv
	same gv-report -f $format letters.csv
	sed '2,$s/[0-9]/-&/g' $t.csv >below-0.csv
	same gv-report -f $format below-0.csv
done
for column in root weight path; do
	awk -F, -v OFS=, -v c=$column '{ for (i = 1; i <= NF; i++) { if (NR == 1 && $i == c) at = i; if (i != at) printf "%s%s", $i, i < NF ? OFS : "" } print "" }' \
		trees.csv >lacks.csv
	same gv-report lacks.csv
done
same gv-report middle.csv trees.csv middle.csv
same gv-report middle.csv ties.csv
same gv-report trees.csv trees.csv
same gv-report
for sum in 'jobs,,x' 'jobs,,-1' 'usd,v,x' 'none,,x' 'none,v,3' 'utilisation,v,' ',,1'; do
	table sum measure,gpu_type,value "$sum"
	same gv-report -f csv sum.csv
	same gv-report -f json sum.csv ties.csv
done
table who run,measure,gpu_type,value a,jobs,,1 b,jobs,,2 a,usd,,3 ,jobs,,4
same gv-report who.csv
table whose run,job_id,arrival_s,completion_s,running_s a,x,0,1,1 b,x,0,2,1 ,y,0,3,3
same gv-report whose.csv
same gv-report who.csv whose.csv
same gv-report -f csv whose.csv whose.csv

# ---- much of everything, and outputs that are files ----
case=much
head=time_s,event,job_id,gpu_type,node,gpus,steps,round,share,reason
awk -v head="$head" 'BEGIN {
	print head
	for (g = 0; g < 110; g++) gpus = gpus (g ? ";" : "") g
	print "0,pool,,v,," gpus ",,,,"
	for (j = 0; j < 110; j++) print "0,arrive,j" j ",,,,100,,,"
	for (j = 0; j < 110; j++) print "1,start,j" j ",v,," j ",,0,,"
	for (j = 0; j < 110; j++) print j + 2 ",finish,j" j ",v,," j ",100,0,,"
	print "500,end,,,,,,,,"
}' >wide.csv
awk 'BEGIN { print "gpu,stage,replica,step,op,micro_batch,version,start_ms,end_ms"
	for (g = 0; g < 110; g++) printf "%d,%d,0,0,F,0,0,%d,%d\n%d,%d,0,1,B,0,0,%d,%d\n", g, int(g / 2), g, g + 9, g, int(g / 2), g + 9, g + 40 }' >high.csv
grep -v ',z,\|"job z' types.csv >four.csv
table letters "$head" "0,pool,,v,,0,,,," "0,arrive,A$(printf '\377')B,,,,10,,," "0,arrive,fourteen-chars,,,,10,,," \
	'0,arrive,üüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüü,,,,10,,,' '0,arrive,a\b,,,,10,,,' '0,start,fourteen-chars,v,,0,,0,,' 9,end,,,,,,,,
for t in wide high four letters; do
	same gv-report $t.csv
	same gv-report -f svg $t.csv
done
for t in wide four letters; do
	same gv-report -f svg --chart=rounds,held $t.csv
	same gv-report -f prom --per-job $t.csv
	same gv-report -f html $t.csv twice.csv
done
set --
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do set -- "$@" "run$i=twice.csv"; done
same gv-report "$@"
same gv-report -f svg --chart=runs,busy "$@"
sed '$d' twice.csv >cut-off.csv
printf '9,en' >>cut-off.csv
same gv-report cut-off.csv
same gv-report -q cut-off.csv twice.csv
same gv-report cut-off.csv twice.csv
head=tree,root,weight,phase,src,dst,path
table mixed $head 0,gpu0,1,broadcast,gpu0,gpu1, 1,gpu1,2,broadcast,gpu1,gpu0, 0,gpu0,1,broadcast,gpu1,gpu2, 1,gpu1,2,reduce,gpu0,gpu1, \
	1,gpu1,2,broadcast,gpu0,gpu2, 1,gpu1,2,reduce,gpu2,gpu0,
for format in text csv svg; do same gv-report -f $format mixed.csv; done
table near stage,replica,micro_batches,forward_ms,planned_forward_ms,backward_ms,planned_backward_ms,other_ms,send_ms,update_ms,wait_ms \
	0,0,9,99.99999,100,200,200,0,0,0,0 1,0,9,100.00001,100,200,200,0,0,0,0
same gv-report near.csv
table deep level,stage,within,layers,first_layer,last_layer,replicas,gpus,compute_s,load_s,limit 5,0,,1,a,a,1,1,1,1,x 4,0,0,1,a,a,1,1,1,1,x 3,0,0,1,a,a,1,1,1,1,x \
	2,0,0,1,a,a,1,1,1,1,x 1,0,0,1,a,a,1,1,1,1,x
for format in text svg; do same gv-report -f $format deep.csv; done
table unsaid job_id,gpu_type,steps_per_s,share,policy,entity a,v,2,1,,x a,v+spread,1,0,,x b,spread,3,1,,y
for format in text csv svg; do same gv-report -f $format unsaid.csv; done
into() { gv-report -o made "$@" && cat made && rm made; }
for t in even step one twice middle trees flat times ties plan sums 'twice.csv x=ties'; do
	# shellcheck disable=SC2086
	for format in csv svg html; do same into -f $format $t.csv; done
done

# ---- a terminal ----
case=terminal
if have script && [ -e /dev/ptmx ]; then
	for columns in 1 9 30 47 80; do
		for t in types.csv spread.csv twice.csv 'types.csv twice.csv' cycle.csv uneven.csv costs.csv ties.csv letters.csv; do
			same script -qec "stty cols $columns; env TERM=xterm gv-report $t" /dev/null
		done
	done
	same script -qec 'stty cols 0; gv-report types.csv' /dev/null
	for columns in 0 -5 100000 99999 x 60; do same script -qec "stty cols 40; env COLUMNS=$columns gv-report types.csv" /dev/null; done
	for set in TERM=dumb TERM= NO_COLOR= NO_COLOR=1; do same script -qec "env TERM=xterm $set gv-report twice.csv" /dev/null; done
fi

answered

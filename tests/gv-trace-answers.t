#!/bin/sh
# gv-trace: what it makes of traces, prices and jobs, of odd ones as well, is what it has made of them before.
. "${0%/*}/lib.sh"
. "$src/tests/answers.sh"
answers gv-trace "${1:-}"

# table NAME ROW...: a file
table() {
	name=$1
	shift
	printf '%s\n' "$@" >"$name"
}
# tried COMMAND...: what it answers, and its status
tried() {
	"$@" 2>&1 </dev/null
	echo "status $?"
}
# with FILE COMMAND...: with the options of each line of the input
with() {
	of=$1
	shift
	while read -r options; do
		echo "$options"
		# shellcheck disable=SC2086
		tried "$@" $options "$of"
	done
}
# cells COLUMN FILE SEPARATOR ROW COMMAND...: with something else in that cell, and without that column
cells() {
	column=$1 file=$2 separator=$3 row=$4
	shift 4
	for value in '' -1 0 .5 1e9 x; do
		awk -F"$separator" -v OFS="$separator" -v row="$row" -v c="$column" -v v="$value" 'NR == row { $c = v } 1' "$file" >x
		tried "$@"
	done
	awk -F"$separator" -v OFS="$separator" -v c="$column" '{ line = ""; for (i = 1; i <= NF; i++) if (i != c) line = line (line == "" ? "" : OFS) $i; print line }' "$file" >x
	tried "$@"
}
# rows FILE SEPARATOR ROW COMMAND...: with that row alone, without it, with a cell too many and so on
rows() {
	file=$1 row=$3
	separator=$2
	shift 3
	for edit in "${row}p" "${row}d" "$row,\$d" "${row}s/\$/$separator"'more/' 's/$/\r/' "${row}s/^/\"/"; do
		sed "$edit" "$file" >x
		tried "$@"
	done
}
# each FILE SEPARATOR ROW COMMAND...: each cell of the row, and the row; the command reads x
each() {
	case=
	columns=$(sed -n "$3p" "$1" | awk -F"$2" '{ print NF }')
	number=1
	while [ "$number" -le "$columns" ]; do
		same cells "$number" "$@"
		number=$((number + 1))
	done
	same rows "$@"
}

# ---- traces of others ----
tab=$(printf '\t')
printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' A 'main.py -b 64 %s/data/ 50%%' images --n 1 2931 1 1 -1 0 \
	B main.py '' '' 0 17.5 2 5.0 1.2 3600.25 C 'say "it" %d' rl --max-steps 1 1e9 64 1 10 7200 >gavel
each gavel "$tab" 2 gv-trace convert --from=gavel --data-dir=/data x
case=gavel
same gv-trace convert -v --tsv --from=gavel gavel
cut -f 1,2,4- gavel >nine
cut -f 1,2,4,5,6,7,8 gavel >eight
cut -f 1,2,4,5,6,10,7 gavel >seven
for trace in nine eight seven; do same gv-trace convert --from=gavel $trace; done
table helios job_id,user,vc,gpu_num,state,submit_time,start_time,end_time,duration 310,u1,vision,2,COMPLETED,100,160,3760,3600 \
	311,u1,vision,0,COMPLETED,100,160,3760,3600 312,u2,speech,1,FAILED,390,400,460,60 313,u3,,1.5,Pass,2020-04-01T00:02:00,500,,
each helios , 2 gv-trace convert --from=philly-csv x
each helios , 2 gv-trace convert --completed -v --from=philly-csv x
table sacct 'JobID|JobName|Account|User|State|Submit|Start|End|ElapsedRaw|AllocTRES' \
	'71|train|vision|ann|COMPLETED|2024-01-01T00:00:00|2024-01-01T00:10:00|2024-01-01T04:10:00|14400|cpu=8,gres/gpu:v100=2,gres/gpu=2' \
	'71.batch|batch|vision||COMPLETED|2024-01-01T00:00:00|2024-01-01T00:10:00|2024-01-01T04:10:00|14400|cpu=8' \
	'72_3|array|vision|ann|CANCELLED by 7|2024-01-01T00:00:00|None|Unknown|0|cpu=8' \
	'73|tune|speech|bob|OUT_OF_MEMORY|2024-01-01T00:30:00|2024-01-01T00:30:00|2024-01-01T00:50:00|1200|gres/gpu:a100=1,gres/gpu:h100=2'
each sacct '|' 2 gv-trace convert --from=slurm x
cut -d'|' -f1,2,5,6,7,8,10 sacct >spans
each spans '|' 2 gv-trace convert --completed --from=slurm x
sed 's/14400/1-04:00:00/; s/|1200/|20:00/; s/|0|/|00:00:00|/; s/ElapsedRaw/Elapsed/' sacct >elapsed
each elapsed '|' 5 gv-trace convert -v --from=slurm x
table jobs j1,i1,u1,Terminated,100.0,500.0 j2,i2,u2,Failed,90.0,300.0 j3,i3,u3,Running,95.0, j4,i4,u1,Terminated,99.0,100.0
table tasks j1,worker,2.0,Terminated,120.0,500.0,600.0,29.29,50.0,V100 j1,ps,1.0,Terminated,110.0,500.0,600.0,29.29,,MISC \
	j2,worker,1.0,Failed,95.0,300.0,600.0,29.29,800.0,V100 j3,worker,1.0,Running,96.0,,600.0,29.29,100.0,P100
each jobs , 2 gv-trace convert --from=alibaba-2020 --tasks=tasks x
each tasks , 1 gv-trace convert --completed -v --from=alibaba-2020 --tasks=x jobs
table pods name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time \
	p1,88000,327680,8,1000,,Burstable,Succeeded,9437497,10769854,9437499 p2,4000,15258,1,220,,BE,Running,9437490,9973826,9437500 \
	p3,16000,32768,0,0,,LS,Failed,9967058,9968575,9967063 'p4,16000,32768,1,1000,V100M16|V100M32,LS,Pending,9967058,9968575,'
each pods , 2 gv-trace convert --from=alibaba-2023 x
cat >log <<'E'
[{"jobid": "late", "submitted_time": "2017-10-07 02:00:00", "status": "Failed", "user": "u1", "vc": "v", "more": {"x": [1, null]},
 "attempts": [{"start_time": "2017-10-07 02:00:10", "end_time": "2017-10-07 02:00:20", "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}]},
{"jobid": "first", "submitted_time": "2017-10-07 01:00:00", "user": null, "vc": "caf\u00e9", "status": "Pass",
 "attempts": [{"start_time": null, "end_time": "None", "detail": [{"gpus": []}]}, {"detail": [{"gpus": ["gpu0"]}, {"gpus": ["gpu1", "gpu2"]}],
 "start_time": "2017-10-07 01:00:30", "end_time": "2017-10-07 01:01:00", "other": [[], {}]}]}]
E
same gv-trace convert --from=philly-json log
# logs WHAT: something else at its first place, and without it
logs() {
	for value in null '""' 1 -0.5 true '[]' '{}' '[1, "2"]' '"2017-10-07 01:00:40"' '"None"'; do
		sed "1,2s/\"$1\": \(\"[^\"]*\"\|\[.*\]\(}]\)\)/\"$1\": $value\2/" log >x
		tried gv-trace convert --from=philly-json x
	done
	sed "s/\"$1\"/\"un$1\"/" log >x
	tried gv-trace convert --from=philly-json x
}
for what in jobid submitted_time status user vc attempts start_time end_time detail gpus ip; do same logs $what; done
cut_off() {
	for bytes in 1 40 100 200 300 400 500 600 700; do
		head -c $bytes log >x
		tried gv-trace convert --from=philly-json x
	done
}
same cut_off

# ---- types of jobs, and speeds ----
table speeds job_type,scale_factor,gpu_type,steps_per_s train,1,v100,2.5 train,2,v100,4 tune,1,v100,10 tune,1,k80,3 tune,4,v100,25 idle,1,v100,0
table types job_type,weight,command train,1,a tune,3,b
each speeds , 3 gv-trace convert --from=slurm -t x sacct
each types , 2 gv-trace convert --from=philly-csv -t speeds --types=x --seed=3 helios
each speeds , 3 gv-trace generate --jobs=8 --scale-factors=1:.5,2:.5 x
each types , 2 gv-trace generate --jobs=8 --types=x --rate=9 --whole-steps speeds
case=types
for reference in v100 k80 none; do
	same gv-trace convert --from=philly-csv -t speeds --reference=$reference helios
	same gv-trace generate --jobs=5 --reference=$reference speeds
done
for option in --scale-factors --durations --priorities --slo --entities; do
	same with speeds gv-trace generate --jobs=4 <<-E
		$option=
		$option=1
		$option=1:1
		$option=0
		$option=-1
		$option=x
		$option=1:0
		$option=1:x
		$option=1,2,3
		$option=1:.5,2:.5
		$option=1:.4,2
		$option=1h:.3,2h:.7
		$option=1h..2h
		$option=2h..1h
		$option=0..1h
		$option=1e9h
		$option=1,1
		$option=a:.5,b:.5
		$option=,1
		$option=1,
		$option=1e7
		$option=1.5
	E
done
same with speeds gv-trace generate --jobs=6 <<E
--jobs=0
--jobs=x
--jobs=-1
--rate=0
--rate=1 --every=1s
--every=0s
--seed=-1
--sampling=testbed
--sampling=none
--sampling=testbed --scale-factors=1:.5,4:.5
--sampling=testbed --scale-factors=9
--sampling=testbed --durations=1h
--types=- -
-v
E
same gv-trace generate speeds
for column in job_id arrival_s scale_factor total_steps duration_s priority_weight slo_factor entity deadline_s; do
	printf 'job_type,%s\ntrain,7\n' $column >x
	same gv-trace generate --jobs=3 --types=x speeds
	same gv-trace generate --jobs=3 --types=x --priorities=5:.2 --slo=2:1 --entities=a:1 speeds
done

# ---- jobs: scaled, and checked ----
table some job_id,arrival_s,job_type,scale_factor,total_steps,duration_s,deadline_s,slo_factor a,0,train,1,1000,400,900,1.2 b,60,tune,1,10,1,, c,60.5,tune,4,100.5,7,1e6, d,200,idle,1,1,1,,
each some , 3 gv-trace scale --load=2 --size=3 x
each some , 3 gv-trace scale -v --time=2.5 x
each some , 2 gv-trace check -v -t speeds x
case=some
same with some gv-trace scale <<E
--load=0
--load=x
--rate=60
--rate=60 --load=2
--size=0
--size=1e9
--time=1e-9
--jobs=2
--jobs=9
--jobs=0
--jobs=1 --rate=5
--tsv
-v --load=.5
-olost/x
-o/dev/full
E
table cluster gpu_type,gpus v100,2 k80,1
same with some gv-trace check -t speeds <<E
-v
-ccluster
-v -ccluster
--fix=drop
--fix=clip
--fix=clip -ccluster
--fix=drop -ccluster -v
--fix=x
--tsv
-c - -
-clost
-olost/x
-o/dev/full
E
each some , 2 gv-trace check --fix=clip -t speeds x
case=check
table strange gpu_type,gpus h100,8 k80,2
same gv-trace check -v -c strange -t speeds some
same gv-trace check some
same gv-trace check -t speeds none

# ---- prices ----
table series timestamp,cloud,region,zone,instance,gpu,gpus,price_usd_h 2020-01-01T00:00:00Z,aws,r,a,p2,K80,1,1 2020-01-01T01:00:00Z,aws,r,a,p2,K80,1,4 \
	2020-01-01T00:00:00Z,aws,r,a,p3,V100,1,3 2020-01-01T00:00:00Z,aws,r,b,p3x,V100,8,20 2020-01-01T00:00:00Z,gcp,q,c,n1,V100,2,3
each series , 3 gv-trace prices x
table steps job_type,scale_factor,gpu_type,steps_per_s A,1,v100,2 A,1,k80,1 A,4,v100,6 B,1,k80,0
table work job_id,job_type,arrival_s,total_steps,deadline_s,slo_factor,scale_factor,moves,note a,A,0,7200,,2,1,x,yz b,A,1800,9000,20000,,4,,
each work , 2 gv-trace prices -p dynamic --jobs=x -t steps --every=1h series
each steps , 2 gv-trace prices -p one --jobs=work -t x --every=1h --schedule series
table lives cloud,zone,gpu_type,gpus,start,end,outcome aws,a,K80,1,2020-01-01T00:00:00Z,2020-01-01T05:00:00Z,preempted \
	aws,a,K80,1,2020-01-02T00:00:00Z,2020-01-02T03:00:00Z,alive_at_end aws,b,V100,8,0,7200,preempted gcp,c,V100,2,0,100,alive_at_end
each lives , 3 gv-trace prices -p dynamic --jobs=work -t steps --every=1h --lifetimes=x --checkpoint=5m series
case=prices
for policy in one gpu-type multi-gpu multi-cloud dynamic none; do
	same with series gv-trace prices -p $policy --jobs=work -t steps <<-E
		--schedule
		--home=gcp
		--home=none
		--gpu-type=k80
		--gpu-type=none
		--every=1h
		--move-cost=10m
		--every=30m --checkpoint=10m --restart=1m --mttp=2h
		--clouds=aws
		--regions=q
		--regions=none
		--clouds=,
		-v
		--tsv
		--start=2020-01-01T00:30:00
		--start=2021-01-01
		--lifetimes=lives --checkpoint=1m
	E
done
same with series gv-trace prices <<E
--start=soon
--every=0s
--mttp=0s
--schedule
-tsteps
--jobs=work
-pone
-pone --jobs=work
-pone -tsteps
-pone -t- --jobs=-
-pone -tsteps --jobs=- -
-pone -tsteps --jobs=work --lifetimes=- -
-pone -tlost --jobs=work
-pone -tsteps --jobs=lost
-pone -tsteps --jobs=work --lifetimes=lost
-olost/x
-o/dev/full
-v --clouds=gcp
E
same gv-trace prices series series
same gv-trace prices lost
sed 1q series >x
same gv-trace prices x
same gv-trace prices -v - <series
same gv-trace prices -q -p one --gpu-type=k80 --jobs=work -t steps series
sed '2,$s/.$/&.5/' series | same gv-trace prices

# ---- traces that are wrong all over, empty, or broken off ----
many() {
	sed -n 1p "$1"
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sed -n "$2p" "$1" | sed "s/$3/$4/"; done
}
case=many
many gavel 2 17.5 x >many-gavel
many sacct 2 14400 x >many-slurm
many sacct 2 14400 14401 >again-slurm
many helios 2 3600\$ x >many-philly-csv
many pods 2 9437497 x >many-alibaba-2023
many jobs 1 100.0 x >many-alibaba-2020
many log 1 '"jobid": "late"' '"jobid": {}' >many-philly-json
many series 2 T00:00:00Z Tx >many-series
many lives 2 2020 x >many-lives
many some 2 1000 x >many-some
many speeds 3 4\$ x >many-speeds
printf 'x' | gzip | head -c 12 >broken
: >empty
for format in gavel slurm philly-csv philly-json alibaba-2020 alibaba-2023; do
	for trace in many-$format broken empty; do
		case $format in alibaba-2020) set -- --tasks=tasks ;; *) set -- ;; esac
		same gv-trace convert --from=$format "$@" "$trace"
	done
done
same gv-trace convert --from=slurm again-slurm
for tasks in many-alibaba-2020 broken empty; do same gv-trace convert --from=alibaba-2020 --tasks=$tasks jobs; done
for trace in many-series broken empty; do same gv-trace prices $trace; done
for lives in many-lives broken empty; do same gv-trace prices -p one --jobs=work -t steps --lifetimes=$lives series; done
for some in many-some broken empty; do
	same gv-trace scale $some
	same gv-trace check -t speeds $some
	same gv-trace prices -p one --jobs=$some -t steps series
done
for speeds in many-speeds broken empty; do
	same gv-trace check -t $speeds some
	same gv-trace generate --jobs=2 $speeds
	same gv-trace convert --from=slurm -t $speeds sacct
done
table wide job_type,scale_factor,gpu_type,steps_per_s train,2,v100,4 other,1,k80,3 other,1,v100,0
for reference in v100 k80; do
	same gv-trace generate --jobs=3 --sampling=testbed --reference=$reference wide
	same gv-trace convert -v --from=philly-csv -t wide --reference=$reference helios
done

# ---- conversions that cannot be ----
case=convert
for trace in sacct lost; do
	same with $trace gv-trace convert <<-E
		-q
		--from=none
		--from=slurm --completed
		--from=gavel -tspeeds
		--from=slurm --types=types
		--from=slurm --reference=v100
		--from=slurm -tlost
		--from=slurm -tspeeds --types=lost
		--from=alibaba-2020 --tasks=lost
		--from=alibaba-2020 --tasks=- -
		--from=slurm -olost/x
		--from=slurm -o/dev/full
		--from=philly-csv
		--from=philly-json
		--from=alibaba-2023
		--from=gavel
	E
done
answered

#!/bin/sh
# gv-alloc -p water-filling: entities in entities, and their quotas.
. "${0%/*}/lib.sh"

printf 'gpu_type,gpus\nv100,8\n' >cluster.csv
cat >jobs.csv <<EOF
job_id,scale_factor,entity,gpu_type,steps_per_s
a1,4,vision,v100,10
a2,4,vision,v100,10
b1,4,speech,v100,10
b2,4,speech,v100,10
c1,4,sales,v100,10
c2,4,sales,v100,10
EOF
cat >entities.csv <<EOF
entity,parent,weight,quota_gpus
research,,1,
vision,research,1,3
speech,research,1,
sales,,1,
EOF
# gpus OPTION...: how many GPUs each entity has
gpus() {
	run gv-alloc -q -p water-filling -c cluster.csv "$@"
	awk -F, 'NR > 1 { if (!($3 in n)) name[++k] = $3; n[$3] += $2 * $(NF - 1) }
		END { for (i = 1; i <= k; i++) printf "%s %.9g\n", name[i], n[name[i]] }' out >sums
	mv sums out
}

gpus --entities=entities.csv jobs.csv
is_out "two parts of one half; one has its quota of it" <<EOF
vision 3
speech 1
sales 4
EOF
grep -v ^a jobs.csv >less.csv
gpus --entities=entities.csv less.csv
is_out "what a quota's entity does not use is borrowed" <<EOF
speech 4
sales 4
EOF
sed 's/,3$/,6/' entities.csv >six.csv
gpus --entities=six.csv jobs.csv
is_out "a quota above the fair part is kept, and those who wait have less" <<EOF
vision 6
speech 0
sales 2
EOF
run gv-alloc -v -p water-filling -c cluster.csv --entities=six.csv -o /dev/null jobs.csv
ok "the least that an entity at the top has" awk '{ sub(/.*objective=/, ""); exit !($1 - 2 < 1e-9 && 2 - $1 < 1e-9) }' err
sed 's/,3$/,8/' entities.csv >eight.csv
run gv-alloc -q -p water-filling -c cluster.csv --entities=eight.csv -o /dev/null jobs.csv
is_status 0 "a quota of all there is leaves nothing, and is an answer"
{ cat jobs.csv && echo d1,4,research,v100,10; } >inner.csv
gpus --entities=entities.csv inner.csv
is_out "jobs of an entity that has parts are one more of these" <<EOF
vision 3
speech 0.5
sales 4
research 0.5
EOF
printf 'entity,parent,weight\na,,1\nb,a,1\nc,b,1\nd,c,1\ne,d,3\nf,d,1\n' >deep.csv
printf 'job_id,scale_factor,entity,gpu_type,steps_per_s\nx,8,e,v100,1\ny,8,f,v100,2\nz,8,other,v100,3\n' >deep-jobs.csv
gpus --entities=deep.csv deep-jobs.csv
is_out "five levels, and an entity that is in no table" <<EOF
e 3
f 1
other 4
EOF
gpus --inside=none --entities=entities.csv jobs.csv
is_out "--inside=none: neither" <<EOF
vision 2.66666667
speech 2.66666667
sales 2.66666667
EOF
awk -v OFS=, '{ print $0, NR == 1 ? "min_steps_per_s" : /^b1/ ? 8 : "" }' jobs.csv >minimum.csv
gpus --entities=entities.csv minimum.csv
is_out "a minimum inside a part comes before all" <<EOF
vision 3
speech 3.2
sales 1.8
EOF
{ cat jobs.csv && echo && cat less.csv; } | gv-alloc -q --stream -p water-filling -c cluster.csv --entities=entities.csv >both
run gv-alloc -q -p water-filling -c cluster.csv --entities=entities.csv jobs.csv
{ cat out && echo && gv-alloc -q -p water-filling -c cluster.csv --entities=entities.csv less.csv && echo; } >each
same_file both each "--stream: each as if alone"
cp out was.csv
run gv-alloc -q -p water-filling -c cluster.csv --entities=entities.csv --previous=was.csv --stay=.1 jobs.csv
sed 's/ --stay=0.1$//' out >got
same_file got was.csv "--previous: the same stays"
run gv-alloc -q --certify -p water-filling -c cluster.csv --entities=entities.csv -o /dev/null jobs.csv
is_status 0 "--certify proves it"
run gv-alloc -q -p water-filling -c cluster.csv --entities=entities.csv --explain=why.csv -o /dev/null jobs.csv
is_status 0 "--explain"
# weights alone are what they were, whether or not others could be in them
printf 'entity,weight\nvision,2\nspeech,1\nsales,1\n' >flat.csv
printf 'entity,weight,parent,quota_gpus\nvision,2,,\nspeech,1,,0\nsales,1,,\n' >empty.csv
run gv-alloc -p water-filling -c cluster.csv --entities=flat.csv jobs.csv
sed 's/flat.csv$/empty.csv/' out >flat
run gv-alloc -p water-filling -c cluster.csv --entities=empty.csv jobs.csv
same_file out flat "columns without a parent or quota change nothing"
printf 'entity,weight,parent\nall,7,\nvision,2,all\nspeech,1,all\nsales,1,all\n' >one.csv
gpus --entities=flat.csv jobs.csv
mv out flat
gpus --entities=one.csv jobs.csv
same_file out flat "neither does one entity around all"

# e0 and e1 cannot have their quotas both, as e1's job is too slow on b; e2 has its own all the same, and no more
printf 'gpu_type,gpus\na,1\nb,1\nc,2\n' >three.csv
printf 'entity,weight,quota_gpus\ne0,1,0.9\ne1,1,3\ne2,0.01,0.1\ne3,1,\n' >four.csv
cat >crowd.csv <<EOF
job_id,scale_factor,entity,gpu_type,steps_per_s
w,1,e0,a,1
x,1,e1,a,10
x,1,e1,b,1
y,1,e2,c,1
y2,1,e2,c,1
z,1,e3,c,1
z2,1,e3,c,1
EOF
run gv-alloc -q -p water-filling -c three.csv --entities=four.csv crowd.csv
awk -F, 'NR > 1 && $3 > "e1" { n[$3] += $6 } END { printf "e2 %.6f\ne3 %.6f\n", n["e2"], n["e3"] }' out >sums && mv sums out
is_out "a quota that others cannot have is nobody else's" <<EOF
e2 0.050000
e3 1.950000
EOF

# ---- why ----
# entities OPTION...: what the explanation says of them, rounded
entities() {
	run gv-alloc -q -p water-filling -c cluster.csv --explain=why.csv -o shares.csv "$@"
	awk -F, 'function r(x) { return x == "" ? "-" : sprintf("%.6g", x + 0 < 1e-9 && x > -1e-9 ? 0 : x) }
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		$1 == "entity" { print $2, $3, $4 == "" ? "-" : $4, r($5), r($6), r($7),
			r($at["one_more_gpu"]), r($at["one_more_quota"]) }' why.csv >out
}
entities --entities=entities.csv jobs.csv
is_out "levels, GPUs, quotas; one more GPU, one more of quota" <<EOF
research capacity yes 4 4 - 0.5 0
sales capacity yes 4 4 - 0.5 0
speech capacity - 1 1 - 0.5 0
vision capacity - 3 3 3 0 1
EOF
entities --entities=six.csv jobs.csv
is_out "a quota that binds: more of it is its own gain" <<EOF
research capacity no 6 6 - 0 0
sales capacity yes 2 2 - 1 0
speech capacity - 0 0 - 0 1
vision capacity - 6 6 6 0 1
EOF
entities --entities=deep.csv deep-jobs.csv
is_out "all that it is in has what an entity has; one without a row has no quota" <<EOF
a capacity yes 4 4 - 0.5 0
b capacity - 4 4 - 0.5 0
c capacity - 4 4 - 0.5 0
d capacity - 4 4 - 0.5 0
e capacity - 1 3 - 0.125 0
f capacity - 1 1 - 0.125 0
other capacity yes 4 4 - 0.5 -
EOF
printf 'entity,weight\nspeech,3\nvision,1\n' >flat.csv
sed '/^[ab]2/d' jobs.csv >single.csv
entities --entities=flat.csv single.csv
is_out "weights without a tree; an entity with all its time" <<EOF
sales capacity no 2 2 - 0.5 -
speech time yes 1.33333 4 - 0 0
vision capacity no 2 2 - 0.5 0
EOF
gv-alloc -q -p water-filling -c cluster.csv --inside=none --explain=why.csv -o shares.csv single.csv
ok "no entities, no such rows and no such column" awk '/entity|quota/ { exit 1 }' why.csv

# two jobs on one GPU, each with the time of it and half of the GPU
printf 'gpu_type,gpus\nv100,1\n' >single.csv
printf 'job_id,job_type,entity,gpu_type,steps_per_s\na,x,one,v100,10\nb,y,two,v100,1\n' >two.csv
printf 'job_a,job_b,scale_factor,gpu_type,steps_per_s_a,steps_per_s_b\nx,y,1,v100,8,0.8\n' >pairs.csv
printf 'entity,weight,parent,quota_gpus\nall,1,,1\none,1,all,.5\ntwo,1,all,\n' >inside.csv
gv-alloc -q -p water-filling -c single.csv --space-sharing=pairs.csv --entities=inside.csv --explain=why.csv -o /dev/null two.csv
awk -F, '$1 == "entity" { printf "%s %s %.9g %.9g %s\n", $2, $3, $5, $6, $7 }' why.csv >out
is_out "a pair's entities have half of its GPU each, and all of their time" <<EOF
all time 1.6 1 1
one time 0.8 0.5 0.5
two time 0.8 0.5 
EOF

# wrong NAME ROWS MESSAGE
wrong() {
	printf 'entity,parent,weight,quota_gpus\n%b' "$2" >bad.csv
	run gv-alloc -p water-filling -c cluster.csv --entities=bad.csv jobs.csv
	echo "gv-alloc: bad.csv$3" | is_err "$1"
	is_status 2 "$1: status"
}
wrong "an unknown parent" 'vision,reserch,1,\n' ':2: parent: no entity "reserch" in this table'
wrong "a circle" 'a,b,1,\nb,c,1,\nc,b,1,\n' ':3: parent: entity "b" is in itself'
wrong "its own parent" 'a,a,1,\n' ':2: parent: entity "a" is in itself'
wrong "parts with more than the whole" 'a,,1,4\nb,a,1,\nc,b,1,3\nd,a,1,2\n' \
	':2: quota_gpus: the quotas inside add up to 5 GPUs, this one is 4'
wrong "more than the cluster has" 'a,,1,4\nb,,1,\nc,b,1,5\n' ': the quotas add up to 9 GPUs, the cluster has 8'
wrong "below 0" 'a,,1,-1\n' ':2: quota_gpus: expected a number >= 0, got "-1"'
wrong "no number" 'a,,1,x\n' ':2: quota_gpus: expected a number, got "x"'
done_testing

#!/bin/sh
# alloc.sh: gv-alloc against general solvers on the same programs, and alone.
# Prints tables of ratios; status 1 when two of them disagree.  Times are medians of
# three of the whole process, reading and writing included; for HiGHS and CVXPY, and
# for CLP by its own account, only the solver's own time counts.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
data=${GV_SHARED:-$here/../../../shared}/data/gavel
if [ ! -d "$data" ]; then
	echo "skipped: no shared data"
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
cd "$dir"
python=${GV_PYTHON:-$(command -v python3 || :)}
[ -n "$python" ] && "$python" -c 'import scipy.optimize' 2>/dev/null || python=
gzip -dc "$data/trace_synth_multi_seed0.csv.gz" >all.csv
grep -v unconsolidated "$data/throughputs.csv" >thr.csv

# seconds NAME CMD...: sets NAME to the median of three runs
seconds() {
	seconds_name=$1
	shift
	for i in 1 2 3; do
		begin=$(date +%s.%N)
		"$@" >stdout 2>stderr
		end=$(date +%s.%N)
		echo "$begin $end" | awk '{ printf "%.6f\n", $2 - $1 }'
	done | sort -g | sed -n 2p >median
	# shellcheck disable=SC2229
	read -r "$seconds_name" <median
}
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (a == "" || b == "") print "-"; else printf "%.3g", a / b }'; }
objective() { tr ' ' '\n' <stderr | sed -n 's/^objective=//p'; }
# same A B TOLERANCE: equal within that part of themselves, or the benchmark fails
same() {
	awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(d <= t * a) }' || {
		echo "objectives differ: $1 and $2" >&2
		exit 1
	}
}
# differ <RATES: every rate and weight drawn anew
differ() {
	awk -F, -v OFS=, 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
	BEGIN { s = 42 }
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
	NR > 1 {
		if ($1 != last) { w = .5 + 1.5 * u(); last = $1 }
		$at["priority_weight"] = w
		$at["steps_per_s"] = $at["steps_per_s"] * (.85 + .3 * u())
	}
	{ print }'
}
# row NAME JOBS: jobs.csv or rates.csv on cluster.csv
row() {
	gv-alloc -q -p max-min -c cluster.csv --solver=glpk --dump-lp=p.lp -o full.csv "$@" 2>/dev/null
	seconds auto gv-alloc -q -v -p max-min -c cluster.csv -o out.csv "$@"
	best=$(objective)
	classes=$(tr ' ' '\n' <stderr | sed -n 's/^classes=//p')
	seconds glpk gv-alloc -q -v -p max-min -c cluster.csv --solver=glpk -o out.csv "$@"
	same "$(objective)" "$best" 1e-9
	glpsol=
	if command -v glpsol >/dev/null; then
		seconds glpsol glpsol --lp p.lp -w sol
		same "$(awk '$1 == "s" { print $NF }' sol)" "$best" 1e-6 # it works to 1e-7
	fi
	highs=
	if [ -n "$python" ]; then
		"$python" "$here/../gv-alloc-highs.py" cluster.csv out.csv --time >highs
		# shellcheck disable=SC2094
		read -r level highs <highs
		same "$level" "$best" 1e-6
	fi
	printf '%-22s %8s %12s %12s %12s\n' "$name" "$classes" "$(ratio "$glpk" "$auto")" \
		"$(ratio "$glpsol" "$auto")" "$(ratio "$highs" "$auto")"
}

printf '%-22s %8s %12s %12s %12s\n' 'time / gv-alloc' classes --solver=glpk glpsol HiGHS
for n in 128 512 2048; do
	name="$n jobs"
	head -n $((n + 1)) all.csv >jobs.csv
	printf 'gpu_type,gpus\nv100,%d\np100,%d\nk80,%d\n' $((n / 6)) $((n / 6)) $((n / 6)) >cluster.csv
	row -t thr.csv jobs.csv
	name="$n that all differ"
	gv-alloc -q -p isolated -c cluster.csv -t thr.csv jobs.csv | differ >rates.csv
	row rates.csv
done

# ---- every policy that is a linear program, all jobs different ----

# took NAME SECONDS OBJECTIVE TOLERANCE: a column of the line; the objective must agree
took() {
	same "$3" "$best" "$4"
	eval "$1=\$(ratio \"$2\" \"$auto\")"
}
# policy_row POLICY N [OPTION]: rates.csv on cluster.csv; slow: what took too long for fewer jobs
policy_row() {
	glpk=- clp=- simplex=- interior=- cvxpy=-
	seconds auto gv-alloc -q -v -p "$1" -c cluster.csv ${3:+"$3"} -o out.csv rates.csv
	best=$(objective)
	[ "$1" != makespan ] || best=$(awk -v t="$best" 'BEGIN { printf "%.17g", 1 / t }')
	case $slow in *" glpk "*) ;; *)
		begin=$(date +%s.%N)
		gv-alloc -q -p "$1" -c cluster.csv ${3:+"$3"} --solver=glpk -o out.csv rates.csv
		glpk=$(date +%s.%N | awk -v b="$begin" '{ print $1 - b }')
		awk -v t="$glpk" 'BEGIN { exit !(t > 3) }' && slow="$slow glpk "
		glpk=$(ratio "$glpk" "$auto")
		;;
	esac
	case $1 in
	finish-time | water-filling) ;; # more than one program
	*)
		gv-alloc -q -p "$1" -c cluster.csv ${3:+"$3"} --dump-lp=p.lp -o out.csv rates.csv
		glpsol --check --lp p.lp --wfreemps p.mps >/dev/null
		if command -v clp >/dev/null; then
			clp p.mps -maximize -primalS >stdout 2>&1
			took clp "$(sed -n 's/.*iterations time \([0-9.]*\).*/\1/p' stdout | tail -n 1)" \
				"$(sed -n 's/^Optimal objective \([^ ]*\).*/\1/p' stdout | tail -n 1)" 1e-6
		fi
		if [ -n "$python" ]; then
			"$python" "$here/alloc-general.py" p.mps >general 2>/dev/null || :
			while read -r solver value time; do
				case $solver in
				HiGHS-simplex) took simplex "$time" "$value" 1e-6 ;;
				HiGHS-interior) took interior "$time" "$value" 1e-6 ;;
				CVXPY) took cvxpy "$time" "$value" 1e-2 ;; # its default tolerance
				esac
			done <general
		fi
		;;
	esac
	printf '%-14s %8d %9.4f %9s %9s %9s %9s %9s\n' "$1" "$2" "$auto" "$glpk" "$clp" "$simplex" \
		"$interior" "$cvxpy"
}
echo
printf '%-14s %8s %9s %9s %9s %9s %9s %9s\n' 'time / gv-alloc' jobs seconds GLPK CLP \
	HiGHS HiGHS-ipm CVXPY
if command -v glpsol >/dev/null; then
	for policy in max-min makespan max-sum min-cost finish-time water-filling; do
		slow=
		for n in 32 128 512 2048 8192; do
			case $policy-$n in water-filling-8192) continue ;; esac
			head -n $((n + 1)) all.csv >jobs.csv
			printf 'gpu_type,gpus,usd_per_h\nv100,%d,2.5\np100,%d,1.5\nk80,%d,.5\n' $((n / 6 + 8)) \
				$((n / 6 + 8)) $((n / 6 + 8)) >cluster.csv
			gv-alloc -q -p isolated -c cluster.csv -t thr.csv jobs.csv | differ >rates.csv
			policy_row $policy "$n"
		done
	done

	# any two jobs share GPUs at rates of their own: N (N - 1) / 2 pairs, none like another
	slow=
	for n in 32 128 256; do
		printf 'gpu_type,gpus\nv100,%d\np100,%d\nk80,%d\n' $((n / 12)) $((n / 12)) $((n / 12)) >cluster.csv
		awk -v n="$n" 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
		BEGIN {
			s = 3
			split("k80 p100 v100", type, " ")
			print "job_a,job_b,scale_factor,gpu_type,steps_per_s_a,steps_per_s_b" >"pairs.csv"
			print "job_id,job_type,gpu_type,steps_per_s"
			for (i = 0; i < n; i++) {
				r = 1 + 9 * u()
				for (j = 1; j <= 3; j++) {
					alone[i, j] = r * 2 ^ (j - 1) * (.85 + .3 * u())
					print "j" i ",j" i "," type[j] "," alone[i, j]
				}
				for (k = 0; k < i; k++)
					for (j = 1; j <= 3; j++)
						print "j" k ",j" i ",1," type[j] "," alone[k, j] * (.3 + .5 * u()) "," \
							alone[i, j] * (.3 + .5 * u()) >"pairs.csv"
			}
		}' >rates.csv
		policy_row max-min "$n" --space-sharing=pairs.csv
	done
fi

# ---- what may be asked for beside, against the same without ----

# beside NAME POLICY N OPTION...: N jobs that all differ, a third of the GPUs they ask for
beside() {
	name=$1 policy=$2 n=$3
	shift 3
	head -n $((n + 1)) all.csv >jobs.csv
	printf 'gpu_type,gpus,usd_per_h\nv100,%d,2.5\np100,%d,1.5\nk80,%d,.5\n' $((n / 6 + 8)) \
		$((n / 6 + 8)) $((n / 6 + 8)) >cluster.csv
	gv-alloc -q -p isolated -c cluster.csv -t thr.csv jobs.csv | differ >rates.csv
	seconds without gv-alloc -q -p "$policy" -c cluster.csv -o out.csv rates.csv
	seconds with gv-alloc -q -p "$policy" -c cluster.csv -o out.csv "$@" rates.csv
	printf '%-34s %8d %9.4f %9s\n' "$name" "$n" "$with" "$(ratio "$with" "$without")"
}
echo
printf '%-34s %8s %9s %9s\n' 'beside' jobs seconds 'to without'
for n in 32 128 512 2048 4096; do beside "max-min --placeable" max-min "$n" --placeable; done
for policy in max-min makespan max-sum fifo; do
	for n in 128 512 2048 8192; do
		beside "$policy --budget" "$policy" "$n" --budget=$((n / 3))
	done
done
for n in 128 512 2048; do
	beside "a queue's water-filling, pairs" water-filling "$n" --inside=fifo \
		--space-sharing="$data/throughputs_pairs.csv"
done

# ---- the published times: Gavel's Figure 14 (cvxpy with ECOS), POP's instance ----

# published PROBLEM JOBS SECONDS COMMAND...: on N / 4 GPUs of each type
published() {
	what=$1 n=$2 then=$3
	shift 3
	head -n $((n + 1)) single.csv | awk -F, -v OFS=, 'NR == 1 { print $0, "entity"; next }
		{ print $0, "e" NR % 5 }' >jobs.csv
	printf 'gpu_type,gpus\nv100,%d\np100,%d\nk80,%d\n' $((n / 4)) $((n / 4)) $((n / 4)) >cluster.csv
	seconds now gv-alloc -q -v "$@" -c cluster.csv -t thr.csv -o out.csv jobs.csv
	printf '%-28s %7d %10s %10.4f %10s\n' "$what" "$n" "$then" "$now" "$(ratio "$then" "$now")"
}
{
	gzip -dc "$data/trace_synth_single_seed0.csv.gz"
	for k in 1 2; do gzip -dc "$data/trace_synth_single_seed$k.csv.gz" | sed "1d;s/^/$k-/"; done
} >single.csv
echo
printf '%-28s %7s %10s %10s %10s\n' 'the whole process' jobs published seconds ratio
for line in 32:.008 64:.010 128:.013 256:.018 512:.032 1024:.046 2048:.083 32768:2.97; do
	published "least attained service" "${line%:*}" "${line#*:}" -p max-min
done
for line in 32:.08 64:.14 128:.58 256:.85 512:5.4 1024:27 2048:97; do
	published "hierarchical, 5 entities" "${line%:*}" "${line#*:}" -p water-filling
done
published "makespan" 8192 7.86 -p makespan
# with space sharing
for line in 32:.11 64:.29 128:1.05 256:5.3 512:34 1024:296 2048:285.6; do
	published "the same, space sharing" "${line%:*}" "${line#*:}" -p max-min \
		--space-sharing="$data/throughputs_pairs.csv"
done

# many rows of few kinds: against copying them, which any filter must do
{
	head -n 1 all.csv
	for i in 0 1 2 3 4 5 6 7 8 9; do sed -n "2,3501{s/^/$i-/;p;}" all.csv; done
} >jobs.csv
printf 'gpu_type,gpus\nv100,100\np100,100\nk80,100\n' >cluster.csv
gv-alloc -q -p max-min -c cluster.csv -t thr.csv -o rates.csv jobs.csv
seconds whole gv-alloc -q -v -p max-min -c cluster.csv -o out.csv rates.csv
seconds copying gv-alloc -q -v -p isolated -c cluster.csv -o out.csv rates.csv
echo
printf '%s rows of 83 kinds: max-min takes %s times as long as isolated, which only reads and writes\n' \
	"$(($(wc -l <rates.csv) - 1))" "$(ratio "$whole" "$copying")"
differ <rates.csv >distinct.csv
seconds whole gv-alloc -q -v -p max-min -c cluster.csv -o out.csv distinct.csv
seconds copying gv-alloc -q -v -p isolated -c cluster.csv -o out.csv distinct.csv
printf '%s rows that all differ: %s times as long\n' \
	"$(($(wc -l <distinct.csv) - 1))" "$(ratio "$whole" "$copying")"

# ---- nodes: jobs of each have nothing to do with the others' ----
# nodes_tables JOBS NODES: jobs that name one of the nodes, of one to three types each
nodes_tables() {
	awk -v jobs="$1" -v nodes="$2" 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
	BEGIN {
		s = 7
		split("k80 t4 p100 v100 a100", type, " ")
		print "gpu_type,gpus,node" >"cluster.csv"
		for (n = 0; n < nodes; n++)
			for (j = 1; j <= 5; j++)
				if (j == n % 5 + 1 || u() < .3)
					print type[j] "," 4 + 4 * int(2 * u()) ",n" n >"cluster.csv"
		print "job_id,node,priority_weight,gpu_type,steps_per_s"
		for (i = 0; i < jobs; i++) {
			w = 1 + int(3 * u())
			r = 1 + 20 * u()
			for (j = 1; j <= 5; j++)
				print "j" i ",n" i % nodes "," w "," type[j] "," r * j * (.6 + .8 * u())
		}
	}' >rates.csv
}
printf '\n%-22s %8s %12s %22s\n' 'jobs on nodes' nodes 'gv-alloc, s' 'one program of all'
for size in '500 5' '2000 20' '10000 100'; do
	# shellcheck disable=SC2086 # two numbers
	nodes_tables $size
	for policy in max-min max-sum water-filling; do
		seconds auto gv-alloc -q -v -p $policy -c cluster.csv -o out.csv rates.csv
		best=$(objective)
		whole='over 60 s'
		begin=$(date +%s.%N)
		if timeout 60 gv-alloc -q -v -p $policy --solver=interior -c cluster.csv -o out.csv rates.csv 2>stderr; then
			end=$(date +%s.%N)
			same "$(objective)" "$best" 1e-7
			whole="$(ratio "$(echo "$begin $end" | awk '{ print $2 - $1 }')" "$auto") times"
		fi
		printf '%-22s %8s %12.3g %22s\n' "${size% *} $policy" "${size#* }" "$auto" "$whole"
	done
done

# ---- alone, solving only ----
echo
echo "solving alone, processor time, up to 10^7 jobs that all differ"
"$GV_BUILD/bench/gv-alloc.solve" 1e7 max-min

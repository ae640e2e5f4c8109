#!/bin/sh
# gv-report of links and trees: what trees use, how deep they are, how both are drawn.
. "${0%/*}/lib.sh"

cat >links.csv <<'E'
src,dst,gbytes_per_s,kind
gpu0,gpu1,10,NV1
gpu0,gpu1,10,NV1
gpu1,gpu0,20,NV2
gpu1,gpu10,20,NV2
gpu10,gpu1,20,NV2
gpu10,sw,40,
sw,gpu10,40,
gpu0,sw,40,
sw,gpu0,40,
E
cat >trees.csv <<'E'
tree,root,weight,phase,src,dst,path
0,gpu0,10,reduce,gpu10,gpu1,
0,gpu0,10,reduce,gpu1,gpu0,
0,gpu0,10,broadcast,gpu0,gpu1,
0,gpu0,10,broadcast,gpu1,gpu10,
3,gpu1,5,broadcast,gpu1,gpu0,
3,gpu1,5,broadcast,gpu0,gpu10,sw
E
run gv-report trees.csv links.csv
silent "trees and links"
is_out "trees and links: text" <<'E'
3 GPUs, 1 switch, 8 directions of links
trees       2, together 15 GB/s, no deeper than 2
busiest     75.0 % of a link

tree  root  GB/s  edges  depth
   0  gpu0  10.0      2      2
   3  gpu1  5.00      2      2

from   to     GB/s  used  used %
gpu0   gpu1   20.0  10.0    50.0
gpu1   gpu0   20.0  15.0    75.0
gpu1   gpu10  20.0  10.0    50.0
gpu10  gpu1   20.0  10.0    50.0
gpu10  sw     40.0   0.0     0.0
sw     gpu10  40.0  5.00    12.5
gpu0   sw     40.0  5.00    12.5
sw     gpu0   40.0   0.0     0.0
E
cp out want
sed -n '/^from/q; p' want >first_part
run gv-report links.csv trees.csv
sed -n '/^from/q; p' out >got
same_file first_part got "in any order"
{ cat trees.csv && echo && cat links.csv; } >both.csv
run gv-report both.csv
same_file want out "both in one file"
run gv-report -f csv trees.csv
is_out "trees alone: CSV" <<'E'
tree,root,weight,edges,depth
0,gpu0,10,2,2
3,gpu1,5,2,2
E
run gv-report -f csv --by=link trees.csv
is_out "trees alone: links that they name" <<'E'
src,dst,gbytes_per_s,used_gbytes_per_s,used_share
gpu10,gpu1,,10,
gpu1,gpu0,,15,
gpu0,gpu1,,10,
gpu1,gpu10,,10,
gpu0,sw,,5,
sw,gpu10,,5,
E
# a link that carries nothing, which a tree uses: no number is infinite
sed 's/gpu0,sw,40/gpu0,sw,0/' links.csv >broken.csv
for format in text csv json svg html; do
	run gv-report -f $format trees.csv broken.csv
	[ "$status" -eq 0 ] && [ ! -s err ] && ! grep -q -i -e '[ ,:="]-*nan' -e '[ ,:="]-*inf\b' out || status=1
	is_status 0 "a link of no rate: $format"
done
run gv-report --by=link -f csv trees.csv broken.csv
grep -e ^src -e ^gpu0,sw out >got && mv got out
is_out "a link of no rate: used, but of no share" <<'E'
src,dst,gbytes_per_s,used_gbytes_per_s,used_share
gpu0,sw,0,5,
E
run gv-report -j trees.csv links.csv
if [ -n "$GV_PYTHON" ]; then
	ok "JSON" "$GV_PYTHON" -c 'import json; o = json.load(open("out")); assert o["trees"][1]["depth"] == 2 and o["links"][1]["used_share"] == .75'
else
	skip "no python3"
fi
run gv-report -v -o /dev/null trees.csv links.csv
echo 'gv-report: 8 links, 2 trees' | is_err "verbose"
run gv-report -f csv links.csv
same_file links.csv out "links alone are a table as any other"
sed '/reduce/!d; 1!s/^3/0/' trees.csv >none && { head -n 1 trees.csv && cat none; } >reduce.csv
run gv-report -f csv reduce.csv
is_out "a reduce: deep from its root, too" <<'E'
tree,root,weight,edges,depth
0,gpu0,10,2,2
E

# ---- drawn ----
run gv-report -f svg trees.csv links.csv
silent "drawn"
ok "a link is a line, both directions as one" [ "$(grep -c '<line class="c-wire"' out)" -eq 4 ]
ok "two panels of trees have them all, pale" [ "$(grep -c '<line class="c-link"' out)" -eq 8 ]
ok "a tree has a line for each hop, and heads" [ "$(grep -c '<line class="l0"' out)" -eq 6 ]
ok "also about a switch" [ "$(grep -c '<line class="l1"' out)" -eq 7 ]
ok "its root is filled" [ "$(grep -c '<circle class="f[01]"' out)" -eq 2 ]
cp out drawn.svg
ok "the same bytes again" sh -c 'gv-report -f svg trees.csv links.csv | cmp - drawn.svg'
for format in svg html; do
	run gv-report -f $format links.csv
	silent "links alone: $format"
	ok "links alone: $format: four lines" [ "$(grep -c '<line class="c-wire"' out)" -eq 4 ]
	ok "links alone: $format: no nan" sh -c '! grep -qi -e "[=\"]-*nan" -e "[=\"]-*inf" out'
done
# few leave much of a square empty, which is not drawn: below the lowest there are its name and a margin
printf 'src,dst,gbytes_per_s\ngpu0,gpu1,10\ngpu1,gpu0,10\n' >two.csv
for file in two links; do
	run gv-report -f svg $file.csv
	sed -n 's/.*<svg [^>]*height="\([0-9]*\)".*/\1/p; s/.*<circle [^>]*cy="\([0-9.]*\)"[^>]*r="\([0-9.]*\)".*/\1 \2/p' out >circles
	awk 'NR == 1 { high = $1; next } $1 + $2 > low { low = $1 + $2 } END { exit !(low > 0 && high > low && high - low < 60) }' circles || status=1
	is_status 0 "a drawing ends with what is in it: $file"
done
head -n 1 trees.csv >none.csv
for format in text csv json svg html; do
	run gv-report -f $format none.csv
	silent "no trees: $format"
done
sed 's/gpu10/<b>\&gpu"/; s/sw/<s>/' links.csv | tr '"' "'" >odd.csv
run gv-report -f html odd.csv
ok "odd names are escaped" sh -c '! grep -q -e "<b>" -e "<s>" out'

# ---- whatever gv-tree makes of real machines: no link carries more than it can ----
if [ -d "$shared/data/topologies" ]; then
	for machine in dgx1v dgx1p dgxa100 mi250 pcie8_dual_root dgx1v_x2_4x100g dgxh100_x2; do
		file=$shared/data/topologies/$machine.csv
		for collective in broadcast allreduce; do
			gv-tree -q -c $collective -o trees.csv "$file"
			run gv-report -f csv --by=link trees.csv "$file"
			awk -F, 'NR > 1 { n++; used += $4; if ($5 == "" || $5 > 1 + 1e-9) exit 1 } END { exit !(n > 0 && used > 0) }' out || status=1
			is_status 0 "$machine, $collective: no link is overfull"
		done
		run gv-report -f svg trees.csv "$file"
		[ "$(wc -c <out)" -lt 2000000 ] && ! grep -qi -e '[="]-*nan' out || status=1
		is_status 0 "$machine: drawn"
	done
else
	skip "no shared data"
fi

# ---- messages ----
run gv-report trees.csv trees.csv
echo 'gv-report: trees.csv:1: expected one table of links and one of trees' | is_err "two of a kind"
run gv-report links.csv none.csv none.csv
is_status 2 "one too many"
sed 's/,reduce,/,up,/; 3s/^0/x/' both.csv >bad.csv
run gv-report bad.csv
is_err "bad trees" <<'E'
gv-report: bad.csv:2: phase: expected reduce or broadcast
gv-report: bad.csv:3: phase: expected reduce or broadcast
gv-report: bad.csv:3: tree: expected an integer, got "x"
E
sed '2s/,10,/,-1,/' links.csv >bad.csv
run gv-report -f svg bad.csv
echo 'gv-report: bad.csv:2: gbytes_per_s: expected a number from 0 on' | is_err "a bad rate"
cp both.csv trees.csv
run gv-report --by=job trees.csv
err_has '--by=job: these are links and trees, which have the parts tree and link' "no such part"
run gv-report -f prom trees.csv
err_has '--format=prom is for runs, these are links and trees' "no Prometheus"
run gv-report --expect-finished trees.csv
err_has '--expect-finished is for runs, these are links and trees' "nothing to expect"
done_testing

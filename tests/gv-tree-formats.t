#!/bin/sh
# gv-tree and the formats of others: nvidia-smi's matrix, NCCL's topology and graph
# files, MSCCL's XML (run by an interpreter), the tuner's CSV, Graphviz; the splits over
# kinds of links and servers.
. "${0%/*}/lib.sh"
topologies=$shared/data/topologies
cp "$src"/examples/man/links.csv .

bad() { # STATUS TEXT COMMAND...: ends so, saying that, writing nothing
	bad_status=$1 bad_text=$2
	shift 2
	run "$@"
	if [ "$status" -eq "$bad_status" ] && [ ! -s out ] && grep -qF -e "$bad_text" err; then pass "$bad_text"; else fail "$bad_text" err; fi
}
rate() { sed -n 's/.*: \([0-9.e+-]*\) of .*/\1/p' err | head -n 1; }

# ---- NCCL's topology files ----
# gpu BUS DEV LINKS...: a GPU in its PCIe slot; LINKS are BUS:COUNT
gpu() {
	printf '<pci busid="0000:%s:00.0" class="0x030200" link_speed="8 GT/s" link_width="16">\n<gpu dev="%s" sm="70" rank="%s" gdr="0">\n' "$1" "$2" "$2"
	shift 2
	for gpu_link in "$@"; do printf '<nvlink target="0000:%s:00.0" count="%s" tclass="0x030200"/>\n' "${gpu_link%:*}" "${gpu_link#*:}"; done
	printf '</gpu>\n</pci>\n'
}
cpu='<cpu numaid="0" affinity="ffff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="79">'
system() { printf '<system version="1">\n%s\n' "$cpu" && cat && printf '</cpu>\n</system>\n'; }
{
	gpu 06 0 07:2
	gpu 07 1 06:2
} | system >two.xml
run gv-tree --export=links two.xml
is_out "two GPUs of one socket" <<'E2'
src,dst,gbytes_per_s,kind
gpu0,gpu1,50,NV2
gpu1,gpu0,50,NV2
gpu0,cpu0,12,PHB
cpu0,gpu0,12,PHB
gpu1,cpu0,12,PHB
cpu0,gpu1,12,PHB
E2
run gv-tree --export=links --lane=20GB/s two.xml
ok "lanes as one says" grep -q '^gpu0,gpu1,40,NV2$' out
for lane in .25 1 1.5 25; do
	for class in 0x030200 0x068000; do
		sed "s/count=\"2\" tclass=\"0x030200\"/count=\"3\" tclass=\"$class\"/" two.xml >lane.xml
		gv-tree --export=links --lane=${lane}GB/s lane.xml | awk -F, -v lane=$lane '$4 == "NV3" { n += $3 == 3 * lane } END { print n }'
	done
done >got
printf '%s\n' 2 4 2 4 2 4 2 4 >want
same_file got want "of any rate, to GPUs and to NVSwitches"
# what NCCL is going to see is counted
gpu 06 0 | system >one.xml
{ gpu 06 0 07:2 && gpu 07 1; } | system >half.xml
sed 's/"2" tclass="0x030200"/"1" tclass="0x068000"/' half.xml >lane.xml
for f in two one half lane; do gv-tree --lint $f.xml; done | sed -n 's/^1,note,//p' >out
is_out "the note of --lint" <<'E2'
"2 GPUs, 2 directed NVLink pairs, 0 lanes to NVSwitches, 8 of 256 elements"
"1 GPU, 0 directed NVLink pairs, 0 lanes to NVSwitches, 4 of 256 elements"
"2 GPUs, 1 directed NVLink pair, 0 lanes to NVSwitches, 7 of 256 elements"
"2 GPUs, 0 directed NVLink pairs, 1 lane to NVSwitches, 7 of 256 elements"
E2
run gv-tree -v --kind=NV two.xml
ok "NVLinks alone" grep -q ': 50 of 50 GB/s' err
# two sockets, whose link is as NCCL has it for the processor
while read -r gbytes_per_s which; do
	{
		echo '<system version="1">'
		for g in 0 1; do
			printf '<cpu numaid="%s" affinity="ffff" %s>\n' "$g" "$which"
			gpu "0$g" "$g"
			echo '</cpu>'
		done
		echo '</system>'
	} >sockets.xml
	gv-tree --export=links sockets.xml | sed -n 's/^cpu0,cpu1,\([^,]*\),SYS$/\1/p' >got
	ok "between sockets: $gbytes_per_s GB/s, $which" [ "$(cat got)" = "$gbytes_per_s" ]
done <<E2
6 arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="79"
10 arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85"
10 arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="142"
22 arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143"
40 arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="207"
16 arch="x86_64" vendor="AuthenticAMD" familyid="143" modelid="49"
32 arch="ppc64" vendor="IBM" familyid="0" modelid="0"
E2
# NVLinks have the lanes of their GPU; what is between two goes with most
printf '%s\n' '59 50' '60 40' '61 50' '70 50' '80 50' '85 50' '86 28.125' '87 50' '89 50' '90 50' '99 50' '100 100' '101 100' '120 100' >want
while read -r sm _; do
	sed "s/sm=\"70\"/sm=\"$sm\"/" two.xml >sm.xml
	echo "$sm $(gv-tree --export=links sm.xml | sed -n 's/^gpu0,gpu1,\([^,]*\),NV2$/\1/p')"
done <want >got
same_file got want "lanes by the compute capability"
# PCIe by generation and lanes, as NCCL counts; 8 GT/s and 16 lanes where it does not say
for pci_width in 1 8 16; do
	for pci_speed in '2.5 GT/s' '5 GT/s' '5.0 GT/s' '8 GT/s' '8.0 GT/s' '16 GT/s' '16.0 GT/s' '32 GT/s' '32.0 GT/s' '64.0 GT/s' 'x' '8 GT/s and' ''; do
		for pci_tail in '' ' PCIe'; do
			sed "s|link_speed=\"8 GT/s\" link_width=\"16\"|link_speed=\"$pci_speed$pci_tail\" link_width=\"$pci_width\"|" two.xml >pci.xml
			echo "$pci_speed$pci_tail,$pci_width $(gv-tree -q --export=links pci.xml 2>/dev/null | sed -n 's/^gpu0,cpu0,\([^,]*\),.*/\1/p')"
		done
	done
done >got
# a lane of 8 GT/s is .75 GB/s, of 5 and less half and a quarter, and so on
sed 's/ [^ ]*$//' got | awk -F, '{ g = $1; sub(/ PCIe$/, "", g)
	r = g == "2.5 GT/s" ? .1875 : g ~ /^5(\.0)? GT\/s$/ ? .375 : g ~ /^16(\.0)? GT\/s$/ ? 1.5 : g ~ /^32(\.0)? GT\/s$/ ? 3 : g == "64.0 GT/s" ? 6 : .75
	print $0, r * $2 }' >want
same_file got want "PCIe by generation and lanes"
while read -r gbytes_per_s which; do
	sed "s/id=\"[01]\" affinity=\"ffff\" [^>]*/&/; s/arch=[^>]*/$which/" sockets.xml >other.xml
	ok "between sockets: $gbytes_per_s GB/s, $which" [ "$(gv-tree -q --export=links other.xml | sed -n 's/^cpu0,cpu1,\([^,]*\),SYS$/\1/p')" = "$gbytes_per_s" ]
done <<E2
6 arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="84"
10 arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="86"
22 arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="206"
40 arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="208"
E2
# a guess where the processor is not one that NCCL's model has
while read -r gbytes_per_s which; do
	sed "s/arch=[^>]*/$which/" sockets.xml >other.xml
	ok "between sockets: $gbytes_per_s GB/s, $which" [ "$(gv-tree -q --export=links other.xml | sed -n 's/^cpu0,cpu1,\([^,]*\),SYS$/\1/p')" = "$gbytes_per_s" ]
done <<E2
6 arch="x86_64" vendor="Transmeta" familyid="6" modelid="207"
6 arch="x86_64" vendor="GenuineIntel" familyid="7" modelid="207"
6 arch="x86_64" familyid="6" modelid="207"
40 vendor="GenuineIntel" familyid="6" modelid="207"
6 arch="arm64"
E2
for pci_width in '"0"' '"-8"' '"wide"' ''; do
	sed "s/ link_width=\"16\"/${pci_width:+ link_width=$pci_width}/" two.xml >pci.xml
	ok "16 lanes, as nothing else is said: $pci_width" [ "$(gv-tree -q --export=links pci.xml | sed -n 's/^gpu0,cpu0,\([^,]*\),.*/\1/p')" = 12 ]
done
run gv-tree -v --kind=PHB,NV2 two.xml
ok "a kind by its whole name" grep -q ': 62 of 62 GB/s' err
{
	for g in 0 1 2; do
		printf '<pci busid="0000:0%s:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="8">\n<gpu dev="%s" sm="90" rank="%s" gdr="1">\n' "$g" "$g" "$g"
		printf '<nvlink target="fffffff:ffff:ff" count="18" tclass="0x068000"/>\n</gpu>\n</pci>\n'
	done
} | system >switched.xml
run gv-tree --export=links -g 0,1 switched.xml
is_out "NVSwitches are one, PCIe by its lanes" <<'E2'
src,dst,gbytes_per_s,kind
gpu0,nvs0,450,NV18
nvs0,gpu0,450,NV18
gpu1,nvs0,450,NV18
nvs0,gpu1,450,NV18
gpu0,cpu0,12,PHB
cpu0,gpu0,12,PHB
gpu1,cpu0,12,PHB
cpu0,gpu1,12,PHB
E2
if [ -d "$topologies" ]; then
	for machine in dgx1v dgx1p; do
		gv-tree --export=links "$topologies/formats/${machine}_nccl_topo.xml" | sort >got
		sort "$topologies/${machine}_full.csv" >want
		ok "$machine: the links of its own table" cmp got want
		run gv-tree --lint "$topologies/formats/${machine}_nccl_topo.xml"
		is_status 0 "$machine: nothing that NCCL would not take"
		ok "$machine: and what it sees" grep -q '^1,note,"8 GPUs, 32 directed NVLink pairs, ' out
	done
else
	skip "no shared data: topology files"
fi

# finding TEXT FILE: it is among what --lint writes; errors end with 1
finding() {
	run gv-tree --lint "$2"
	if grep -qF -e "$1" out && case $(grep -c ',error,' out) in 0) [ "$status" -eq 0 ] ;; *) [ "$status" -eq 1 ] ;; esac then pass "lint: $1"; else fail "lint: $1" out err; fi
}
# with OLD NEW: two.xml with the first such text changed
with() { awk -v old="$1" -v new="$2" '!done && (i = index($0, old)) { $0 = substr($0, 1, i - 1) new substr($0, i + length(old)); done = 1 } 1' two.xml >changed.xml; }
{ printf '<?xml version="1.0"?>\n' && cat two.xml; } >prolog.xml
finding '1,error,an XML prolog' prolog.xml
{ printf '<!DOCTYPE system>\n' && cat two.xml; } >doctype.xml
finding '1,error,a declaration' doctype.xml
# nothing NAME FILE: NCCL takes it as it is, and sees what it sees in two.xml
gv-tree --lint two.xml >want
gv-tree --export=links two.xml >links
nothing() {
	run gv-tree --lint "$2"
	ok "$1: nothing to say" eval '[ $status -eq 0 ] && cmp -s out want'
	run gv-tree --export=links "$2"
	same_file out links "$1: the same links"
}
sed 's/$/\r/' two.xml >changed.xml
nothing "carriage returns between elements" changed.xml
tr '"' "'" <two.xml >changed.xml
nothing "single quotes" changed.xml
with ' gdr="0">' ' gdr="0" >'
nothing "a space at the end of a tag" changed.xml
with 'arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="79"' 'arch="ppc64"'
nothing "ppc64" changed.xml
with 'arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="79"' 'arch="arm64"'
nothing "arm64" changed.xml
{ cat two.xml && printf '<system version="1">\n</system>\n'; } >changed.xml
run gv-tree --export=links changed.xml
same_file out links "the first system counts"
echo '</system>' >changed.xml
finding '1,error,a closing tag that closes no open element' changed.xml
with '</gpu>' '</gpu><></>'
finding '6,warning, in pci: NCCL passes over this element' changed.xml
{ printf '<!-- a > b\n-->' && cat two.xml; } >comment.xml
run gv-tree --lint comment.xml
is_status 0 "comments are fine"
{ printf '<!-- never' && tr -d '>' <two.xml; } >comment.xml
finding 'error,a comment that does not end' comment.xml
with '<gpu' "$(printf '\t<gpu')"
finding '4,error,a tab between elements' changed.xml
with '<gpu' 'x<gpu'
finding '4,error,"text where ""<"" should be"' changed.xml
with ' sm="70"' '  sm="70"'
finding '4,warning,gpu: two spaces' changed.xml
with ' sm="70"' '   sm="70"'
run gv-tree --lint changed.xml
ok "once for each element" [ "$(grep -c ',warning,gpu: two spaces' out)" -eq 1 ]
with ' sm="70"' "$(printf '\nsm="70"')"
finding 'error,a line break inside a tag' changed.xml
with ' sm="70"' ' sm=70'
finding '4,error,a value that is not in quotes' changed.xml
with 'dev="0" sm' 'dev="0"sm'
finding '4,error,"a tag without "">"": attributes have one space between them"' changed.xml
with '<gpu ' '<gpu='
finding '4,error,a value where an element' changed.xml
with '"70"' "\"$(printf '%0254d' 0)\""
finding '4,error,a value of more than 253 bytes' changed.xml
with '<gpu ' "<$(printf '%0260d' 0) "
finding '4,error,a name of more than 253 bytes' changed.xml
with ' sm="70"' "$(for i in $(seq 17); do printf ' a%s="1"' "$i"; done)"
finding 'gpu: more than 16 attributes: NCCL passes over' changed.xml
with '</gpu>' '</gpux>'
finding '6,error,a closing tag that closes no open element' changed.xml
with '</gpu>' '</gpu x>'
finding '6,error,a closing tag with more than a name' changed.xml
with '</gpu>' '</gpu><a/b'
finding 'error,"""/"" without "">"" behind it"' changed.xml
sed '$d' two.xml >changed.xml
finding 'error,the file ends inside an element' changed.xml
with '</gpu>' '</gpu><fan speed="3"><blade/></fan>'
finding '6,warning,fan in pci: NCCL passes over this element' changed.xml
yes '<a>' | head -n 300 >changed.xml
finding 'error,more than 256 elements in each other' changed.xml
for g in $(seq 130); do printf '<pci busid="0000:06:00.0"/>\n'; done | system >changed.xml
finding 'error,more than 128 elements in one' changed.xml
{ for c in 0 1 2; do echo "$cpu" | sed "s/id=\"0\"/id=\"$c\"/" && for g in $(seq 10 69); do gpu "$g" "$g"; done && echo '</cpu>'; done; } >body
{ echo '<system version="1">' && cat body && echo '</system>'; } >changed.xml
finding 'error,more than 256 elements' changed.xml
: >nothing.xml
finding '1,error,"no <system version=""1"">"' nothing.xml
with 'version="1"' 'version="2"'
finding '1,error,system: version 2: NCCL reads version 1' changed.xml
with ' version="1"' ''
finding '1,error,system: version is not there: NCCL reads version 1' changed.xml
with 'x86_64' 'sparc'
finding '2,error,"cpu: arch=""sparc"": NCCL knows x86_64' changed.xml
with 'GenuineIntel' 'Transmeta'
finding '2,warning,"cpu: vendor=""Transmeta"": the rate between sockets is a guess"' changed.xml
with ' modelid="79"' ''
finding '2,warning,"cpu: no modelid: NCCL asks the machine for it' changed.xml
with 'modelid="79"' 'modelid="new"'
finding '2,warning,"cpu: modelid=""new"": NCCL reads this as a number' changed.xml
with ' busid="0000:06:00.0"' ''
finding '3,error,pci: no busid' changed.xml
while read -r line name keys; do
	for key in $keys; do
		sed "${line}s/ $key=\"[^\"]*\"//" two.xml >changed.xml
		finding "$line,warning,\"$name: no $key: NCCL asks the machine for it" changed.xml
	done
done <<E2
2 cpu numaid affinity arch vendor familyid
3 pci class link_speed link_width
4 gpu dev sm
E2
with '0000:06:00.0' '06:00.0'
finding '3,error,"pci: busid=""06:00.0"": expected like 0000:3b:00.0"' changed.xml
for bus in 0000:g6:00.0 0000-06:00.0 0000:06-00.0 0000:06:00:0 0000:06:00.00 000:006:00.0; do
	with 0000:06:00.0 $bus
	finding "3,error,\"pci: busid=\"\"$bus\"\": expected like 0000:3b:00.0\"" changed.xml
done
with '0000:06:00.0' 'ABCD:eF:00.9'
run gv-tree --lint changed.xml
ok "digits and letters of both cases are a bus" eval '! grep -q "expected like" out'
with '0000:06:00.0' '0000:07:00.0'
finding 'error,"pci: busid=""0000:07:00.0"" is there twice' changed.xml
with '8 GT/s' '9 GT/s'
finding '3,warning,"pci: link_speed=""9 GT/s"" is none that NCCL knows: it takes 8 GT/s"' changed.xml
with '<nvlink target="0000:07:00.0" count="2" tclass="0x030200"/>' ''
finding '4,warning,gpu 0: no nvlink: NCCL asks NVML' changed.xml
finding 'warning,"nvlink: 2 lanes to 0000:06:00.0, which has 0 back"' changed.xml
with 'count="2"' 'count="0"'
finding '5,error,"nvlink: no count of lanes, a whole number from 1 to 4096"' changed.xml
with 'count="2"' 'count="9223372036854775807"'
finding '5,error,"nvlink: no count of lanes, a whole number from 1 to 4096"' changed.xml
with 'count="2"' 'count="4097"'
finding '5,error,"nvlink: no count of lanes, a whole number from 1 to 4096"' changed.xml
with 'count="2"' 'count="4096"'
run gv-tree --lint changed.xml
ok "4096 lanes are some" eval '! grep -q "no count of lanes" out'
with ' target="0000:07:00.0"' ''
finding '5,error,nvlink: no target' changed.xml
with 'target="0000:07:00.0"' 'target="0000:99:00.0"'
finding '5,warning,"nvlink: target=""0000:99:00.0"" is no GPU of this file: NCCL drops the link"' changed.xml
with 'target="0000:07:00.0"' 'target="0000:06:00.0"'
finding '5,error,nvlink: a link to the GPU itself' changed.xml
printf '' | system >changed.xml
finding 'error,no gpu in any pci of any cpu' changed.xml
with ' sm="70"' ' sm=70'
bad 2 'changed.xml:4: a value that is not in quotes' gv-tree changed.xml
{ gpu 06 0 07:2 && gpu 07 1 06:2 && printf '<pci busid="0000:08:00.0" class="0x020000" link_speed="8 GT/s" link_width="16">\n<nic>\n<net name="mlx0" dev="0"/>\n</nic>\n</pci>\n'; } | system >nic.xml
run gv-tree --export=links nic.xml
same_file out links "a network card is no GPU"
bad 2 'no.xml: cannot open: No such file or directory' gv-tree --lint no.xml
bad 2 'no/x: cannot create: No such file or directory' gv-tree --lint -o no/x two.xml
bad 2 'no/x: cannot create: No such file or directory' gv-tree -o no/x two.xml
run gv-tree --lint --tsv two.xml
ok "tabs" grep -q '^line	level	message$' out

for option in --lint --export=links --export=dot --export=msccl; do
	run sh -c "gv-tree $option two.xml >/dev/full"
	is_status 2 "$option on a full disk"
done
printf '\357\273\277' | cat - two.xml >bom.xml
finding '1,error,"text where ""<"" should be"' bom.xml
run gv-tree -v --kind=NV bom.xml
ok "a mark of the byte order is no table's name" [ "$status" -eq 2 ]

# ---- nvidia-smi topo -m ----
if [ -d "$topologies" ]; then
	for machine in dgx1v dgx1p; do
		lane=$(awk -F, '$4 == "NV1" { print $3; exit }' "$topologies/$machine.csv")
		gv-tree --export=links --lane="${lane}GB/s" "$topologies/formats/${machine}_smi_topo.txt" | grep ,NV | sort >got
		grep ,NV "$topologies/$machine.csv" | sort >want
		ok "$machine: the NVLinks of its own table" cmp got want
	done
	run gv-tree -v -c allgather --kind=NV "$topologies/formats/dgxa100_smi_topo.txt"
	ok "twelve lanes to everybody are lanes to a switch" [ "$(rate)" = 342.857 ]
	run gv-tree -v "$topologies/formats/pcie8_smi_topo.txt"
	ok "switches of PCIe, two sockets" [ "$(rate)" = 6 ]
else
	skip "no shared data: matrices"
fi
# matrix: turns the spaces of the lines into tabs, with what nvidia-smi has around the cells
matrix() { sed 's/ /	/g; s/	X/	 X /g; 1s/GPU\([0-9]*\)/\x1b[4mGPU\1\x1b[0m/g'; }
matrix >cards.txt <<'E2'
 GPU0 GPU1 GPU2 GPU3 NIC0 CPU_Affinity
GPU0 X NV4 SYS SYS PIX 0-7
GPU1 NV4 X SYS SYS PIX 0-7
GPU2 SYS SYS X NODE SYS 8-15
GPU3 SYS SYS NODE X SYS 8-15
NIC0 PIX PIX SYS SYS X
E2
run gv-tree --export=links cards.txt
is_out "what NVLinks hide, network cards tell" <<'E2'
src,dst,gbytes_per_s,kind
gpu0,gpu1,100,NV4
gpu1,gpu0,100,NV4
gpu0,plx0,12,PIX
plx0,gpu0,12,PIX
plx0,cpu0,12,PHB
cpu0,plx0,12,PHB
gpu1,plx0,12,PIX
plx0,gpu1,12,PIX
gpu2,cpu1,12,PHB
cpu1,gpu2,12,PHB
gpu3,cpu1,12,PHB
cpu1,gpu3,12,PHB
cpu0,cpu1,6,SYS
cpu1,cpu0,6,SYS
E2
gv-tree --export=links cards.txt >want
{ printf '\r\n\n' && sed 's/$/\r/' cards.txt; } >m.txt
run gv-tree --export=links m.txt
same_file out want "carriage returns, and blank lines in front"
# two meet at a bridge, behind one that is alone and in front of others
matrix >m.txt <<'E2'
 GPU0 GPU1 GPU2 GPU3 GPU4 NIC0
GPU0 X PHB PHB SYS SYS SYS
GPU1 PHB X PIX SYS SYS SYS
GPU2 PHB PIX X SYS SYS SYS
GPU3 SYS SYS SYS X PXB PIX
GPU4 SYS SYS SYS PXB X SYS
NIC0 SYS SYS SYS PIX SYS X
E2
run gv-tree --export=links m.txt
sed 1d out | cut -d, -f1,2 | grep '^gpu\|^plx.,cpu' | paste -s -d ' ' - >got && mv got out
is_out "bridges are counted where several meet" <<'E2'
gpu0,cpu0 gpu1,plx0 plx0,cpu0 gpu2,plx0 gpu3,pxb1 gpu4,pxb1
E2
printf ' GPU0 GPU1\nGPU0 X SYS\nGPU1 PIX X\n' | matrix >m.txt
bad 2 'm.txt:3: GPU1 to GPU0 is not what GPU0 to GPU1 is' gv-tree m.txt
for lanes in NV0 NV NVx NV1x; do
	printf ' GPU0 GPU1\nGPU0 X %s\nGPU1 %s X\n' $lanes $lanes | matrix >m.txt
	bad 2 "m.txt:2: GPU1: \"$lanes\": expected NV#, PIX, PXB, PHB, NODE or SYS" gv-tree m.txt
done
printf ' GPU0 GPU100000\nGPU0 X NV999\nGPU100000 NV999 X\n' | matrix >m.txt
ok "numbers up to 100000, lanes up to 999" [ "$(gv-tree --export=links --lane=1GB/s m.txt | grep NV | paste -s -d ' ' -)" = 'gpu0,nvs0,999,NV999 nvs0,gpu0,999,NV999 gpu100000,nvs0,999,NV999 nvs0,gpu100000,999,NV999' ]
# headers of something else
for header in ' GPU0 GPU100001' 'x GPU0 GPU1' ' NIC0 GPU0' ' x y' ' GPUx GPU1'; do
	printf '%s\nGPU0 X PIX\nGPU1 PIX X\n' "$header" | matrix | tr -d '\033' >m.txt
	run gv-tree m.txt
	ok "no matrix:$header" eval '[ $status -eq 2 ] && ! grep -q "^gv-tree: m.txt:[23]" err'
done
printf '\033[4' >m.txt
run gv-tree m.txt
is_status 2 "a terminal's code that does not end is no table"
printf ' GPU0 GPU1\nGPU0 X PIX\nGPU1 PIX X \033[0' | matrix >m.txt
ok "nor does it hurt at the end of a cell" [ "$(gv-tree --export=links m.txt | wc -l)" -eq 7 ]
printf ' GPU0 GPU1 GPU2\nGPU0 X NV1 NV1\nGPU1 NV1 X NV1\nGPU2 NV1 NV1 X\n' | matrix >m.txt
ok "NVLinks that hide everything: one socket" [ "$(gv-tree --export=links m.txt | grep -c -e ',cpu0,.*PHB' -e SYS)" = 3 ]
printf ' GPU0 GPU1\nGPU0 X NV2\nGPU1 NV3 X\n' | matrix >m.txt
bad 2 'm.txt:3: GPU1 to GPU0 is not what GPU0 to GPU1 is' gv-tree m.txt
printf ' GPU0 GPU1\nGPU0 X NV1000\nGPU1 NV1000 X\n' | matrix >m.txt
bad 2 'm.txt:2: GPU1: "NV1000": expected NV#, PIX, PXB, PHB, NODE or SYS' gv-tree --lane=1GB/s m.txt
printf ' GPU0 GPU1\nGPU0 X FAR\nGPU1 FAR X\n' | matrix >m.txt
bad 2 'm.txt:2: GPU1: "FAR": expected NV#, PIX, PXB, PHB, NODE or SYS' gv-tree m.txt
printf ' GPU0 GPU1\nGPU0 PIX PIX\nGPU1 PIX X\n' | matrix >m.txt
bad 2 'm.txt:2: GPU0: "PIX" where a GPU meets itself: expected X' gv-tree m.txt
printf ' GPU0 GPU1\nGPU0 X\nGPU1 PIX X\n' | matrix >m.txt
bad 2 'm.txt:2: 1 cells behind the name; the header names 2 devices' gv-tree m.txt
printf ' GPU0 GPU1\nGPU0 X PIX\n' | matrix >m.txt
bad 2 'm.txt: GPU1 has no row' gv-tree m.txt
printf ' GPU0 GPU1\nGPU0 X PIX\nGPU0 X PIX\n' | matrix >m.txt
bad 2 'm.txt:3: GPU0 has a row already' gv-tree m.txt
printf ' GPU0 GPU1\nGPU0 X PIX\nGPU7 X PIX\n' | matrix >m.txt
bad 2 'm.txt:3: GPU7 has no column' gv-tree m.txt

head -c 67108864 /dev/zero | tr '\000' ' ' | gzip -1 >blanks.gz
run gv-tree blanks.gz
ok "64 MiB are read" sh -c '! grep "more than 64 MiB" err'
printf ' ' | gzip -1 >>blanks.gz
bad 2 'blanks.gz: more than 64 MiB are no table of links' gv-tree blanks.gz

# ---- kinds and servers ----
printf 'src,dst,gbytes_per_s\ngpu0,gpu1,1\ngpu1,gpu0,1\n' >pair.csv
bad 2 'pair.csv:1: missing column "kind"' gv-tree --kind=NV pair.csv
bad 2 'pair.csv:1: missing column "kind"' gv-tree --hybrid=0 pair.csv
bad 2 '--score writes a table of sets: not with --export' gv-tree --score=2 --export=dot pair.csv
bad 2 '--lane: fast: expected a rate such as 25GB/s' gv-tree --lane=fast links.csv
bad 2 '--lane: 1001GB/s: expected a rate such as 25GB/s' gv-tree --lane=1001GB/s links.csv
bad 2 '--hybrid splits links by their kind and writes a table: not with --export, --kind or --score' gv-tree --hybrid=0 --kind=NV links.csv
bad 2 '--hybrid splits links by their kind and writes a table: not with --export, --kind or --score' gv-tree --hybrid=0 --score=2 links.csv
bad 2 '--hybrid: soon: expected a time such as 20us' gv-tree --hybrid=soon links.csv
bad 2 '--size: 0: expected bytes such as 64MiB' gv-tree --hybrid=1us --size=0 links.csv
bad 2 '--hybrid=TIME and --size=BYTES go together' gv-tree --hybrid=1us links.csv
bad 2 '--hybrid=TIME and --size=BYTES go together' gv-tree --size=1MB links.csv
bad 2 '--hybrid splits links by their kind and writes a table: not with --export, --kind or --score' gv-tree --hybrid=0 --export=dot links.csv
bad 2 'phases are a plan for allreduce, not for broadcast' gv-tree -m phases -c broadcast links.csv
bad 1 'phases are for several servers (GPUs named SERVER.gpuN); there is one' gv-tree -m phases links.csv
if [ -d "$topologies" ]; then
	# B_N = 150, B_P = 6: 156 at once; a switch of 20 us costs 20e-6 x 6 x 150 / 156 of 10^8 bytes
	run gv-tree -v --hybrid=0 -c broadcast "$topologies/dgx1v_full.csv"
	ok "both kinds of links, published 2 to 5 GB/s more" grep -q 'hybrid: 156 GB/s; over the host goes 3.846 %' err
	run gv-tree -v --hybrid=20us --size=100MB -c broadcast "$topologies/dgx1v_full.csv"
	ok "what changing over costs" grep -q 'hybrid: 155.813 GB/s; over the host goes 3.731 %' err
	awk -F, 'NR > 1 && !($1 in s) { s[$1]; sum += $3 } END { printf "%.3f\n", sum }' out >got
	ok "weights are what flows" grep -qx 155.813 got
	run gv-tree -v --hybrid=1ms --size=100KB -c broadcast "$topologies/dgx1v_full.csv"
	ok "small buffers stay on NVLinks" grep -q 'hybrid: 150 GB/s; over the host goes 0 %' err
	run gv-tree -v --hybrid=0 "$topologies/dgx1v.csv"
	ok "a host without links has no part" grep -q 'hybrid: 85.7143 GB/s; over the host goes 0 %' err
	# what no allreduce passes, and Blink's phases
	while read -r name bound phases; do
		run gv-tree -v "$topologies/$name.csv"
		ok "$name: an allreduce reaches what none passes, $bound" [ "$(rate)" = "$bound" ]
		run gv-tree -v -m phases "$topologies/$name.csv"
		ok "$name: in three phases $phases" [ "$(rate)" = "$phases" ]
		gpus=$(sed 1d "$topologies/$name.csv" | cut -d, -f1 | grep -E '(^|\.)gpu[0-9]*$' | sort -u | wc -l)
		awk -F, -v gpus="$gpus" -v lowered=1 -f "$src/tests/tree_check.awk" "$topologies/$name.csv" out >got
		ok "$name: phases are trees" grep -q '^[0-9.]* [0-9]*$' got
	done <<-E2
		dgx1v_x2_40gbe 5 5
		dgx1v_3plus5_40gbe 5 5
		dgx1v_x2_4x100g 50 50
		dgxa100_x2 173.333 171.429
		dgxh100_x2 266.667 257.143
		mi250_x2 177.067 118.207
	E2
else
	skip "no shared data: kinds of links, servers"
fi
printf 'src,dst,gbytes_per_s\ngpu0,gpu1,1\ngpu1,gpu2,1\ngpu2,gpu0,1\n' >circle.csv
bad 1 'an allreduce uses links up and down, and those that have two directions do not join all GPUs' gv-tree circle.csv

# ---- to NCCL ----
printf 'src,dst,gbytes_per_s\n' >ring.csv
for g in 0 1 2 11; do for h in 0 1 2 11; do [ $g = $h ] || echo "gpu$g,gpu$h,20"; done; done >>ring.csv
run gv-tree -m ring --export=nccl-graph ring.csv
{
	grep -c '<graph id="0" pattern="4" crossnic="0" nchannels="2" speedintra="20" speedinter="20" latencyinter="0" typeintra="NVL"' out
	grep -c '<graph id="1" pattern="3" ' out
	grep -c '<channel>' out
	grep -c '<gpu dev="b"/>' out
	sed -n 1p out
} >got
# of the complete graph of four, two rings and no more
printf '1\n1\n4\n4\n<graphs version="1">\n' | ok "two rings, twice, numbers in hex" cmp got -
run gv-tree -m chain -c broadcast --export=nccl-graph ring.csv
ok "chains are no rings" eval '! grep -q "id=\"0\"" out && grep -q "id=\"1\" pattern=\"3\"" out'
{
	echo src,dst,gbytes_per_s
	for g in $(seq 0 3); do printf 'gpu%d,nvs,60\nnvs,gpu%d,60\n' "$g" "$g"; done
} >star.csv
run gv-tree -m ring --export=nccl-graph star.csv
ok "a ring over a switch" grep -q 'nchannels="1" speedintra="60" .* typeintra="SYS"' out
printf 'src,dst,gbytes_per_s\ngpu0,gpu1,20\ngpu1,gpu0,20\ngpu1,gpu2,20\ngpu2,gpu1,20\n' >line.csv
run gv-tree -m relayed -c broadcast --export=nccl-graph line.csv
ok "a ring that passes a GPU twice" grep -q 'nchannels="1" speedintra="20" .* typeintra="NVB"' out
run gv-tree -m ring -c allgather --export=tuner ring.csv
is_out "the tuner's table" <<'E2'
# collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks
allgather,4194304,4294967295,ring,simple,2,1,4
E2
run gv-tree -m chain --export=tuner ring.csv
ok "NCCL calls chains trees" grep -q '^allreduce,4194304,4294967295,tree,simple,' out
bad 1 'NCCL takes rings and chains, no trees: use --method=ring or chain' gv-tree --export=tuner ring.csv
printf 'src,dst,gbytes_per_s\ngpux,gpu1,1\ngpu1,gpux,1\n' >named.csv
bad 1 '"gpux": NCCL knows a GPU by its number' gv-tree -m ring --export=nccl-graph named.csv
printf 'src,dst,gbytes_per_s\ngpu-1,gpu1,1\ngpu1,gpu-1,1\n' >named.csv
bad 1 '"gpu-1": NCCL knows a GPU by its number' gv-tree -m ring --export=nccl-graph named.csv
printf 'src,dst,gbytes_per_s\na.gpu0,b.gpu1,1\nb.gpu1,a.gpu0,1\n' >named.csv
bad 1 'b.gpu1 is of another server than a.gpu0: a graph file has one' gv-tree -m ring --export=nccl-graph named.csv
{
	echo src,dst,gbytes_per_s
	for g in $(seq 0 128); do printf 'gpu%d,nvs,60\nnvs,gpu%d,60\n' "$g" "$g"; done
} >many.csv
bad 1 'NCCL reads at most 128 GPUs of a channel from a file' gv-tree -m ring -c broadcast --export=nccl-graph many.csv
run gv-tree -m ring -c broadcast --export=tuner -o kept.csv named.csv
ok "servers are counted" grep -q ',1,2,2$' kept.csv
bad 1 'NCCL takes rings and chains' gv-tree --export=tuner -o kept.csv ring.csv
ok "what cannot be written leaves the old file" grep -q ',1,2,2$' kept.csv

# ---- to MSCCL ----
if command -v python3 >/dev/null 2>&1; then
	# runs NAME LINKS OPTION...: the algorithm does what the collective says, in any order
	runs() {
		runs_name=$1
		shift
		run gv-tree --export=msccl -o algorithm.xml "$@"
		python3 "$src/tests/msccl_run.py" algorithm.xml >got 2>&1
		if [ "$status" -eq 0 ] && grep -q '^ok ' got; then pass "MSCCL: $runs_name"; else fail "MSCCL: $runs_name" got err; fi
	}
	for of in allreduce allgather broadcast; do
		runs "$of on a square" -c $of links.csv
		runs "$of over a switch" -c $of star.csv
		if [ -d "$topologies" ]; then
			runs "$of on a DGX-1V" -c $of --trees=1 "$topologies/dgx1v.csv"
			runs "$of on six GPUs of a DGX-1P" -c $of --trees=2 "$topologies/alloc/dgx1p_0-1-3-4-5-7.csv"
		else
			skip "no shared data: $of on DGX-1s"
		fi
	done
	runs "rings" -c allgather -m ring ring.csv
	printf 'src,dst,gbytes_per_s\ngpu0,gpu1,100\ngpu1,gpu0,100\ngpu1,gpu2,1\ngpu2,gpu1,1\ngpu0,gpu2,99\ngpu2,gpu0,99\n' >uneven.csv
	runs "trees of which one has a hundred times the other" uneven.csv
else
	skip "no python3: algorithms of MSCCL"
fi
bad 1 'msccl is written of allreduce, allgather and broadcast: the sums of a reduce' gv-tree -c reduce --export=msccl links.csv
bad 1 'MSCCL has 32 channels, one for each of 129 trees: bound them with --trees' gv-tree -c allgather --export=msccl many.csv
printf 'src,dst,gbytes_per_s\ngpu0,gpu1,.035999\ngpu1,gpu0,.035999\ngpu1,gpu2,.018\ngpu2,gpu1,.018\ngpu0,gpu2,.017999\ngpu2,gpu0,.017999\n' >fine.csv
bad 1 'MSCCL takes 216 thread blocks of a GPU and reads 1024 elements: the plan has' gv-tree -c allreduce --export=msccl fine.csv
printf 'src,dst,gbytes_per_s\ngpu0,gpu1,7919.000001\ngpu1,gpu0,7919.000001\ngpu1,gpu2,7907.000013\ngpu2,gpu1,7907.000013\ngpu0,gpu2,7901.000117\ngpu2,gpu0,7901.000117\n' >digits.csv
bad 1 "the trees' weights have no small ratios: bound them with --trees" gv-tree --export=msccl digits.csv

# ---- Graphviz ----
run gv-tree --export=dot -c broadcast star.csv
ok "GPUs are boxes, switches are round" eval 'grep -q "\"gpu0\" \[shape=box\];" out && grep -q "\"nvs\" \[shape=ellipse\];" out'
ok "links in grey, trees in colours" eval 'grep -q "\"gpu1\" -> \"nvs\" .color=\"#BBBBBB\".*label=\"60\"" out && grep -q "color=\"#0072B2\", penwidth=2, tooltip=\"tree 0: " out'
printf 'src,dst,gbytes_per_s\n"gpu0""\\",gpu1,1\ngpu1,"gpu0""\\",1\n' >quoted.csv
run gv-tree --export=dot quoted.csv
ok "names that dot would end early" grep -qF '"gpu0\"\\" -> "gpu1"' out

done_testing

#!/bin/sh
# The reader and writer of tables, through a program that copies tables.
. "${0%/*}/lib.sh"

tabcat=$build/helpers/tabcat

# given FORMAT: what a test reads, in ./in
given() {
	# shellcheck disable=SC2059
	printf "$1" >in
}
# letters N: that many x
letters() { head -c "$1" /dev/zero | tr '\0' x; }
# copies NAME [OPTION...]: stdin (a printf format) is what must come out, by rows and by frames
copies() {
	name=$1
	shift
	# shellcheck disable=SC2059
	printf "$(cat)" >want
	run "$tabcat" "$@" in
	if [ "$status" -eq 0 ] && [ ! -s err ] && cmp -s want out; then pass "$name"; else fail "$name" want out err; fi
	run "$tabcat" -f "$@" in
	if [ "$status" -eq 0 ] && cmp -s want out; then pass "$name, whole"; else fail "$name, whole" want out err; fi
	run "$tabcat" -l "$@" in
	if [ "$status" -eq 0 ] && cmp -s want out; then pass "$name, libcsv"; else fail "$name, libcsv" want out err; fi
}
# refuses NAME [OPTION...]: stdin is the exact stderr but for the program's name; exit 2
refuses() {
	name=$1
	shift
	sed 's/^/tabcat: /' >want
	run "$tabcat" "$@" in
	if [ "$status" -eq 2 ] && cmp -s want err; then pass "$name"; else fail "$name" want err; fi
	run "$tabcat" -f "$@" in
	if [ "$status" -eq 2 ] && cmp -s want err; then pass "$name, whole"; else fail "$name, whole" want err; fi
	run "$tabcat" -l "$@" in
	if [ "$status" -eq 2 ] && cmp -s want err; then pass "$name, libcsv"; else fail "$name, libcsv" want err; fi
}

# ---- what is read ----
given 'a,b\n1,2\n'
copies 'a plain table' <<'E'
a,b\n1,2\n
E
given 'a,b\n1,2'
copies 'no line feed at the end' <<'E'
a,b\n1,2\n
E
given 'a,b'
copies 'a header alone, without a line feed' <<'E'
a,b\n
E
given 'a,b\r\n1,2\r\n\r\n'
copies 'CRLF, and an empty line at the end' <<'E'
a,b\n1,2\n
E
given 'a,b\r\n1,2\n3,4\r\n"5",6\r\n7,"8"\n9,"1\r\n0"\r\n'
copies 'CRLF and LF mixed; a CRLF in a cell stays' <<'E'
a,b\n1,2\n3,4\n5,6\n7,8\n9,"1\r\n0"\n
E
given '\357\273\277a,b\n1,2\n'
copies 'a BOM' <<'E'
a,b\n1,2\n
E
given '\357\273\277"a","b"\n1,2\n'
copies 'a BOM before a quoted header' <<'E'
a,b\n1,2\n
E
given '\357\273\277a\tb\n1\t2\n'
copies 'a BOM before TSV' <<'E'
a,b\n1,2\n
E
given 'a,b\n1,\357\273\2772\n'
copies 'the bytes of a BOM in a cell' <<'E'
a,b\n1,\357\273\2772\n
E
given 'a,b\n" 1 ",  2\t\n,\n"",""\n'
copies 'spaces stay, empty cells' <<'E'
a,b\n 1 ,  2\t\n,\n,\n
E
given 'a,b\n"x ""y"" z","p,q"\n"1\n2\n\n3",\n'
copies 'quotes, commas and lines in cells' <<'E'
a,b\n"x ""y"" z","p,q"\n"1\n2\n\n3",\n
E
given 'a,b\n007,1e3\nTRUE,-0\n'
copies 'cells are copied byte for byte' <<'E'
a,b\n007,1e3\nTRUE,-0\n
E
given 'a b,"c,d","e""f",\303\251\n1,2,3,\377\n'
copies 'odd names, bytes that are no UTF-8' <<'E'
a b,"c,d","e""f",\303\251\n1,2,3,\377\n
E
given 'a\n""\nx\n""\n'
copies 'empty cells of one column are no empty lines' <<'E'
a\n""\nx\n""\n
E

# ---- TSV ----
given 'a\tb\n1\\t2\tx\\ny\n\\\\n\t\\r\n"q\t"\n\\x\t\\\n,\t\n'
copies 'TSV escapes; quotes and commas mean nothing' <<'E'
a,b\n1\t2,"x\ny"\n\\n,"\r"\n"""q",""""\n\\x,\\\n",",\n
E
copies 'TSV to TSV' -t <<'E'
a\tb\n1\\t2\tx\\ny\n\\\\n\t\\r\n"q\t"\n\\\\x\t\\\\\n,\t\n
E
given '"a\tb",c\n1,2\n'
copies 'a tab inside quotes is no delimiter' <<'E'
"a\tb",c\n1,2\n
E
given '"a""\tb",c\n1,2\n'
copies 'a tab behind an escaped quote is inside quotes, too' <<'E'
"a""\tb",c\n1,2\n
E
given 'a,"\nb"\n1,2\n'
copies 'a line feed in a name' <<'E'
a,"\nb"\n1,2\n
E
given 'a\tb\r\n1\t2\r\n\r\n'
copies 'TSV with CRLF' -t <<'E'
a\tb\n1\t2\n
E
given 'a\n"x,y"\n"p ""q"""\n""\n'
copies 'one column has no tab: it stays CSV' -t <<'E'
a\n"x,y"\n"p ""q"""\n""\n
E
given '"""x",b\n1,2\n'
copies 'a first name that opens a quote: it stays CSV' -t <<'E'
"""x",b\n1,2\n
E
given 'a,"""x"\n1,2\n'
copies 'another name may' -t <<'E'
a\t"x\n1\t2\n
E

# ---- several tables ----
given 'a,b\n1,2\n\nc\n3\n""\n\nd\te\n4\t5\n\n'
copies 'several tables' <<'E'
a,b\n1,2\n\nc\n3\n""\n\nd,e\n4,5\n
E
copies 'several tables as TSV' -t <<'E'
a\tb\n1\t2\n\nc\n3\n""\n\nd\te\n4\t5\n
E
given '\n\n\r\na,b\n\n\n\nc\n\357\273\277\n\n\357\273\277d\n\n\n'
copies 'more empty lines, tables without rows, a BOM each' <<'E'
a,b\n\nc\n\357\273\277\n\nd\n
E
given 'a\n1\n\nb\n2\n'
run "$tabcat" -n in
is_out 'counts of each' <<'E'
1 rows, 1 columns
1 rows, 1 columns
E
given 'a,b\n1\n\nc\n2\n3,4\n'
refuses 'an error ends the copy' <<'E'
in:2: expected 2 cells, got 1
E

# ---- what is refused ----
given ''
refuses 'an empty input' <<'E'
in: expected a table with a header line, got nothing
E
given '\357\273\277'
refuses 'only a BOM' <<'E'
in: expected a table with a header line, got nothing
E
given '\n\r\n'
refuses 'only empty lines' <<'E'
in: expected a table with a header line, got nothing
E
given 'a,b,c\n1,2,3\n1,2\n1,2,3,4\n"x\ny",2\nz\n1,2,3\n,,,\n'
refuses 'rows with more and fewer cells, all of them' <<'E'
in:3: expected 3 cells, got 2
in:4: expected 3 cells, got 4
in:5: expected 3 cells, got 2
in:7: expected 3 cells, got 1
in:9: expected 3 cells, got 4
E
given '\357\273\277a\n1\n2,3\n'
refuses 'the line is right behind a BOM' <<'E'
in:3: expected 1 cell, got 2
E
{ echo a && letters 200000 && echo && echo 2,3; } >in
refuses 'and behind a long line' <<'E'
in:3: expected 1 cell, got 2
E
given 'a\n1\n2,3\n'
refuses 'two cells in one column' <<'E'
in:3: expected 1 cell, got 2
E
{ echo a,b && for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do echo "$i"; done; } >in
refuses 'the first ten errors and a count' <<'E'
in:2: expected 2 cells, got 1
in:3: expected 2 cells, got 1
in:4: expected 2 cells, got 1
in:5: expected 2 cells, got 1
in:6: expected 2 cells, got 1
in:7: expected 2 cells, got 1
in:8: expected 2 cells, got 1
in:9: expected 2 cells, got 1
in:10: expected 2 cells, got 1
in:11: expected 2 cells, got 1
3 more errors
E
given 'a,,c,\n1,2,3,4\n'
refuses 'names that are empty' <<'E'
in:1: empty column name (column 2)
in:1: empty column name (column 4)
E
given 'x,y,x,"y"\n1,2,3,4\n'
refuses 'names twice' <<'E'
in:1: duplicate column "x"
in:1: duplicate column "y"
E
given 'a\n\n\n,x\n'
refuses 'the header of a second table' <<'E'
in:4: empty column name (column 1)
E
given 'a,b\n1,"2"3\n4,5\n'
refuses 'text after a closing quote' <<'E'
in:2: text after a closing quote
E
given 'a,b\n1,2\n"x\ny",3"4\n4,5\n'
refuses 'a quote in an unquoted cell; the line is where the row starts' <<'E'
in:3: quote inside an unquoted cell
E
given 'a,b\n1,2\n3,"4\n5,6\n'
refuses 'an unterminated quote' <<'E'
in:3: unterminated quote
E
given '"a,b\n1,2\n'
refuses 'an unterminated quote in the header' <<'E'
in:1: unterminated quote
E
given 'a,b\n1,\0002\n3,4,\n5,"\0006"\n'
refuses 'NULs, and the rows behind them are checked, too' <<'E'
in:2: unexpected NUL byte
in:3: expected 2 cells, got 3
in:4: unexpected NUL byte
E
given 'a\tb\n1\t\0002\n3\n'
refuses 'a NUL in TSV' <<'E'
in:2: unexpected NUL byte
in:3: expected 2 cells, got 1
E
given 'a,\000b\n1,2\n'
refuses 'a NUL in the header' <<'E'
in:1: unexpected NUL byte
E
given 'a,b\r1,2\r3,4\r'
refuses 'lone CRs in the header' <<'E'
in:1: carriage return without a line feed
E
given 'a,b\n1,2\n1,x\ry\n'
refuses 'a lone CR in a cell' <<'E'
in:3: carriage return without a line feed
E
given 'a,b\n1,"x"\r"y"\n'
refuses 'a lone CR behind a quoted cell' <<'E'
in:2: carriage return without a line feed
E
given 'a,b\n1,2\r'
refuses 'a lone CR at the end' <<'E'
in:2: carriage return without a line feed
E
given 'a,b\n1,2\r\r\n'
refuses 'two CRs' <<'E'
in:2: carriage return without a line feed
E
given 'a\tb\n1\tx\ry\n'
refuses 'a lone CR in TSV' <<'E'
in:2: carriage return without a line feed
E
given 'a,b\n1,"x\ry"\n'
copies 'but a CR in quotes is text' <<'E'
a,b\n1,"x\ry"\n
E

# ---- columns by name, numbers ----
given 'id,model,batch\n1,2,3\n'
refuses 'a missing column' -c job_id <<'E'
in:1: missing column "job_id" (found: id, model, batch)
E
given 'a\n1\n\n\nid,model\n1,2\n'
refuses 'a missing column of a second table' -c a <<'E'
in:5: missing column "a" (found: id, model)
E
run "$tabcat" -c job_id - <in
is_status 2 'standard input: status'
is_err 'standard input has a name' <<'E'
tabcat: <stdin>:1: missing column "job_id" (found: a)
E
i=0 && while [ $i -lt 99 ]; do printf 'column_%d,' $i && i=$((i + 1)); done >in && echo x >>in
run "$tabcat" -c job_id in
err_has '"job_id" (found: column_0, column_1, ' 'many names are cut'
err_has 'column_17, ...)' 'and say so'
given 'a,v\nx,1\ny,abc\nz,\n"u\nw",0x10\nw,nan\nv, 1\n"",-1.5e3\nq,"a ""b""\001"\n'
refuses 'numbers' -c v <<'E'
in:3: v: expected a number, got "abc"
in:4: v: expected a number, got nothing
in:5: v: expected a number, got "0x10"
in:7: v: expected a number, got "nan"
in:8: v: expected a number, got " 1"
in:10: v: expected a number, got "a \"b\"\x01"
E

# ---- sizes ----
{ printf 'a,b\n1,' && letters 1048576 && echo && printf '"' && letters 1048575 && printf '""",2\n'; } >in
run "$tabcat" in
silent 'cells of 1 MiB'
{ printf 'a,b\n1,' && letters 1048576 && echo && printf '"' && letters 1048575 && printf '""",2\n'; } >want
same_file want out 'are copied'
{ printf 'a\tb\n1\t' && letters 1048576 && echo; } >in
run "$tabcat" -t in
silent 'a TSV cell of 1 MiB'
same_file in out 'is copied'
{ printf 'a,b\n1,' && letters 1048577 && printf '\n2,3\n'; } >in
refuses 'a cell of 1 MiB + 1' <<'E'
in:2: cell of more than 1 MiB
E
{ printf 'a\tb\n1\t' && letters 1048577 && printf '\n2\t3\n'; } >in
refuses 'a TSV cell of 1 MiB + 1' <<'E'
in:2: cell of more than 1 MiB
E
{ letters 1048577 && printf ',b\n2,3\n'; } >in
refuses 'a name of 1 MiB + 1' <<'E'
in:1: cell of more than 1 MiB
E
# row N: N numbers
row() { seq -s , "$1"; }
{ row 10000 && row 10000; } >in
run "$tabcat" in
silent '10,000 columns'
same_file in out 'are copied'
run "$tabcat" -n in
is_out 'and counted' <<'E'
1 rows, 10000 columns
E
run "$tabcat" -t in
tr , '\t' <in >want
same_file want out 'as TSV'
{ row 10001 && row 10001; } >in
refuses '10,001 columns' <<'E'
in:1: 10001 columns, at most 10000 are read
E
{ echo a && row 200000 && echo 1; } >in
refuses 'a row of more cells' <<'E'
in:2: expected 1 cell, got 200000
E
{ row 70 && i=0 && while [ $i -lt 70 ]; do [ $i -eq 0 ] || printf ,; letters 1000000; i=$((i + 1)); done; } >in
refuses 'a row of more than 64 MiB' <<'E'
in:2: row of more than 64 MiB
E
: >in

# endless COMMAND: stops though the writer does not; takes far less than 2 s on an idle machine
endless() {
	run timeout 20 sh -c "$1 | $tabcat -n"
}
endless "{ printf 'a,b\n1,\"'; head -c 1000000000 /dev/zero | tr '\0' x; }"
is_status 2 'an unterminated quote before 1 GB stops'
is_err 'and says so' <<'E'
tabcat: <stdin>:2: cell of more than 1 MiB (unterminated quote?)
E
# a pipe that is never closed: the error must not wait for more than 1 MiB
mkfifo never
exec 3<>never
{ printf 'a,b\n1,"' && letters 1300000; } >never 3>&- &
run timeout 20 "$tabcat" never
exec 3>&-
wait
is_status 2 'it stops behind 1 MiB'
is_err 'and says so, too' <<'E'
tabcat: never:2: cell of more than 1 MiB (unterminated quote?)
E
endless "{ printf 'a,b\n1,2\n3,\"\n'; yes 4,5; }"
is_status 2 'the same with lines'
is_err 'says where it started' <<'E'
tabcat: <stdin>:3: cell of more than 1 MiB (unterminated quote?)
E
endless "yes 'a,b' | tr '\n' ,"
is_status 2 'an endless header'
is_err 'and says so' <<'E'
tabcat: <stdin>:1: row of more than 64 MiB
E
seq 1000000 | sed 's/$/,abc,0.5,"x ""y"""/; 1i a,b,c,d' >in
run "$tabcat" in
silent 'a million rows'
same_file in out 'are copied'
run "$tabcat" -fn in
is_out 'a million rows at once' <<'E'
1000000 rows, 4 columns
E

# ---- a pipe is answered as it comes ----
mkfifo to from
"$tabcat" <to >from &
exec 3>to 4<from
printf 'a,b\n1,2\n\n' >&3
read -r one <&4 && read -r two <&4
ok 'a table is copied before the next one comes' test "$one $two" = 'a,b 1,2'
printf 'c\n' >&3
printf '3\n\n' >&3
read -r one <&4 && read -r two <&4 && read -r three <&4
ok 'and the next one' test "$one $two $three" = ' c 3'
exec 3>&-
if read -r one <&4; then fail 'the end'; else pass 'the end'; fi
exec 4<&-
wait $!
ok 'status' test $? -eq 0
# what is gzip shows in its first two bytes, which may come one by one
printf 'a,b\n1,2\n' >want && gzip -c want >in.gz
for first in 1 2 3; do
	{ head -c "$first" in.gz && sleep .2 && tail -c "+$((first + 1))" in.gz; } | "$tabcat" >out
	same_file out want "gzip whose first $first come alone"
done
printf '\037' | "$tabcat" >out
printf '\037\n' >want
same_file out want "the first byte of gzip alone is none"

# ---- files ----
printf 'a,b\n1,2\n' >in
gzip -c in >in.gz
cp in want
run "$tabcat" in.gz
same_file want out 'gzip'
run "$tabcat" -f - <in.gz
same_file want out 'gzip on standard input'
{ printf 'a,b\n' | gzip && printf '1,2' | gzip && printf '3\n' | gzip && : | gzip; } >in
run "$tabcat" in
is_out 'concatenated gzip' <<'E'
a,b
1,23
E
size=$(wc -c <in.gz)
for n in 2 3 10 $((size / 2)) $((size - 8)) $((size - 1)); do
	head -c "$n" in.gz >in
	run "$tabcat" in
	is_status 2 "gzip cut behind $n bytes: status"
	is_err "gzip cut behind $n bytes" <<'E'
tabcat: in: gzip data ends too early
E
done
{ head -c $((size - 8)) in.gz && printf 'abcdefgh'; } >in
run "$tabcat" in
is_status 2 'gzip with a bad sum: status'
is_err 'gzip with a bad sum' <<'E'
tabcat: in: bad gzip data
E
run "$tabcat" .
is_status 2 'a directory: status'
is_err 'a directory' <<'E'
tabcat: .: is a directory
E
run "$tabcat" no/such.csv
is_status 2 'a missing file: status'
is_err 'a missing file' <<'E'
tabcat: no/such.csv: cannot open: No such file or directory
E
run "$tabcat" - <&-
is_status 2 'a closed standard input: status'
is_err 'a closed standard input' <<'E'
tabcat: <stdin>: cannot read: Bad file descriptor
E

# ---- against Python's csv module ----
cat >check.py <<'E'
import csv, io, random, subprocess, sys
tabcat = sys.argv[1]
random.seed(20)
csv.field_size_limit(1 << 21)
parts = [",", '"', '""', "\n", "\r\n", "\r", "\t", "\\", "\\t", "\\n", "a", "x y", "", " ", "1", "\u00e9", "\ufeff", "'"]
def cell():
    return "".join(random.choice(parts) for _ in range(random.choice([0, 1, 1, 2, 3, 9])))
def run(data, *options):
    return subprocess.run([tabcat, *options], input=data, stdout=subprocess.PIPE, check=True).stdout
def rows(data):
    return list(csv.reader(io.StringIO(data.decode(), newline=""), strict=True))
bad = 0
for turn in range(60):
    n = random.randrange(1, 6)
    table = [[f"{cell()}{i}" for i in range(n)]]
    table += [[cell() for _ in range(n)] for _ in range(random.randrange(40))]
    out = io.StringIO(newline="")
    # Python leaves a lone CR unquoted, and then cannot read it either
    lone = any("\r" in c for row in table for c in row)
    style = csv.QUOTE_ALL if turn % 2 or lone else csv.QUOTE_MINIMAL
    csv.writer(out, quoting=style, lineterminator=random.choice(["\n", "\r\n"])).writerows(table)
    data = out.getvalue().encode()
    if data.startswith(b"\xef\xbb\xbf"):
        continue
    copied = run(data)
    twice = run(run(data, "-t"))
    bad += rows(copied) != table
    bad += twice != copied
    bad += run(copied, "-f") != copied
sys.exit(bad != 0)
E
if [ -n "$GV_PYTHON" ]; then
	run "$GV_PYTHON" check.py "$tabcat"
	silent "random tables mean the same to Python's csv module; CSV to TSV and back loses nothing"
else
	skip 'no python3'
fi

done_testing

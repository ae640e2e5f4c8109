#!/bin/sh
# gv-train: text and files of tokens, and the models that read them.
# shellcheck disable=SC2086
. "${0%/*}/lib.sh"

train() { run gv-train "$@"; }
models=$src/share/models
printf 'id\top\tout\tk\n1\tembed\t8\t\n2\tlinear\t\t1\n3\txent\t\t\n' >pairs.tsv

# ---- samples ----
printf 'abcdefghijkl' >letters
train --data=text:letters --context=4 --export=text.csv
is_status 0 "text: status"
cp text.csv out
is_out "a sample is context tokens, each label the token behind" <<'EOF'
label0,label1,label2,label3,p0,p1,p2,p3
98,99,100,101,97,98,99,100
102,103,104,105,101,102,103,104
EOF
gzip -k letters
gv-train --data=text:letters.gz --context=4 --export=gz.csv
ok "gzip is inflated" cmp text.csv gz.csv

# 16 and 32 bits, with llm.c's headers and without
le() { # le BYTES NUMBER...
	le_bytes=$1
	shift
	for le_n; do
		for le_i in 1 2 3 4; do
			[ "$le_i" -gt "$le_bytes" ] || printf "%b" "\\0$(printf %03o $((le_n % 256)))"
			le_n=$((le_n / 256))
		done
	done
}
letters='97 98 99 100 101 102 103 104 105 106 107 108'
le 2 $letters >t16
le 4 $letters >t32
header() { # header MAGIC VERSION TOKENS
	le 4 "$@"
	dd if=/dev/zero bs=1 count=1012 2>/dev/null
}
{ header 20240520 1 12; cat t16; } >h16
{ header 20240801 7 12; cat t32; } >h32
for data in tokens:t16 tokens32:t32 tokens:h16 tokens:h32; do
	rm -f t.csv
	run gv-train --data=$data --context=4 --export=t.csv
	silent "$data is read"
	ok "$data has the same samples" cmp text.csv t.csv
done

# ---- what is wrong with a file, and where ----
printf 'x' >>t16
train --data=tokens:t16 --context=4 --steps=1 pairs.tsv
is_err "an odd byte" <<'EOF'
gv-train: t16: byte 24: ends within a token of 2 bytes
EOF
{ le 4 1 2 16777216 3; } >large
train --data=tokens32:large --context=2 --steps=1 pairs.tsv
is_err "a token that a float cannot tell from its neighbour" <<'EOF'
gv-train: large: byte 8: token 16777216 is over 16777215
EOF
{ header 20240520 3 12; cat t32; } >new
train --data=tokens:new --steps=1 pairs.tsv
is_err "a header of another version" <<'EOF'
gv-train: new: byte 4: version 3 of llm.c's token files is not known
EOF
{ header 20240801 7 13; cat t32; } >short
train --data=tokens:short --steps=1 pairs.tsv
is_err "a header that promises more" <<'EOF'
gv-train: short: byte 8: 13 tokens, but 48 bytes of them
EOF
train --data=text:letters --context=12 --steps=1 pairs.tsv
is_err "a text shorter than one sample" <<'EOF'
gv-train: text:letters: 12 tokens, at least 13 are needed: a sample and the token behind it
EOF
train --data=text:none --steps=1 pairs.tsv
is_err "a text that is not there" <<'EOF'
gv-train: none: cannot open: No such file or directory
EOF
train --data=sentences:0 --steps=1 pairs.tsv
is_err "no sentences" <<'EOF'
gv-train: sentences:0: expected sentences:N with N from 1 to 4194304, got "0"
EOF
train --data=text:letters --context=0 --steps=1 pairs.tsv
is_err "no context" <<'EOF'
gv-train: --context: expected a whole number from 1 to 1048576, got "0"
usage: gv-train [options] --data=DATA MODEL
EOF
train --data=digits:10 --scale=none --steps=1 "$models/gpt-tiny.tsv"
is_status 2 "a language model on images: status"
printf 'a,b,label\n1,2,0\n1,2.5,1\n' >half.csv
train --data=csv:half.csv --steps=1 "$models/encoder.tsv"
is_err "numbers that are no tokens" <<'EOF'
gv-train: csv:half.csv: sample 1: 2.5 is no token from 0 to 255, which embed knows
EOF
train --data=text:letters --context=4 --test=csv:half.csv --steps=1 pairs.tsv
is_status 2 "a test set of another kind: status"

# ---- a table that knows more tokens than the text has, or fewer ----
printf 'id\top\tout\tk\n1\tembed\t8\t300\n2\tlinear\t300\t1\n3\txent\t\t\n' >more.tsv
train --data=text:letters --context=4 --steps=2 --log-every=1 more.tsv
is_status 0 "more tokens than the text has"
sed 's/300/200/' more.tsv >fewer.tsv
train --data=text:letters --context=4 --steps=2 fewer.tsv
is_err "a head for other classes than the text has" <<'EOF'
gv-train: fewer.tsv:4: op: 256 classes, but its input has 800 numbers
EOF

# ---- learning ----
options='--data=sentences:600 --context=32 --batch=8 --optimizer=adamw --lr=.005'
train $options --test=sentences:50 --steps=120 --log-every=1 gpt-tiny
ok "a language model learns: the loss falls below 2.2" awk -F, \
	'NR == 2 && $3 < 5 { exit 1 } END { exit !(NR == 121 && $4 < 2.2 && $5 > 0.3) }' out
gv-train $options --steps=20 --log-every=1 gpt-tiny >1.csv
gv-train $options --steps=20 --log-every=1 --threads=2 gpt-tiny >2.csv
ok "two threads: the same rows" cmp 1.csv 2.csv
printf 'seed,lr\n1,.005\n2,.002\n3,.01\n' >array.csv
gv-train $options --array=array.csv --steps=20 --log-every=1 gpt-tiny >3.csv
ok "the first of an array: the same rows" sh -c 'awk -F, "NR == 1 || \$2 == 0" 3.csv | cmp - 1.csv'
awk 'BEGIN { srand(3); print "a,b,c,d,e,f,label"
	for (i = 0; i < 200; i++) { s = ""; n = 0
		for (j = 0; j < 6; j++) { t = int(rand() * 5); n += t == 3; s = s t "," }
		print s (n > 0) } }' >seen.csv
train --data=csv:seen.csv --test=csv:seen.csv --steps=150 --batch=20 --optimizer=adam --lr=.003 encoder
ok "an encoder finds whether a token is there" awk -F, 'END { exit !($5 > 0.97) }' out

# ---- sentences ----
# a small grammar: one dog sees, two dogs see; what is added up is right
gv-train --data=sentences:2000 --context=1 --export=sentences.csv
awk -F, 'NR > 1 { printf "%c", $NF + 0 }' sentences.csv >sentences
awk '
	BEGIN {
		noun = "(dog|cat|bird|horse|child|river|stone|farmer)"
		many = "(dogs|cats|birds|horses|children|rivers|stones|farmers)"
		adjective = "((small|old|red|quiet|young|white|tired|green) )?"
		verb = "(see|hear|follow|know|find|like|need|call)"
		name = "(anna|boris|clara|david|emma|frank|greta|hugo)"
		one = "the " adjective noun
		some = "(the|two|three|four|five) " adjective many
		any = "(" one "|" some ")"
		clause = "(" one "( near " any ")? " verb "s|" some "( near " any ")? " verb ") " any
		n = split("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen", word, " ")
		for (i = 1; i <= n; i++) value[word[i]] = i - 1
	}
	{ kind = "wrong: " $0 }
	$0 ~ "^" clause "\\.$" { kind = "clause" }
	$0 ~ "^" name " says that " clause "\\.$" { kind = "told" }
	/^[a-z]+ and [a-z]+ is [a-z]+\.$/ && substr($5, 1, length($5) - 1) in value && value[$1] + value[$3] == value[substr($5, 1, length($5) - 1)] { kind = "sum" }
	/, where is/ { a = $5; sub(/\?/, "", a); b = $9; sub(/,/, "", b); who = $1; sub(/,/, "", who); said = $11; sub(/\./, "", said)
		if ($0 ~ "^" name ", where is the " noun "\\? here is the " noun ", says " name "\\.$" && a == b && who == said) kind = "asked" }
	{ kinds[kind]++; for (i = 1; i <= NF; i++) { w = $i; gsub(/[.,?]/, "", w); seen[w]++ } }
	END {
		for (k in kinds) print k, sprintf("%.0f", kinds[k] * 6 / NR), "of 6"
		n = 0
		for (w in seen) n++
		print n, "words"
	}' sentences | sort >out
is_out "sentences are of their grammar, with all its words" <<'EOF'
74 words
asked 1 of 6
clause 3 of 6
sum 1 of 6
told 1 of 6
EOF
done_testing

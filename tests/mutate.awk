# mutate.awk: the small changes that could be made to a C source, one a line:
# LINE<TAB>COLUMN<TAB>LENGTH<TAB>TEXT INSTEAD.  What stands in comments, strings,
# preprocessor lines and declarations without a value is left alone.
function site(at, length_, instead) { printf "%d\t%d\t%d\t%s\n", NR, at, length_, instead }
# every place of the fixed text in the masked line, with room around it
function each(text, instead, from, i) {
	from = 1
	while ((i = index(substr(line, from), text)) > 0) {
		site(from + i - 1, length(text), instead)
		from += i + length(text) - 1
	}
}
{
	line = ""
	for (i = 1; i <= length($0); i++) {
		c = substr($0, i, 1)
		two = substr($0, i, 2)
		if (comment) {
			if (two == "*/") { comment = 0; line = line "  "; i++ } else line = line " "
		} else if (quote != "") {
			if (c == "\\") { line = line "  "; i++ }
			else { if (c == quote) quote = ""; line = line "\"" }
		} else if (two == "/*") { comment = 1; line = line "  "; i++ }
		else if (two == "//") break
		else if (c == "\"" || c == "'") { quote = c; line = line "\"" }
		else line = line c
	}
	if (continued || line ~ /^[ \t]*#/) { continued = line ~ /\\$/; next }
	if (line ~ /^[a-z}]/ || line ~ /^[ \t]*(case|default|static|const|struct|enum|size_t|bool|double|int|char) *[^(]*$/ &&
	    line !~ /=/) next
	each(" < ", " <= "); each(" <= ", " < "); each(" > ", " >= "); each(" >= ", " > ")
	each(" == ", " != "); each(" != ", " == "); each(" && ", " || "); each(" || ", " && ")
	each(" + ", " - "); each(" - ", " + "); each(" * ", " / "); each(" += ", " -= "); each(" -= ", " += ")
	each("return -1", "return 0"); each("return true", "return false"); each("return false", "return true")
	each("continue;", "break;")
	each("fmin(", "fmax("); each("fmax(", "fmin(")
	if (match(line, /^[\t ]*(\} else )?if \(/) && line ~ /\) *\{?$/) {
		open = RSTART + RLENGTH
		rest = substr(line, open)
		sub(/\) *\{?$/, "", rest)
		# only a condition that ends on its line
		depth = 0; low = 0
		for (k = 1; k <= length(rest); k++) {
			depth += (substr(rest, k, 1) == "(") - (substr(rest, k, 1) == ")")
			if (depth < low) low = depth
		}
		if (depth == 0 && low == 0) site(open, length(rest), "!(" substr($0, open, length(rest)) ")")
	}
	# numbers: small ones grow by a million times, whole ones by one; not the -1 of an error,
	# not those of rooms, which may be larger, and not those of orders, whose sign counts
	if (line ~ /return [^;]*-1;/ || line ~ /return .*\? -1 : [^?]*;/ || line ~ /(alloc|xgrow)\(/) from = length(line) + 1
	else from = 1
	while (match(substr(line, from), /(^|[^A-Za-z0-9_.])[0-9]+(\.[0-9]*)?(e-?[0-9]+)?/)) {
		at = from + RSTART - 1
		number = substr(line, at, RLENGTH)
		if (number !~ /^[0-9]/) { at++; number = substr(number, 2) }
		end = substr(line, at + length(number), 1)
		room = line !~ /^\t*return / && line ~ /^\t*((static|const|unsigned) )*(struct |enum )?[a-z_0-9]+ \**[a-z_0-9]+\[/ &&
			at < index(line, "=") && substr(line, at - 1, 1) == "["
		if (end !~ /[A-Za-z0-9_.]/ && !room)
			site(at, length(number), number ~ /e-/ ? number " * 1e6" : "(" number " + 1)")
		from = at + length(number)
	}
	# a call or an assignment that stands alone; what frees memory is for sanitizers
	if (line !~ /(_(free|forget)|flateEnd)\(/ && (line ~ /^\t+[a-z_][^=]*\(.*\);$/ && line !~ /^\t+(return|free|if|while|for|else|switch|struct|const|do)[^a-z_]/ ||
	    line ~ /^\t+[a-z_*][a-z_0-9.>\[\]-]* [-+*\/|&]?= .*;$/)) {
		match(line, /[^\t]/)
		site(RSTART, 0, "while (0) ")
	}
}

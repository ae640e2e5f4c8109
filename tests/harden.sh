#!/bin/sh
# harden.sh BUILD CC FLAGS: prints the options that harden what CC makes, those
# that it takes with FLAGS and without a word: no _FORTIFY_SOURCE where nothing
# is optimised or a sanitizer looks at the same calls, none that FLAGS set
# otherwise.  BUILD/hardening remembers the answer for this compiler and FLAGS.
set -u
build=$1 cc=$2 flags=$3
memory=$build/hardening
key="$cc $flags"
if [ -f "$memory" ] && { IFS= read -r known && IFS= read -r answer; } <"$memory" && [ "$known" = "$key" ]; then
	printf '%s\n' "$answer"
	exit
fi
mkdir -p "$build" || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cat >"$dir/probe.c" <<-'E'
	#include <stdio.h>
	#include <string.h>
	int main(int argc, char **argv)
	{
		char s[8];
		strncpy(s, argv[argc - 1], sizeof(s) - 1);
		s[7] = 0;
		return puts(s) < 0;
	}
E
answer=
for candidate in -fstack-protector-strong '-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2' '-fPIE -pie' \
	'-Wl,-z,relro -Wl,-z,now'; do
	case "$candidate $flags" in
	*FORTIFY*-fsanitize=* | *-pie*-static* | *-pie*-shared*) continue ;;
	esac
	# shellcheck disable=SC2086
	warned=$($cc -Werror $answer $candidate $flags -o "$dir/probe" "$dir/probe.c" 2>&1) && [ -z "$warned" ] &&
		answer="$answer${answer:+ }$candidate"
done
printf '%s\n%s\n' "$key" "$answer" >"$memory"
printf '%s\n' "$answer"

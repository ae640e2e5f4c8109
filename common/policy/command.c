#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "policy/policy.h"

static const char option[] = "--changes";

/* Whether a word s[0..len) is gv-alloc, in whatever folder. */
static bool
is_allocator(const char *s, size_t len)
{
	static const char name[] = "gv-alloc";
	size_t n = sizeof(name) - 1;

	return len >= n && memcmp(s + len - n, name, n) == 0 &&
	       (len == n || s[len - n - 1] == '/');
}

/* Whether the command is one program with words as they stand here. */
static bool
is_plain(const char *command)
{
	size_t first = strspn(command, " ");
	const char *word;
	size_t len;

	if (strpbrk(command, "|&;<>()$`\\\"'*?[]#~%!{}\n\t") != NULL ||
	    !is_allocator(command + first, strcspn(command + first, " ")))
		return false;
	for (word = command; *word != '\0'; word += len) {
		word += strspn(word, " ");
		len = strcspn(word, " ");
		if (len == 2 &&
		    memcmp(word, "--", 2) == 0) /* no option behind it is one */
			return false;
	}
	return true;
}

char *
gv_policy_command(const char *command, bool *streams)
{
	struct gv_strbuf b = {0};

	gv_strbuf_str(&b, command);
	if (is_plain(command)) {
		gv_strbuf_fmt(&b, " %s", option);
		*streams = true;
	}
	return b.s;
}

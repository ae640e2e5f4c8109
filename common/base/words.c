#include "base/words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void
gv_words_add(struct gv_strbuf *b, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./,:@%";

	if (b->len > 0)
		gv_strbuf_char(b, ' ');
	if (*word != '\0' && word[strspn(word, plain)] == '\0') {
		gv_strbuf_str(b, word);
		return;
	}
	gv_strbuf_char(b, '\'');
	for (; *word != '\0'; word++)
		if (*word == '\'')
			gv_strbuf_str(b, "'\\''");
		else
			gv_strbuf_char(b, *word);
	gv_strbuf_char(b, '\'');
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Unquotes the word at *from into to; its length, -1: a quote is open. */
static ptrdiff_t
take_word(const char **from, char *to)
{
	const char *s = *from;
	bool quoted = false;
	ptrdiff_t len = 0;

	for (; *s != '\0' && (quoted || !is_blank(*s)); s++) {
		if (*s == '\'') {
			quoted = !quoted;
			continue;
		}
		if (*s == '\\' && !quoted && *++s == '\0')
			return -1;
		to[len++] = *s;
	}
	*from = s;
	to[len] = '\0';
	return quoted ? -1 : len;
}

char **
gv_words_cut(const char *text, size_t *n)
{
	/* a word and what separates it from the next take two bytes at least */
	size_t most = strlen(text) / 2 + 2;
	char **word = gv_xcalloc(1, most * sizeof(*word) + strlen(text) + 1);
	char *to = (char *)(word + most);

	*n = 0;
	for (;;) {
		ptrdiff_t len;

		while (is_blank(*text))
			text++;
		if (*text == '\0')
			return word;
		word[*n] = to;
		len = take_word(&text, to);
		if (len < 0) {
			free(word);
			return NULL;
		}
		to += len + 1;
		++*n;
	}
}

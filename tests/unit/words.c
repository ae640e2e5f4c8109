/* Words of command lines: what is added is cut again; sh reads the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "tap.h"

/* What sh makes of a line of words, each in brackets. */
static int
sh_reads(const char *line, const char *want)
{
	char command[1024], got[1024];
	FILE *f;
	size_t n;

	snprintf(command, sizeof(command), "printf '[%%s]' %s", line);
	f = popen(command, "r");
	if (f == NULL)
		return 0;
	n = fread(got, 1, sizeof(got) - 1, f);
	got[n] = '\0';
	return pclose(f) == 0 && strcmp(got, want) == 0;
}

static void
test_random(void)
{
	static const char letters[] = "ab \t'\\\"$*-=/\n";
	int i, bad = 0, unlike = 0;

	srand(1);
	for (i = 0; i < 2000; i++) {
		struct gv_strbuf b = {0}, want = {0};
		char word[5][8], **cut;
		size_t n = 1 + (size_t)rand() % 5, k, j, got;

		for (k = 0; k < n; k++) {
			size_t len = (size_t)rand() % 7;

			for (j = 0; j < len; j++)
				word[k][j] =
				    letters[(size_t)rand() % (sizeof(letters) - 1)];
			word[k][len] = '\0';
			gv_words_add(&b, word[k]);
			gv_strbuf_fmt(&want, "[%s]", word[k]);
		}
		cut = gv_words_cut(b.s, &got);
		bad += cut == NULL || got != n;
		for (k = 0; cut != NULL && k < n && k < got; k++)
			bad += strcmp(cut[k], word[k]) != 0;
		if (i < 100)
			unlike += !sh_reads(b.s, want.s);
		free(cut);
		gv_strbuf_free(&b);
		gv_strbuf_free(&want);
	}
	ok(bad == 0, "2,000 lines of words are cut as they were added (%d not)", bad);
	ok(unlike == 0, "sh reads 100 of them the same (%d not)", unlike);
}

int
main(void)
{
	struct gv_strbuf b = {0};
	size_t n;
	char **word;

	test_random();
	gv_words_add(&b, "--entities=a/b-1.csv");
	gv_words_add(&b, "");
	ok(strcmp(b.s, "--entities=a/b-1.csv ''") == 0,
	    "plain words stay, empty ones show");
	gv_strbuf_free(&b);
	word = gv_words_cut(" \t ", &n);
	ok(word != NULL && n == 0 && word[0] == NULL, "no word");
	free(word);
	word = gv_words_cut("a b c d", &n);
	ok(word != NULL && n == 4 && word[4] == NULL, "as many as can be");
	free(word);
	ok(gv_words_cut("a 'b", &n) == NULL && gv_words_cut("a\\", &n) == NULL,
	    "an open quote is none");
	return done_testing();
}

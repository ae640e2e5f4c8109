#include "named.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/words.h"

/* What gv-alloc writes as policy_options. */
static const struct {
	const char *option;
	bool file; /* its argument is read each time */
} known[] = {{"--entities=", true}, {"--space-sharing=", true}, {"--prices=", true},
    {"--at=", false}, {"--budget=", false}, {"--alpha=", false}, {"--seed=", false},
    {"--stay=", false}};

enum { N_KNOWN = sizeof(known) / sizeof(known[0]) };

static bool
begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

/* The gv-alloc that was installed beside this program, else the one in PATH. */
static void
add_allocator(struct gv_strbuf *b)
{
	struct gv_strbuf word = {0};
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 16);
	char *slash;

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash != NULL) {
		strcpy(slash + 1, "gv-alloc");
		if (access(self, X_OK) == 0)
			gv_strbuf_str(&word, self);
	}
	gv_words_add(b, word.len > 0 ? word.s : "gv-alloc");
	gv_strbuf_free(&word);
}

static void
add_path(
    struct gv_strbuf *b, const char *option, const struct state *state, const char *name)
{
	struct gv_strbuf word = {0};
	char *path = state_path(state, name);

	gv_strbuf_fmt(&word, "%s%s", option, path);
	gv_words_add(b, word.s);
	gv_strbuf_free(&word);
	free(path);
}

/* Whether a file, as seen from where the policy runs, can be read each time. */
static bool
is_lasting(const struct state *state, const char *file)
{
	struct gv_strbuf path = {0};
	struct stat st;
	bool is;

	if (*file != '/')
		gv_strbuf_fmt(&path, "%s/", state->directory);
	gv_strbuf_str(&path, file);
	is = stat(path.s, &st) == 0 && S_ISREG(st.st_mode);
	gv_strbuf_free(&path);
	return is;
}

/* Which known option it is; N_KNOWN: none. */
static size_t
find(const char *word)
{
	size_t i;

	for (i = 0; i < N_KNOWN && !begins(word, known[i].option); i++)
		;
	return i;
}

/* Adds an option; false: a warning has said that it cannot be asked with that. */
static bool
add_option(struct gv_strbuf *b, struct named *n, const struct state *state,
    const char *word, size_t k)
{
	const char *argument = word + strlen(known[k].option);
	char q[GV_QUOTE_LEN];

	if (known[k].file && !is_lasting(state, argument)) {
		gv_warn("warning: the shares come from gv-alloc %s, and there is no such "
			"file to read again; they stay as they are when jobs come and go "
			"unless -p says how to ask",
		    gv_quote(q, word, strlen(word)));
		return false;
	}
	gv_words_add(b, word);
	n->pairs |= begins(word, "--space-sharing=");
	if (begins(word, "--stay=")) /* close to the shares of now */
		add_path(b, "--previous=", state, "jobs.csv");
	return true;
}

static int
add_options(struct gv_strbuf *b, struct named *n, const struct state *state,
    char *const *option, bool *can, struct gv_error *e)
{
	char q[GV_QUOTE_LEN];

	for (; *option != NULL && *can; option++) {
		size_t k = find(*option);

		if (k == N_KNOWN)
			return gv_error_set(e,
			    "policy: expected options that gv-alloc writes there, got %s",
			    gv_quote(q, *option, strlen(*option)));
		*can = add_option(b, n, state, *option, k);
	}
	return 0;
}

int
named_command(
    struct named *n, const struct state *state, const char *words, struct gv_error *e)
{
	struct gv_strbuf b = {0};
	size_t n_words;
	char **word = gv_words_cut(words, &n_words);
	bool can = true;
	int rc;

	*n = (struct named){0};
	gv_words_add(&b, "exec");
	add_allocator(&b);
	gv_words_add(&b, "--changes");
	gv_words_add(&b, "-p");
	if (word != NULL && n_words > 0)
		gv_words_add(&b, word[0]);
	else
		gv_words_add(&b, words); /* gv-alloc says what is wrong with it */
	gv_words_add(&b, "-c");
	add_path(&b, "", state, "cluster.csv");
	rc = word != NULL && n_words > 0 ? add_options(&b, n, state, word + 1, &can, e)
					 : 0;
	free(word);
	if (rc == 0 && can) {
		n->command = b.s;
		return 0;
	}
	gv_strbuf_free(&b);
	return rc;
}

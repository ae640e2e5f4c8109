#include "alloc.h"

#include <stdlib.h>
#include <string.h>

#include "alloc/answer/named.h"
#include "base/err.h"
#include "base/mem.h"

enum { MOST_WORDS = 32 };

/* What the command says. */
struct said {
	const char *policy, *cluster, *sharing, *entities;
	bool agnostic;
};

/* ---- is it gv-alloc? ---- */

/* Cuts a command at its spaces: the number of words; 0 = sh(1) would do more with it. */
static size_t
cut_words(char *command, char *word[MOST_WORDS])
{
	size_t n = 0;
	char *save;
	char *w;

	if (strpbrk(command, "|&;<>()$`\\\"'*?[]#~%!{}\n\t") != NULL)
		return 0;
	for (w = strtok_r(command, " ", &save); w != NULL;
	     w = strtok_r(NULL, " ", &save)) {
		if (n == MOST_WORDS)
			return 0;
		word[n++] = w;
	}
	return n;
}

/* Where the option stands: its argument, which may be the next word; NULL = it is another. */
static const char *
argument(char *const *word, size_t n, size_t *i, const char *name, const char *letter)
{
	size_t len = strlen(name);
	const char *w = word[*i];

	GV_HOLDS(w != NULL);
	if (strncmp(w, name, len) == 0 && w[len] == '=')
		return w + len + 1;
	if (letter != NULL && strncmp(w, letter, 2) == 0 && w[2] != '\0')
		return w + 2;
	if ((strcmp(w, name) == 0 || (letter != NULL && strcmp(w, letter) == 0)) &&
	    *i + 1 < n)
		return word[++*i];
	return NULL;
}

/* Takes one word, or two; false: it is not known here. */
static bool
take_word(struct said *said, char *const *word, size_t n, size_t *i)
{
	static const char *const silent[] = {"--stream", "--quiet", "-q"};
	const struct {
		const char *name, *letter, **to;
	} option[] = {{"--policy", "-p", &said->policy},
	    {"--cluster", "-c", &said->cluster},
	    {"--space-sharing", NULL, &said->sharing},
	    {"--entities", NULL, &said->entities}};
	size_t k;

	for (k = 0; k < sizeof(silent) / sizeof(silent[0]); k++)
		if (strcmp(word[*i], silent[k]) == 0)
			return true;
	if (strcmp(word[*i], "--agnostic") == 0)
		return said->agnostic = true;
	for (k = 0; k < sizeof(option) / sizeof(option[0]); k++) {
		const char *arg = argument(word, n, i, option[k].name, option[k].letter);

		if (arg != NULL) {
			*option[k].to = arg;
			return true;
		}
	}
	return false;
}

static bool
is_alloc(struct said *said, char *command)
{
	char *word[MOST_WORDS];
	size_t n = cut_words(command, word);
	size_t i;

	*said = (struct said){0};
	if (n == 0 || strcmp(word[0], "gv-alloc") != 0)
		return false;
	for (i = 1; i < n; i++)
		if (!take_word(said, word, n, &i))
			return false;
	return said->policy != NULL;
}

/* Whether the policy goes with the options; gv-alloc says why where it does not. */
static bool
goes(const struct alloc *k, const struct said *said, bool inside)
{
	return k->policy != NULL && k->options.pop <= 1 && !k->options.policy.relax_slo &&
	       !k->options.policy.solve.placeable &&
	       (said->sharing == NULL || k->policy->shares) &&
	       ((said->entities == NULL && !inside) || k->policy->entities);
}

static int
read_tables(struct alloc *k, const struct said *said, struct gv_error *e)
{
	struct gv_frame f = {0};

	if (said->sharing != NULL) {
		if (gv_frame_load(&f, said->sharing, e) != 0 ||
		    gv_pairs_from(&k->pairs, &f, e) != 0)
			return -1;
		k->options.pairs = &k->pairs;
	}
	if (said->entities != NULL && (gv_frame_load(&f, said->entities, e) != 0 ||
					  gv_entities_from(&k->weights, &f, e) != 0))
		return -1;
	k->options.entities = &k->weights;
	k->options.policy.solve.memory = &k->memory;
	return 0;
}

int
alloc_open(
    struct alloc *k, const char *command, const char *cluster_file, struct gv_error *e)
{
	char *words = gv_xstrdup(command);
	bool inside = false;
	struct said said;
	int rc = 0;

	*k = (struct alloc){0};
	if (is_alloc(&said, words) &&
	    (said.cluster == NULL || strcmp(said.cluster, cluster_file) == 0)) {
		k->policy = gv_policy_named(said.policy, &k->options, &inside);
		k->options.agnostic |= said.agnostic;
		if (goes(k, &said, inside))
			rc = read_tables(k, &said, e) == 0 ? 1 : -1;
	}
	free(words);
	return rc;
}

void
alloc_forget(struct alloc *k)
{
	gv_price_forget(&k->memory);
}

void
alloc_close(struct alloc *k)
{
	alloc_forget(k);
	gv_pairs_free(&k->pairs);
	gv_entities_free(&k->weights);
	*k = (struct alloc){0};
}

/* ---- asking ---- */

/* Shares that two jobs have on the same GPUs. */
static void
add_pairs(struct gv_reply *out, const struct gv_answer *a, const struct question *q,
    const struct gv_cluster *c)
{
	size_t *job = gv_xcalloc(a->p.n + 1, sizeof(*job));
	size_t i;
	size_t j;

	for (i = 0; i < q->rates.n_jobs; i++)
		if (a->row[i] != SIZE_MAX)
			job[a->row[i]] = i;
	for (i = 0; i < a->s.n_pairs; i++) {
		const struct gv_pair *p = &a->s.pair[i];

		for (j = 0; j < c->n_types && a->type[j] != p->type;)
			j++;
		gv_reply_add(out, &(struct gv_reply_share){.job = job[p->a],
				      .with = (ptrdiff_t)job[p->b],
				      .type = j,
				      .share = p->x,
				      .rate = p->rate_a,
				      .with_rate = p->rate_b});
	}
	free(job);
}

int
alloc_ask(struct alloc *k, const struct sim *s, const struct question *q,
    struct gv_reply *out, struct gv_error *e)
{
	struct gv_answer a = {0};
	size_t i;
	int rc = gv_answer_make(&a, &q->rates, &q->cluster, k->policy, &k->options, e);

	if (rc == 0 && a.impossible)
		rc = gv_error_set(e, "the policy has no answer: not all deadlines can "
				     "be met");
	for (i = 0; rc == 0 && i < q->rates.n_rates; i++) {
		const struct gv_rate *rate = &q->rates.rate[i];

		if (rate->with < 0 && rate->type >= 0)
			gv_reply_add(out, &(struct gv_reply_share){.job = rate->job,
					      .with = -1,
					      .type = (size_t)rate->type,
					      .share = gv_answer_share(&a, rate)});
	}
	if (rc == 0)
		add_pairs(out, &a, q, s->cluster);
	gv_answer_free(&a);
	return rc;
}

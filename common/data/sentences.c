/*
 * Generated sentences, for language models that should have something to learn in
 * little time: numbers agree with nouns, nouns with verbs over what stands between,
 * sums are right, and who is asked answers.  Bytes are tokens.
 *
 * Sentence i is a function of (seed, i) alone, the same on every machine.
 */
#include "data/data.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/strbuf.h"

enum { STREAM_SENTENCE = 0x73656e74 };

static const char *const nouns[] = {
    "dog", "cat", "bird", "horse", "child", "river", "stone", "farmer"};
static const char *const many[] = {
    "dogs", "cats", "birds", "horses", "children", "rivers", "stones", "farmers"};
static const char *const adjectives[] = {
    "small", "old", "red", "quiet", "young", "white", "tired", "green"};
static const char *const verbs[] = {
    "see", "hear", "follow", "know", "find", "like", "need", "call"};
static const char *const names[] = {
    "anna", "boris", "clara", "david", "emma", "frank", "greta", "hugo"};
static const char *const numbers[] = {"zero", "one", "two", "three", "four", "five",
    "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen",
    "fifteen", "sixteen", "seventeen", "eighteen"};

/* The draws of one sentence. */
struct dice {
	uint64_t seed, drawn;
	uint32_t sentence;
};

static size_t
below(struct dice *d, size_t n)
{
	return (size_t)(gv_random(d->seed, STREAM_SENTENCE, d->sentence, d->drawn++) % n);
}

static const char *
one_of(struct dice *d, const char *const *words)
{
	return words[below(d, 8)];
}

/* "the old dog", "three small birds"; whether it is one. */
static bool
add_noun(struct gv_strbuf *s, struct dice *d)
{
	size_t number = below(d, 6), noun = below(d, 8);

	gv_strbuf_fmt(s, "%s ", number < 2 ? "the" : numbers[number]);
	if (below(d, 2) == 0)
		gv_strbuf_fmt(s, "%s ", one_of(d, adjectives));
	gv_strbuf_fmt(s, "%s", number < 1 || number > 1 ? many[noun] : nouns[noun]);
	return number == 1;
}

static void
add_clause(struct gv_strbuf *s, struct dice *d)
{
	bool one = add_noun(s, d);

	if (below(d, 3) == 0) {
		gv_strbuf_fmt(s, " near ");
		(void)add_noun(s, d);
	}
	gv_strbuf_fmt(s, " %s%s ", one_of(d, verbs), one ? "s" : "");
	(void)add_noun(s, d);
}

static void
add_sentence(struct gv_strbuf *s, struct dice *d)
{
	size_t kind = below(d, 6), a, b;
	const char *who;

	if (kind < 3) {
		add_clause(s, d);
		gv_strbuf_fmt(s, ".\n");
	} else if (kind == 3) {
		a = below(d, 10);
		b = below(d, 9);
		gv_strbuf_fmt(
		    s, "%s and %s is %s.\n", numbers[a], numbers[b], numbers[a + b]);
	} else if (kind == 4) {
		gv_strbuf_fmt(s, "%s says that ", one_of(d, names));
		add_clause(s, d);
		gv_strbuf_fmt(s, ".\n");
	} else {
		who = one_of(d, names);
		a = below(d, 8);
		gv_strbuf_fmt(s, "%s, where is the %s? here is the %s, says %s.\n", who,
		    nouns[a], nouns[a], who);
	}
}

int
gv_data_sentences(struct gv_data *d, const struct gv_data_spec *spec, size_t n,
    uint64_t seed, struct gv_error *e)
{
	struct gv_strbuf s = {0};
	uint32_t *token;
	size_t i;
	int r;

	for (i = 0; i < n; i++) {
		struct dice dice = {.seed = seed, .sentence = (uint32_t)i};

		add_sentence(&s, &dice);
	}
	token = gv_xcalloc(s.len, sizeof(*token));
	for (i = 0; i < s.len; i++)
		token[i] = (unsigned char)s.s[i];
	r = gv_data_windows(d, spec, token, s.len, 256, e);
	free(token);
	gv_strbuf_free(&s);
	return r;
}

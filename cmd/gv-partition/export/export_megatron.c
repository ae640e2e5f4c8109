/*
 * For Megatron-LM: options of its training programs.
 *
 * Megatron-LM knows four kinds of layers: E the embedding, t a transformer layer, m
 * one that predicts several tokens, L the loss with the output layer.  A row of ours
 * is, whatever the case,
 *
 *	E       when its node_id or layer holds embed, wte or wpe
 *	m       ... mtp
 *	none    ... norm, dropout
 *	L       when one of them begins with loss, xent, crossentropy, logits, lm_head,
 *	        output, head or classifier, the node_id behind its last dot, too
 *	t       otherwise
 *
 * so profiles should have a row per transformer layer.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "export.h"

static bool
same_text(const char *s, const char *word, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if ((s[i] >= 'A' && s[i] <= 'Z' ? s[i] - 'A' + 'a' : s[i]) != word[i])
			return false;
	return true;
}

static bool
holds(struct gv_cell c, const char *word)
{
	size_t i, len = strlen(word);

	for (i = 0; i + len <= c.len; i++)
		if (same_text(c.s + i, word, len))
			return true;
	return false;
}

static bool
begins(struct gv_cell c, const char *word)
{
	size_t len = strlen(word);

	return c.len >= len && same_text(c.s, word, len);
}

/* 0: none of them. */
static char
letter_of(const struct export_plan *x, size_t layer)
{
	static const struct {
		const char *word;
		char letter;
	} held[] = {{"embed", 'E'}, {"wte", 'E'}, {"wpe", 'E'}, {"mtp", 'm'}, {"norm", 0},
	    {"dropout", 0}};
	static const char *const loss[] = {"loss", "xent", "crossentropy", "logits",
	    "lm_head", "output", "head", "classifier"};
	struct gv_cell id = export_id(x, layer), kind = export_kind(x, layer), last = id;
	size_t i;

	for (i = 0; i < id.len; i++)
		if (id.s[i] == '.')
			last = (struct gv_cell){id.s + i + 1, id.len - i - 1};
	for (i = 0; i < sizeof(held) / sizeof(held[0]); i++)
		if (holds(id, held[i].word) || holds(kind, held[i].word))
			return held[i].letter;
	for (i = 0; i < sizeof(loss) / sizeof(loss[0]); i++)
		if (begins(last, loss[i]) || begins(kind, loss[i]))
			return 'L';
	return 't';
}

struct counts {
	size_t t, m;
};

/* The transformer layers of each stage; the ends of the model in the stages at the ends. */
static int
count(struct counts *n, const struct export_plan *x, struct gv_error *e)
{
	size_t v, stage, last = x->p->n - 1;
	char q[GV_QUOTE_LEN], letter;
	struct gv_cell id;

	for (v = 0; v < x->l->g.n; v++) {
		letter = letter_of(x, v);
		stage = export_stage(x, v);
		n[stage].t += letter == 't';
		n[stage].m += letter == 'm';
		id = export_id(x, v);
		if ((letter == 'E' && stage > 0) || (letter == 'L' && stage < last))
			return gv_error_set(e,
			    "--export=megatron: %s has to be in the %s stage, %s is in "
			    "stage %zu",
			    letter == 'E' ? "the embedding" : "the output layer",
			    letter == 'E' ? "first" : "last", gv_quote(q, id.s, id.len),
			    stage);
	}
	return 0;
}

static void
add_repeated(struct gv_strbuf *s, char letter, size_t n)
{
	if (n > 2)
		gv_strbuf_fmt(s, "%c*%zu", letter, n);
	else
		while (n-- > 0)
			gv_strbuf_char(s, letter);
}

static void
add_stage(struct gv_strbuf *s, const struct counts *n)
{
	add_repeated(s, 't', n->t);
	add_repeated(s, 'm', n->m);
}

/* Stages between bars; from three equal ones on, (tt|)*3. */
static void
add_layout(struct gv_strbuf *s, const struct counts *n, size_t stages)
{
	size_t i, k;

	gv_strbuf_char(s, 'E');
	for (i = 0; i < stages; i = k) {
		for (k = i + 1;
		     k + 1 < stages && i > 0 && n[k].t == n[i].t && n[k].m == n[i].m; k++)
			;
		if (k - i < 3)
			k = i + 1;
		gv_strbuf_str(s, k - i > 1 ? "(" : "");
		add_stage(s, &n[i]);
		if (k < stages)
			gv_strbuf_char(s, '|');
		if (k - i > 1)
			gv_strbuf_fmt(s, ")*%zu", k - i);
	}
	gv_strbuf_char(s, 'L');
}

int
export_megatron(const struct export_plan *x, struct gv_out *out, struct gv_error *e)
{
	struct counts *n = gv_xcalloc(x->p->n, sizeof(*n));
	struct gv_strbuf layout = {0};
	bool recompute = false;
	size_t i, layers = 0, predictors = 0;
	int rc = count(n, x, e);

	for (i = 0; i < x->p->n; i++) {
		layers += n[i].t;
		predictors += n[i].m;
		recompute = recompute || x->p->stage[i].recompute;
	}
	if (rc == 0) {
		add_layout(&layout, n, x->p->n);
		gv_out_fmt(out, "--num-layers %zu", layers);
		if (predictors > 0)
			gv_out_fmt(out, " --mtp-num-layers %zu", predictors);
		gv_out_fmt(out,
		    " --tensor-model-parallel-size 1"
		    " --pipeline-model-parallel-size %zu"
		    " --pipeline-model-parallel-layout '%s'%s\n",
		    gv_pipe_places(x->pipe), layout.s,
		    recompute ? " --recompute-granularity full --recompute-method uniform"
				" --recompute-num-layers 1"
			      : "");
	}
	gv_strbuf_free(&layout);
	free(n);
	return rc;
}

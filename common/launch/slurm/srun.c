/* The words of an srun. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launch/slurm/core.h"

static struct gv_strbuf *
next_text(struct gv_srun *r)
{
	return &r->text[r->n_text++];
}

static void
add(struct gv_srun *r, char *word)
{
	r->word[r->n++] = word;
	r->word[r->n] = NULL;
}

/* Words that never change; execvp takes them as char *, and leaves them. */
static void
add_fixed(struct gv_srun *r)
{
	static char srun[] = "srun", overlap[] = "--overlap",
		    bad_exit[] = "--kill-on-bad-exit=1", input[] = "--input=all",
		    mpi[] = "--mpi=none", bind[] = "--cpu-bind=none",
		    memory[] = "--mem=0", one[] = "--ntasks-per-node=1";
	char *const word[] = {srun, overlap, bad_exit, input, mpi, bind, memory, one};
	size_t i;

	for (i = 0; i < sizeof(word) / sizeof(word[0]); i++)
		add(r, word[i]);
}

void
gv_srun_make(struct gv_srun *r, const struct gv_slurm *s,
    const struct gv_slurm_node *const *node, size_t n, const char *name, const char *mode)
{
	struct gv_strbuf *t;
	size_t gpus = node[0]->n_gpus, i;

	*r = (struct gv_srun){0};
	add_fixed(r);
	gv_strbuf_fmt(next_text(r), "--jobid=%s", s->allocation.job[0]);
	/* groups by their numbers: by the id of the first srun would mean all of them */
	if (s->allocation.n_jobs > 1)
		gv_strbuf_fmt(next_text(r), "--het-group=%zu", node[0]->group);
	gv_strbuf_fmt(next_text(r), "--job-name=%s", name);
	t = next_text(r);
	gv_strbuf_fmt(t, "--nodelist=%s", node[0]->name);
	for (i = 1; i < n; i++) {
		gv_strbuf_fmt(t, ",%s", node[i]->name);
		if (node[i]->n_gpus < gpus)
			gpus = node[i]->n_gpus;
	}
	gv_strbuf_fmt(next_text(r), "--nodes=%zu", n);
	gv_strbuf_fmt(next_text(r), "--ntasks=%zu", n);
	/* all of them, without a type: which of these a worker has is for it to say */
	if (gpus > 0)
		gv_strbuf_fmt(next_text(r), "--gres=gpu:%zu", gpus);
	for (i = 0; i < r->n_text; i++)
		add(r, r->text[i].s);
	add(r, s->self);
	t = next_text(r);
	gv_strbuf_fmt(t, "--worker=%s", mode);
	add(r, t->s);
}

void
gv_srun_free(struct gv_srun *r)
{
	size_t i;

	for (i = 0; i < r->n_text; i++)
		gv_strbuf_free(&r->text[i]);
	*r = (struct gv_srun){0};
}

/* Parameters from files of tensors, and into them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "nn/weights_file.h"
#include "run_pipeline.h"

static void
say(void *ctx, const char *line)
{
	(void)ctx;
	gv_warn("warning: %s", line);
}

/* A file's tensors into models [b, end) of a net. */
static int
take_tensors(struct run *r, struct gv_net *net, const struct gv_tensors *t, size_t b,
    size_t end, struct gv_weights_take how, struct gv_error *e)
{
	for (; b < end; b++) {
		if (gv_weights_take(net, b, t, &how, e) != 0)
			return -1;
		if (b + 1 < end)
			r->array.init_crc[b + 1] = r->array.init_crc[b];
		how.say = NULL;
	}
	return 0;
}

/* The file of models [b, end), which all begin with it. */
static int
take_file(struct run *r, size_t b, size_t end, struct gv_error *e)
{
	struct gv_weights_take how = {
	    .m = &r->model, .path = r->array.init[b], .partial = r->o->init_partial};
	struct gv_tensors t;
	struct gv_net *net;
	size_t i, stage;
	int status = 0;

	if (!r->o->common.quiet &&
	    (r->pipeline != NULL ? worker_saves(r->pipeline->worker)
				 : r->place.rank == 0))
		how.say = say;
	how.silent_rest = r->place.rank != 0;
	if (gv_tensors_read(&t, how.path, e) != 0)
		return -1;
	r->array.init_crc[b] =
	    (uint32_t)crc32_z(crc32(0, NULL, 0), (const Bytef *)t.raw, t.raw_len);
	if (r->pipeline == NULL)
		status = take_tensors(r, r->net, &t, b, end, how, e);
	for (i = 0;
	     r->pipeline != NULL && status == 0 && i < worker_stages(r->pipeline->worker);
	     i++) {
		net = worker_net(r->pipeline->worker, i, &stage);
		status = take_tensors(r, net, &t, b, end, how, e);
		how.silent_rest = true;
	}
	gv_tensors_free(&t);
	return status;
}

int
run_weights_take(struct run *r, struct gv_error *e)
{
	char *const *init = r->array.init;
	size_t b, end;

	for (b = 0; b < r->array.n; b = end) {
		for (end = b + 1; end < r->array.n && init[b] != NULL &&
				  init[end] != NULL && strcmp(init[b], init[end]) == 0;)
			end++;
		if (init[b] != NULL && take_file(r, b, end, e) != 0)
			return -1;
	}
	return 0;
}

char *
run_weights_path(const struct run *r, size_t b)
{
	const char *path = r->o->weights, *slash = strrchr(path, '/');
	const char *dot = strrchr(slash != NULL ? slash : path, '.');
	size_t len = strlen(path) + 32, stem;
	char *s = gv_xcalloc(len, 1);

	stem = dot != NULL ? (size_t)(dot - path) : strlen(path);
	if (r->array.n == 1)
		strcpy(s, path);
	else
		snprintf(s, len, "%.*s.%zu%s", (int)stem, path, b, path + stem);
	return s;
}

int
run_weights_write(struct run *r, struct gv_error *e)
{
	size_t b;
	int status = 0;

	if (r->o->weights == NULL || r->place.rank != 0)
		return 0;
	for (b = 0; b < r->array.n && status == 0; b++) {
		char *path = run_weights_path(r, b);

		status = gv_weights_write(path, r->net, &r->model, b, e);
		free(path);
	}
	return status;
}

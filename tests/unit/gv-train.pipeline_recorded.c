/*
 * gv-train's pipelines: what is made of drawn plans, of schedules by name and from drawn tables,
 * which steps each worker has, and of the files that name a checkpoint's slices, is what it was.
 */
#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "draws.h"
#include "gv-train/pipeline/route.h"
#include "gv-train/pipeline/set.h"
#include "gv-train/pipeline/table.h"
#include "recorded_frame.h"
#include "scratch.h"

static struct gv_error e;

/* ---- stages of a plan ---- */

static void
draw_plan(struct gv_strbuf *s)
{
	static const char *const odd[] = {
	    "", "0", "1", "2", "3", "x", "-1", "0.5", "1e9", "9"};
	bool strange = below(3) == 0, profiled = below(2) == 0;
	size_t rows = 2 + below(5), stage = 0, replicas = 1 + below(3),
	       recompute = below(2), i, k;

	gv_strbuf_str(s, below(12) == 0 ? "id,op,from,out,steg" : "id,op,from,out,stage");
	gv_strbuf_str(s, ",replicas,recompute,forward_ms,backward_ms,activation_bytes");
	gv_strbuf_str(s,
	    below(2) == 0 ? ",kept_bytes,parameter_bytes\n" : ",note,parameter_bytes\n");
	for (i = 0; i < rows; i++) {
		char cell[8][24];
		size_t from = below(6) == 0 ? below(i + 1) : i;

		snprintf(
		    cell[0], sizeof(cell[0]), "%zu", below(15) == 0 ? below(3) : stage);
		snprintf(cell[1], sizeof(cell[0]), "%zu", replicas);
		snprintf(cell[2], sizeof(cell[0]), "%zu", recompute);
		snprintf(cell[3], sizeof(cell[0]), "%.3g", (double)below(100) / 8);
		snprintf(cell[4], sizeof(cell[0]), "%.3g", (double)below(100) / 4);
		snprintf(cell[5], sizeof(cell[0]), "%zu",
		    profiled ? 8 * 4 * (i + 2) : below(1000));
		snprintf(cell[6], sizeof(cell[0]), "%zu", below(1000));
		snprintf(cell[7], sizeof(cell[0]), "%zu", below(1000));
		k = below(8);
		if (strange && below(4) == 0)
			snprintf(cell[k], sizeof(cell[0]), "%s", odd[below(10)]);
		gv_strbuf_fmt(s, "%zu,linear,%zu,%zu", i + 1, from, i + 2);
		for (k = 0; k < 8; k++)
			gv_strbuf_fmt(s, ",%s", cell[k]);
		gv_strbuf_str(s, "\n");
		if (below(3) == 0) {
			stage++;
			replicas = 1 + below(3);
			recompute = below(2);
		}
	}
	gv_strbuf_fmt(s, "%zu,mse,%zu,,%zu,%zu,%zu,0,0,4,0,0\n", rows + 1, rows, stage,
	    replicas, recompute);
}

static void
ask_stages(struct recorded *r)
{
	struct gv_strbuf s = {0};
	struct stages stages = {0};
	struct gv_frame f = {0};
	struct gv_model m = {0};
	size_t i;

	gv_error_clear(&e);
	draw_plan(&s);
	if (gv_frame_parse(&f, "m.csv", s.s, s.len, &e) == 0 &&
	    gv_model_from_frame(&m, &f, &e) == 0 &&
	    gv_model_shape(&m, (struct gv_shape){3, 1, 1}, 4, &e) == 0) {
		recorded_whole(r, stages_are(&m));
		recorded_whole(r, (long long)stages_samples(&m));
		recorded_whole(r, stages_sort(&m, &e));
		recorded_error(r, &e);
		for (i = 0; i < m.n; i++)
			recorded_whole(r, m.layer[i].id);
		gv_error_clear(&e);
		recorded_whole(r, stages_read(&stages, &m, &e));
		for (i = 0; i < stages.n; i++) {
			const struct stage *x = &stages.stage[i];

			recorded_whole(r, (long long)x->first);
			recorded_whole(r, (long long)x->last);
			recorded_whole(r, (long long)x->replicas);
			recorded_whole(r, x->recompute);
			recorded_double(r, x->forward_s);
			recorded_double(r, x->backward_s);
			recorded_double(r, x->kept);
			recorded_double(r, x->parameter);
		}
		for (i = 1; i < 4; i++)
			recorded_whole(r, (long long)stages_gpus(&stages, i));
		stages_free(&stages);
	}
	recorded_error(r, &e);
	gv_model_free(&m);
	gv_strbuf_free(&s);
}

/* ---- routes ---- */

enum { MOST_STAGES = 4 };

struct drawn_route {
	struct stage stage[MOST_STAGES];
	struct stages s;
	size_t rank[MOST_STAGES], gpus;
	struct route_spec spec;
};

static void
draw_route(struct drawn_route *d)
{
	static const char *const odd[] = {
	    "1f1b", "2bw", "flush", "gpipe", "interleaved", "zb-h1"};
	size_t k;

	*d = (struct drawn_route){.s = {1 + below(MOST_STAGES), d->stage}};
	d->spec.chunks = below(4) == 0 ? 2 : 1;
	d->spec.schedule = odd[below(6)];
	if (d->spec.chunks == 2 && below(4) > 0)
		d->spec.schedule = "interleaved";
	for (k = 0; k < d->s.n; k++) {
		d->stage[k].replicas = below(3) == 0 ? 1 + below(3) : 1;
		if (d->spec.chunks == 2 && d->s.n % 2 == 0 && k >= d->s.n / 2)
			d->stage[k].replicas = d->stage[k - d->s.n / 2].replicas;
		d->rank[k] = d->gpus;
		d->gpus += d->stage[k].replicas;
	}
	d->spec.micro_batches = below(3) == 0 ? below(3) : below(9);
	if (strcmp(d->spec.schedule, "1f1b") == 0 && below(6) > 0)
		d->spec.micro_batches = below(2);
	d->spec.steps = below(14);
	d->spec.vertical_sync = below(4) == 0;
	d->spec.workers =
	    below(12) == 0
		? 1 + below(6)
		: stages_gpus(&d->s, d->s.n % d->spec.chunks == 0 ? d->spec.chunks : 1);
}

static void
recorded_course(struct recorded *r, const struct gv_course *c, size_t stages)
{
	uint64_t length = gv_course_length(c), k;
	size_t i;

	recorded_whole(r, (long long)length);
	for (k = 0; k < length && k < 150; k++) {
		struct gv_course_step s = gv_course_at(c, k);

		recorded_whole(r, s.op);
		recorded_whole(r, s.stage);
		recorded_whole(r, (long long)s.micro_batch);
		recorded_whole(r, (long long)s.version);
		if (s.op == GV_STEP_BACKWARD)
			recorded_whole(r, gv_course_puts_off(c, k));
	}
	for (i = 0; i < stages; i++) {
		struct gv_course_needs n = gv_course_needs(c, (uint32_t)i);

		recorded_whole(r, (long long)(n.slots * 100 + n.versions));
	}
}

static void
recorded_route(struct recorded *r, const struct drawn_route *d)
{
	size_t rank, most = d->spec.workers < 8 ? d->spec.workers : 8, i;
	struct route route;

	for (rank = 0; rank < most; rank++) {
		int rc;

		gv_error_clear(&e);
		rc = route_make(&route, &d->spec, &d->s, rank, &e);
		recorded_whole(r, rc);
		recorded_error(r, &e);
		if (rc == 0) {
			recorded_whole(r, route.kind);
			recorded_whole(r, route.table);
			recorded_whole(r, (long long)route.micro_batches);
			recorded_whole(r, (long long)route.unit);
			recorded_whole(r, route.flushes);
			recorded_whole(r, route.overlaps);
			recorded_whole(r, (long long)route.workers);
			recorded_wholes(r, route.rank, d->s.n);
			for (i = 0; i < 9; i++)
				recorded_whole(r, (long long)route_replica(&route, 3, i));
			recorded_whole(r, (long long)route_together(&route, 3));
			recorded_course(r, &route.course, d->s.n);
		}
		route_free(&route);
		route_free(&route); /* also of an empty one */
		if (rc != 0)
			break;
	}
}

static void
ask_route(struct recorded *r)
{
	struct drawn_route d;

	draw_route(&d);
	recorded_route(r, &d);
}

/* ---- tables of schedules ---- */

static void
put_row(struct gv_strbuf *s, const struct gv_step *x, size_t gpu, size_t replica,
    long step, bool numbered, bool strange)
{
	long stage = (long)x->stage, micro_batch = (long)x->micro_batch,
	     version = (long)x->version, *at[] = {&stage, &micro_batch, &version, &step};

	if (strange && below(40) == 0) {
		long more = (long)below(4) - 1;

		*at[below(4)] += more;
	}
	if (numbered)
		gv_strbuf_fmt(s, "%zu,", gpu);
	gv_strbuf_fmt(s, "%ld,%zu,%ld,%s,%ld,%ld,%ld,%ld\n", stage, replica, step,
	    gv_step_name[x->op], micro_batch, version, step, step + 1);
}

/* The table of a schedule for so many micro-batches; false: there is none. */
static bool
draw_table(struct gv_strbuf *s, const struct drawn_route *d)
{
	static const enum gv_schedule_kind kinds[] = {GV_SCHEDULE_1F1B, GV_SCHEDULE_1F1B,
	    GV_SCHEDULE_2BW, GV_SCHEDULE_FLUSH, GV_SCHEDULE_GPIPE, GV_SCHEDULE_ZB_H1};
	struct gv_pipe_stage stage[MOST_STAGES] = {{0}};
	struct gv_pipe p = {.n = d->s.n, .stage = stage, .chunks = 1};
	bool numbered = below(2) == 0, strange = below(2) == 0;
	struct gv_error none = {0};
	struct gv_timetable t;
	size_t i, k;

	p.schedule = kinds[below(6)];
	p.batch = d->spec.micro_batches > 0 ? d->spec.micro_batches : 1;
	p.micro_batches = p.batch * (1 + below(3));
	if (p.schedule == GV_SCHEDULE_1F1B)
		p.micro_batches = 1 + below(12);
	for (k = 0; k < p.n; k++)
		stage[k].replicas = d->stage[k].replicas;
	if (gv_timetable_check(&p, &none) != 0) {
		gv_error_clear(&none);
		return false;
	}
	gv_timetable_make(&t, &p);
	gv_strbuf_str(s, numbered ? "gpu," : "");
	gv_strbuf_str(s, "stage,replica,step,op,micro_batch,version,start_ms,end_ms\n");
	for (i = 0; i < t.n; i++)
		for (k = 0; k < t.lane[i].n; k++) {
			size_t times = strange && below(60) == 0 ? 2 * below(2) : 1;

			for (; times > 0; times--)
				put_row(s, &t.lane[i].step[k], i, t.lane[i].replica,
				    (long)k, numbered, strange);
		}
	gv_timetable_free(&t);
	return true;
}

static void
ask_table(struct recorded *r)
{
	struct gv_strbuf s = {0};
	struct drawn_route d;
	struct table t;
	size_t rank, n, k;

	do {
		draw_route(&d);
		d.spec.chunks = 1;
	} while (!draw_table(&s, &d));
	scratch_file("t.csv", s.s, s.len);
	gv_error_clear(&e);
	if (table_read(&t, "t.csv", &d.s, d.rank, d.spec.micro_batches, &e) == 0) {
		recorded_whole(r, t.kind);
		recorded_whole(r, (long long)t.micro_batches);
		recorded_whole(r, (long long)t.together);
		recorded_whole(r, t.crc);
		for (rank = 0; rank < d.gpus; rank++) {
			struct gv_step *step = table_lane(&t, rank, &n);

			for (k = 0; k < n; k++) {
				recorded_whole(r, step[k].op);
				recorded_whole(r, step[k].stage);
				recorded_whole(r, step[k].micro_batch);
				recorded_whole(r, step[k].version);
			}
			free(step);
		}
		if (below(2) == 0)
			d.spec.micro_batches = t.together;
		table_free(&t);
	}
	recorded_error(r, &e);
	d.spec.schedule = "t.csv";
	d.spec.workers = d.gpus;
	d.spec.vertical_sync = d.spec.vertical_sync && below(2) == 0;
	recorded_route(r, &d);
	unlink("t.csv");
	gv_strbuf_free(&s);
}

/* ---- sets of slices ---- */

static void
recorded_set(struct recorded *r, int rc, const struct set *s)
{
	size_t i;

	recorded_whole(r, rc);
	recorded_error(r, &e);
	gv_error_clear(&e);
	if (rc != 1)
		return;
	recorded_whole(r, (long long)s->step);
	for (i = 0; i < s->n; i++) {
		recorded_text(r, s->slice[i].path);
		recorded_text(r, s->slice[i].own);
		recorded_whole(r, (long long)s->slice[i].first);
		recorded_whole(r, (long long)s->slice[i].last);
	}
}

/* A few bytes are others, or missing. */
static void
spoil_file(const char *path)
{
	static const char bytes[] = " 0129af\n/sx";
	size_t len, at;
	char *s;

	if (gv_file_read(path, &s, &len, 1 << 16, &e) != 0)
		return;
	at = below(len);
	if (below(8) == 0)
		s[at] = '\0';
	else if (below(3) == 0)
		len = at;
	else
		s[at] = bytes[below(sizeof(bytes) - 1)];
	unlink(path);
	scratch_file(path, s, len);
	free(s);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* What is in the folder, which is removed. */
static void
recorded_folder(struct recorded *r)
{
	static char name[64][80];
	DIR *d = opendir("d");
	struct dirent *x;
	char path[100];
	size_t n = 0, i;

	while ((x = readdir(d)) != NULL && n < 64)
		if (x->d_name[0] != '.')
			snprintf(name[n++], sizeof(name[0]), "%.70s", x->d_name);
	closedir(d);
	qsort(name, n, sizeof(name[0]), by_name);
	for (i = 0; i < n; i++) {
		recorded_text(r, name[i]);
		snprintf(path, sizeof(path), "d/%s", name[i]);
		unlink(path);
	}
}

static void
draw_files(void)
{
	static const char *const odd[] = {"gv-train.set.x", "gv-train.set~",
	    "gv-train.3.ckpt", "gv-train.3.0.ckpt.old", "gv-train.x.0.ckpt",
	    "gv-train.3.x.ckpt", "other.3.0.ckpt", "gv-train.3.0.ckp", "gv-train..0.ckpt",
	    "gv-train.set.123.tmp"};
	char path[100];
	size_t n = 4 + below(5), i;

	for (i = 0; i < n; i++) {
		if (below(3) == 0) {
			snprintf(path, sizeof(path), "d/%s", odd[below(10)]);
		} else {
			size_t step = below(5);

			snprintf(path, sizeof(path), "d/gv-train.%zu.%zu.ckpt", step,
			    2 * below(3));
		}
		scratch_file(path, "x", 1);
	}
}

static void
ask_set(struct recorded *r, bool spoilt)
{
	struct set s = {.step = below(4)}, t = {0};
	size_t n = below(4), at = 0, i, len;
	char *bytes;

	gv_error_clear(&e);
	draw_files();
	for (i = 0; i < n; i++) {
		size_t rows = 1 + below(3);

		set_add(&s, "d", at, at + rows);
		at += rows;
	}
	recorded_whole(r, set_write(&s, "d", &e));
	if (gv_file_read("d/gv-train.set", &bytes, &len, 1 << 16, &e) == 0) {
		recorded_bytes(r, bytes, len);
		free(bytes);
	}
	if (spoilt)
		spoil_file("d/gv-train.set");
	recorded_whole(r, set_is("d/gv-train.set"));
	recorded_set(r, set_read(&t, "d", &e), &t);
	set_free(&t);
	if (below(2) == 0)
		set_sweep(&s, "d", below(2) == 0);
	recorded_folder(r);
	set_free(&s);
}

/* What is no set. */
static void
ask_no_set(struct recorded *r)
{
	struct set s;

	gv_error_clear(&e);
	recorded_set(r, set_read(&s, "d", &e), &s);
	recorded_set(r, set_load(&s, "d", &e), &s);
	recorded_set(r, set_load(&s, "nothing", &e), &s);
	recorded_whole(r, set_is("d"));
	recorded_whole(r, set_is("nothing"));
	scratch_file("d/short", "gvset", 5);
	recorded_whole(r, set_is("d/short"));
	recorded_set(r, set_load(&s, "d/short", &e), &s);
	recorded_folder(r);
}

int
main(void)
{
	static const char *const files[] = {NULL};
	static const struct rlimit few = {20, 20};
	struct recorded r;
	size_t i, k;

	recorded_open(&r);
	scratch_enter();
	setrlimit(RLIMIT_NOFILE, &few); /* what is opened is closed */
	if (mkdir("d", 0700) != 0)
		perror("d");
	ask_no_set(&r);
	recorded_answer(&r, "no sets");
	for (i = 0; i < 60; i++) {
		draws_begin(81, (uint32_t)i, 0);
		for (k = 0; k < 20; k++)
			ask_stages(&r);
		recorded_answer(&r, "stages %zu", i);
		for (k = 0; k < 20; k++)
			ask_route(&r);
		recorded_answer(&r, "routes %zu", i);
		draws_begin(81, (uint32_t)i, 100);
		for (k = 0; k < 15; k++)
			ask_table(&r);
		recorded_answer(&r, "tables %zu", i);
		ask_set(&r, i % 3 > 0);
		recorded_answer(&r, "sets %zu", i);
	}
	rmdir("d");
	scratch_leave(files);
	recorded_close(&r);
	return done_testing();
}

/* Drawn traces of clusters: the jobs that gv-trace makes of them are what they were. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "drawn_traces.h"
#include "gv-trace/convert/formats.h"
#include "gv-trace/convert/gavel.h"
#include "recorded_frame.h"
#include "scratch.h"

static struct gv_error e;

static size_t
recorded_jobs(struct recorded *r, struct traced_list *l, int rc)
{
	size_t i, wrong = 0;

	recorded_whole(r, rc);
	recorded_error(r, &e);
	for (i = 0; i < N_LEFT_OUT; i++) {
		recorded_whole(r, (long long)l->left[i]);
		recorded_text(r, left_out_name((enum left_out)i));
	}
	traced_sort(l);
	for (i = 0; i < l->n; i++) {
		const struct traced *j = &l->job[i];

		recorded_double(r, j->arrival_s);
		recorded_double(r, j->duration_s);
		recorded_whole(r, j->gpus);
		recorded_whole(r, j->line);
		recorded_cell(r, j->id);
		recorded_cell(r, j->name);
		recorded_cell(r, j->entity);
		recorded_cell(r, j->user);
		recorded_cell(r, j->status);
		wrong += !(j->duration_s > 0) || j->gpus < 1 ||
			 (i > 0 && j->arrival_s < l->job[i - 1].arrival_s);
	}
	traced_free(l);
	return wrong;
}

static void
ask_gavel(struct recorded *r, struct gv_strbuf *s)
{
	struct gavel_job j;
	struct source from;
	int rc;

	scratch_file("trace", s->s, s->len);
	rc = gavel_open(&from, "trace", &e);
	while (rc == 0 && (rc = gavel_next(&from, &j, &e)) == 1) {
		recorded_cell(r, j.job_type);
		recorded_cell(r, j.command);
		recorded_cell(r, j.working_directory);
		recorded_cell(r, j.steps_option);
		recorded_cell(r, j.total_steps);
		recorded_cell(r, j.scale_factor);
		recorded_cell(r, j.priority_weight);
		recorded_cell(r, j.arrival_s);
		recorded_cell(r, j.slo_factor);
		recorded_whole(r, j.needs_data);
		rc = 0;
	}
	recorded_whole(r, rc);
	recorded_error(r, &e);
	source_close(&from);
}

enum { GAVEL, PHILLY_JSON, PHILLY_CSV, SLURM, ALIBABA_2020, ALIBABA_2023, FORMATS };

static size_t
ask(struct recorded *r, size_t format, size_t wrong)
{
	struct gv_strbuf s = {0}, other = {0};
	struct cells c = {.s = &s, .wrong = wrong}, tasks = {.s = &other, .wrong = wrong};
	struct traced_list l = {.completed_only = false};
	size_t bad = 0;
	int rc;

	l.completed_only = below(4) == 0;
	gv_error_clear(&e);
	if (format == GAVEL)
		draw_gavel(&c);
	else if (format == PHILLY_JSON)
		draw_philly_json(&s, wrong);
	else if (format == PHILLY_CSV)
		draw_philly_csv(&c);
	else if (format == SLURM)
		draw_slurm(&c);
	else if (format == ALIBABA_2020)
		draw_alibaba_2020(&c, &tasks);
	else
		draw_alibaba_2023(&c);
	if (below(6) == 0 && s.len > 0) /* the last line has no end */
		s.len--;
	scratch_file("trace", s.s, s.len);
	scratch_file("tasks", other.len > 0 ? other.s : "", other.len);
	if (format == GAVEL) {
		ask_gavel(r, &s);
	} else {
		rc = format == PHILLY_JSON  ? philly_json_read(&l, "trace", &e)
		     : format == PHILLY_CSV ? philly_csv_read(&l, "trace", &e)
		     : format == SLURM      ? slurm_read(&l, "trace", &e)
		     : format == ALIBABA_2020
			 ? alibaba_2020_read(&l, "trace", "tasks", &e)
			 : alibaba_2023_read(&l, "trace", &e);
		bad = recorded_jobs(r, &l, rc);
	}
	gv_strbuf_free(&s);
	gv_strbuf_free(&other);
	return bad;
}

/* Lines and rows of as many bytes and columns as there may be. */
static void
ask_long(struct recorded *r, size_t columns, size_t bytes, bool nul)
{
	struct traced_list l = {.completed_only = false};
	struct gv_strbuf s = {0};
	size_t i;

	gv_strbuf_str(&s, "JobID|Submit|ElapsedRaw|AllocTRES");
	for (i = 4; i < columns; i++)
		gv_strbuf_str(&s, "|x");
	gv_strbuf_str(&s, "\n1|5|");
	for (i = 5; i < bytes; i++)
		gv_strbuf_char(&s, '0');
	gv_strbuf_str(&s, "7|gpu:2");
	for (i = 4; i < columns; i++)
		gv_strbuf_str(&s, "|");
	if (nul)
		gv_strbuf_add(&s, "", 1);
	gv_strbuf_str(&s, "\n2|6|8|gpu:1");
	for (i = 4; i < columns; i++)
		gv_strbuf_str(&s, "|");
	scratch_file("trace", s.s, s.len);
	gv_error_clear(&e);
	recorded_jobs(r, &l, slurm_read(&l, "trace", &e));
	gv_strbuf_free(&s);
	recorded_answer(r, "%zu columns, %zu bytes, %d", columns, bytes, nul);
}

int
main(void)
{
	static const char *const files[] = {"trace", "tasks", NULL};
	static const char *const name[FORMATS] = {"gavel", "philly json", "philly csv",
	    "slurm", "alibaba 2020", "alibaba 2023"};
	struct recorded r;
	size_t turn, format, i, wrong = 0;

	recorded_open(&r);
	scratch_enter();
	for (turn = 0; turn < 30; turn++) {
		draws_begin(80, 0, (uint32_t)turn);
		for (format = 0; format < FORMATS; format++) {
			for (i = 0; i < 12; i++)
				wrong += ask(&r, format, i % 2 == 0 ? 0 : 10 + below(60));
			recorded_answer(&r, "%s %zu", name[format], turn);
		}
	}
	for (i = 511; i < 514; i++)
		ask_long(&r, i, 10, false);
	ask_long(&r, 5, 10, true);
	for (i = 0; i < 4; i++)
		ask_long(&r, 4, (1 << 16) * (size_t)(i + 1) - 40 + 20 * i, false);
	for (i = 0; i < 3; i++)
		ask_long(&r, 4, (1 << 20) - 9 + i, i == 0);
	ask_long(&r, 4, 1200000, false);
	scratch_leave(files);
	is_int(wrong, 0, "all jobs have GPUs and a time, in order of arrival");
	recorded_close(&r);
	return done_testing();
}

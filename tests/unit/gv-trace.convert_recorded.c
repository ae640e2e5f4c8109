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

/* ---- cells ---- */

static size_t
ask_text(struct recorded *r, size_t format, const char *text, const char *tasks)
{
	struct traced_list l = {.completed_only = false};
	struct gv_strbuf s = {0};
	size_t bad = 0;

	gv_error_clear(&e);
	scratch_file("trace", text, strlen(text));
	scratch_file("tasks", tasks, strlen(tasks));
	gv_strbuf_str(&s, text);
	if (format == GAVEL)
		ask_gavel(r, &s);
	else
		bad = recorded_jobs(r, &l,
		    format == PHILLY_CSV     ? philly_csv_read(&l, "trace", &e)
		    : format == SLURM        ? slurm_read(&l, "trace", &e)
		    : format == ALIBABA_2020 ? alibaba_2020_read(&l, "trace", "tasks", &e)
					     : alibaba_2023_read(&l, "trace", &e));
	gv_strbuf_free(&s);
	return bad;
}

static size_t cells; /* that were asked */

/* A text around each of these cells. */
static size_t
ask_cells(struct recorded *r, size_t format, const char *front, const char *const *cell,
    size_t n, const char *back)
{
	struct gv_strbuf s = {0};
	size_t i, bad = 0;

	for (i = 0; i < n; i++) {
		gv_strbuf_clear(&s);
		gv_strbuf_fmt(&s, "%s%s%s", front, cell[i], back);
		bad += format == ALIBABA_2020
			   ? ask_text(r, format, "a,i,u,Failed,1,9\n", s.s)
			   : ask_text(r, format, s.s, "");
		recorded_answer(r, "cells %zu", ++cells);
	}
	gv_strbuf_free(&s);
	return bad;
}

#define CELLS(r, format, front, back, ...)                              \
	ask_cells(r, format, front, (const char *const[]){__VA_ARGS__}, \
	    sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *), back)

static size_t
ask_slurm_cells(struct recorded *r)
{
	static const char submit[] = "JobID|Submit|ElapsedRaw|Elapsed|AllocTRES\n1|5|";
	size_t bad = 0;

	/* the first cell of all: nothing is in front of it */
	bad += CELLS(r, SLURM, "AllocTRES|JobID|Submit|ElapsedRaw\n", "|1|5|60\n", "cpu",
	    "gpu", "gpu:", "gpu:0", "gpu:1", "gpu=1", "gpu:a:2", "gpua:2", "xgpu:2",
	    "gres/gpu", "gres/gpu=x,gres/gpu:v100=2", "gres/gpu=0,gpu:3", "gres/a",
	    "gres/", "gres/gpu=1000000", "gres/gpu=1000001",
	    "gres/gpu:a=999999,gres/gpu:b=1", "gres/gpu:a=1000000,gres/gpu:b=1",
	    "gpu:1,cpu=3", "gpu:1,gpu:a:1,x:7");
	bad += CELLS(r, SLURM, submit, "|gpu:1\n", "|0:01", "|0:00", "|1", "|1-", "|1-1",
	    "|1-2:3", "|1-2:3:4", "|1:2:3", "|1:2:3:4", "|1-2:3:4:5", "|0-1:1",
	    "|1-1-1:1", "|123456789:1", "|1234567890:1", "|1:x", "|1:", "|x", "|1:1-1",
	    "|1:123456789", "0|1:1", "1|", "-1|", "x|1:1");
	bad +=
	    CELLS(r, SLURM, "", "", "ElapsedRaw|JobID|Submit|AllocTRES\n60|1|5|gpu:1\n",
		"Elapsed|JobID|Submit|AllocTRES\n1:00|1|5|gpu:1\n",
		"Start|JobID|Submit|AllocTRES|End\n60|1|5|gpu:1|80\n",
		"End|JobID|Submit|AllocTRES|Start\n60|1|5|gpu:1|50\n",
		"End|JobID|Submit|AllocTRES\n60|1|5|gpu:1\n",
		"Start|JobID|Submit|AllocTRES\n60|1|5|gpu:1\n",
		"Start|JobID|Submit|AllocTRES|End\nx|1|5|gpu:1|80\n",
		"Start|JobID|Submit|AllocTRES|End\n60|1|5|gpu:1|x\n",
		"Start|JobID|Submit|AllocTRES|End\n|1|5|gpu:1|80\n2|2|5|gpu:1|\n");
	return bad;
}

static size_t
ask_other_cells(struct recorded *r)
{
	size_t bad = 0;

	CELLS(r, GAVEL, "LM\tc\td\t-n\t1\t", "\t-1\t0\n", "100\t1\t1", "0\t1\t0",
	    ".5\t1\t.5", "-1\t1\t1", "1\t0\t1", "1\t1.5\t1", "1\t1000000\t1",
	    "1\t1000001\t1", "1\t1\t-.5", "1\t1", "1\t1\t1\t1", "1\tx\tx");
	CELLS(r, GAVEL, "LM\tc\td\t-n\t", "\n", "0\t1\t1\t1\t0\t0", "0\t1\t1\t1\t.5\t.5",
	    "0\t1\t1\t1\t1\t-1", "0\t1\t1\t1\t-1.5\t1", "0\t1\t1\t1\t-.5\t1",
	    "2\t1\t1\t1\t1\t1", "\t1\t1\t1\t1\t1", "0\t1\t1\t1", "0\t1\t1",
	    "0\t1\t1\t1\t1\t1\nLM");
	CELLS(r, GAVEL, "", "\tc\td\t-n\t0\t1\t1\t1\t0\t0\n", "", "A");
	bad += CELLS(r, PHILLY_CSV, "name,duration,gpus,status\na,5,", ",Pass\n", "1",
	    "0", ".5", "1.5", "999999.5", "1000000", "1000000.5", "1000001", "-1", "nan");
	bad += CELLS(r, PHILLY_CSV, "", "", "duration,gpus\n5,1\n6,2\n",
	    "start_time,gpus,end_time\n5,1,7\n,1,4\n",
	    "end_time,gpus,start_time\n5,1,2\n", "end_time,gpus\n5,1\n",
	    "start_time,gpus\n5,1\n",
	    "submit_time,gpus,duration,start_time\n3,1,8,5\n1,1,2,9\n",
	    "gpus,duration\n1,2\n", "duration,start_time,gpus\n1,2,3\n1,9,3\n2,,3\n",
	    "gpus,duration,state\n1,5,\n1,x,\n1,6,\n1,x,\n1,x,\n");
	bad +=
	    CELLS(r, ALIBABA_2020, "a,t,", ",V100\n", "1,s,1,2,3,4,100", "1,s,1,2,3,4,1",
		"1,s,1,2,3,4,0", "0,s,1,2,3,4,100", ".5,s,1,2,3,4,100", "1,s,9,2,3,4,100",
		"1,s,8,2,3,4,101", "1000000,s,1,2,3,4,100", "1000001,s,1,2,3,4,100",
		"999999,s,1,2,3,4,100", "1,s,,2,3,4,100\na,t,1,s,7,2,3,4,100",
		"1,s,1,2,3,4,100\na,t,1,s,0,2,3,4,100", "1,s,1,2,3,4", "x,s,1,2,3,4,5");
	bad += CELLS(r, ALIBABA_2023,
	    "name,num_gpu,creation_time,scheduled_time,deletion_time\np,", "\n",
	    "1,2,3,4", "0,2,3,4", ".5,2,3,4", "1.5,2,3,4", "1000000,2,3,4",
	    "1000001,2,3,4", "999999,2,3,4", "1,2,4,4", "1,,3,4", "1,2,,4",
	    "1,x,3,4\np,1,1,2,3", "1,2,3,x");
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
	wrong += ask_slurm_cells(&r) + ask_other_cells(&r);
	scratch_leave(files);
	is_int(wrong, 0, "all jobs have GPUs and a time, in order of arrival");
	recorded_close(&r);
	return done_testing();
}

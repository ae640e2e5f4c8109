/* Traces of clusters in the formats of others, drawn, some of whose cells are odd.  Behind draws.h. */
#ifndef DRAWN_TRACES_H
#define DRAWN_TRACES_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "draws.h"

struct cells {
	struct gv_strbuf *s;
	char delimiter;
	size_t wrong; /* one of so many cells is odd, 0 = none */
	bool begun;
};

static inline const char *
drawn_of(const char *const *list, size_t n)
{
	return list[below(n)];
}

static inline void
put_cell(struct cells *c, const char *text)
{
	static const char *const odd[] = {"", "None", "nan", "-1", "0", "x", "1e7",
	    "2000001", "Unknown", "NaT", "2026-01-02", "2026-01-02T03:04:05.678", "1.5",
	    " 3", "null", "2026-13-01T00:00:00"};

	if (c->begun)
		gv_strbuf_char(c->s, c->delimiter);
	gv_strbuf_str(
	    c->s, c->wrong > 0 && below(c->wrong) == 0 ? drawn_of(odd, 16) : text);
	c->begun = true;
}

static inline void
put_number(struct cells *c, double v)
{
	char text[40];

	snprintf(text, sizeof(text), "%.12g", v);
	put_cell(c, text);
}

/* Seconds, or a date of the same day. */
static inline void
put_date(struct cells *c, size_t s, size_t how)
{
	char text[80];

	if (how == 0)
		snprintf(text, sizeof(text), "%zu", 1700000000 + s);
	else
		snprintf(text, sizeof(text), "2026-0%zu-11%c%02zu:%02zu:%02zu%s",
		    1 + how % 3, how % 2 == 0 ? 'T' : ' ', s / 3600 % 24, s / 60 % 60,
		    s % 60, how == 4 ? ".25" : "");
	put_cell(c, text);
}

static inline void
end_row(struct cells *c)
{
	gv_strbuf_str(c->s, below(20) == 0 ? "\r\n" : below(30) == 0 ? "\n\n" : "\n");
	c->begun = false;
	if (c->wrong > 0 && below(10 * c->wrong) == 0)
		gv_strbuf_str(c->s,
		    drawn_of(
			(const char *const[]){"a", "1,2,3", "x|y", "\t\t", "\""}, 5));
}

static inline void
draw_gavel(struct cells *c)
{
	static const char *const type[] = {
	    "ResNet-50 (batch size 64)", "LM", "Recommendation"};
	static const char *const steps[] = {"100", "1", "0", "2.5", "1000000"};
	static const char *const slo[] = {"-1", "0", "1.2", "2"};
	size_t rows = 1 + below(6), kind = below(4);

	c->delimiter = '\t';
	if (below(4) == 0)
		gv_strbuf_str(c->s,
		    "job_type\tcommand\tworking_directory\tnum_steps_arg\tneeds_data_"
		    "dir\ttotal_"
		    "steps\tscale_factor\tpriority_weight\tSLO\tarrival_time\n");
	for (; rows > 0; rows--) {
		size_t cells = kind < 3 ? kind : below(3);

		put_cell(c, drawn_of(type, 3));
		put_cell(c, "python3 main.py %s");
		if (cells == 0)
			put_cell(c, "dir");
		put_cell(c, "-n");
		put_cell(c, below(2) == 0 ? "1" : "0");
		put_cell(c, drawn_of(steps, 5));
		if (cells < 2) {
			put_number(c, 1 + (double)below(4));
			put_number(c, (double)below(3));
			put_cell(c, drawn_of(slo, 4));
		}
		put_number(c, 10 * uniform());
		if (cells == 2)
			put_number(c, 1 + (double)below(8));
		end_row(c);
	}
}

static inline void
draw_philly_csv(struct cells *c)
{
	static const char *const name[][4] = {{"job_id", "jobid", "job_name", "name"},
	    {"submitted_time", "submit_time", "arrival_s", NULL},
	    {"start_time", NULL, NULL, NULL}, {"end_time", NULL, NULL, NULL},
	    {"duration_s", "duration", "run_time", NULL},
	    {"num_gpus", "gpu_num", "gpus", "scale_factor"},
	    {"vc", "queue", "entity", NULL}, {"user", NULL, NULL, NULL},
	    {"status", "state", NULL, NULL}};
	static const char *const status[] = {
	    "Pass", "COMPLETED", "completed", "Failed", "Killed"};
	bool has[9];
	size_t rows = 1 + below(6), how = below(6), first = below(9), i, k, time;

	c->delimiter = below(3) == 0 ? '\t' : ',';
	for (i = 0; i < 9; i++) {
		size_t which = below(4);

		k = (first + i) % 9;
		has[k] = below(5) > 0 || (k == 5 && below(4) > 0);
		if (has[k])
			put_cell(c, name[k][which] != NULL ? name[k][which] : name[k][0]);
	}
	put_cell(c, "other");
	end_row(c);
	for (; rows > 0; rows--) {
		time = below(80000);
		for (i = 0; i < 9; i++) {
			k = (first + i) % 9;
			if (!has[k])
				continue;
			if (k == 0 || k == 6 || k == 7)
				put_cell(c, k == 0 ? "j" : k == 6 ? "queue1" : "someone");
			else if (k < 4)
				put_date(c, time + k * below(3000), how);
			else if (k == 8)
				put_cell(c, drawn_of(status, 5));
			else
				put_number(c, k == 4 ? (double)below(5000)
						     : .5 * (double)below(20));
		}
		put_cell(c, "o");
		end_row(c);
	}
}

static inline void
draw_slurm(struct cells *c)
{
	static const char *const name[] = {"JobID", "JobName", "Account", "User", "State",
	    "Submit", "Start", "End", "ElapsedRaw", "Elapsed"};
	static const char *const tres[] = {
	    "AllocTRES", "ReqTRES", "AllocGRES", "ReqGRES"};
	static const char *const elapsed[] = {"00:10:00", "1-02:03:04", "05:06",
	    "2-00:01", "7", "1:2:3:4", "", "1-1-1:1", "00:00", "a:b",
	    "1:", "1234567890:00", "123456789:00"};
	static const char *const gpus[] = {"billing=4,cpu=4,gres/gpu=2,mem=8G,node=1",
	    "gres/gpu:v100=2,gres/gpu:a100=3", "gpu:v100:2", "gpu:2", "gpu", "cpu=4", "",
	    "gres/gpu=", "gres/gpu=1000001", "gpux=3", "gres/gpu:v100=1,gres/gpu=3",
	    "gpu:a:1,gpu:b:4", "gres/gpu=0", "gres/", "gpu=7,", "gres/gpu:x=1000000"};
	static const char *const state[] = {"COMPLETED", "FAILED", "CANCELLED by 1"};
	static const char *const id[] = {"12", "13_4", "14.batch", "15.0", "16+0"};
	bool has[10];
	size_t rows = 1 + below(8), first = below(10), i, k, which = below(4),
	       how = 1 + below(4);

	c->delimiter = '|';
	for (i = 0; i < 10; i++) {
		k = (first + i) % 10;
		has[k] = below(5) > 0 || ((k == 0 || k == 5) && below(5) > 0);
		if (has[k])
			put_cell(c, name[k]);
	}
	put_cell(c, tres[which]);
	end_row(c);
	for (; rows > 0; rows--) {
		size_t time = below(60000);

		for (i = 0; i < 10; i++) {
			k = (first + i) % 10;
			if (!has[k])
				continue;
			if (k == 0)
				put_cell(c, drawn_of(id, 5));
			else if (k < 4)
				put_cell(c, name[k]);
			else if (k == 4)
				put_cell(c, drawn_of(state, 3));
			else if (k < 8)
				put_date(c, time + k * below(3000), how);
			else if (k == 8 && below(2) == 0)
				put_number(c, (double)below(4000));
			else
				put_cell(
				    c, k == 8 ? ""
					      : drawn_of(elapsed, c->wrong > 0 ? 13 : 4));
		}
		put_cell(c, drawn_of(gpus, 16));
		end_row(c);
	}
}

/* Both tables: of jobs, of their tasks. */
static inline void
draw_alibaba_2020(struct cells *jobs, struct cells *tasks)
{
	static const char *const status[] = {"Terminated", "Failed", "Running"};
	static const char *const part[] = {
	    "100", "50", "25", "10", "800", "0", "", "1e9"};
	size_t rows = 1 + below(8), time, k;
	char name[32];

	jobs->delimiter = tasks->delimiter = ',';
	if (below(3) == 0)
		gv_strbuf_str(
		    jobs->s, "job_name,inst_id,user,status,start_time,end_time\n");
	if (below(3) == 0)
		gv_strbuf_str(tasks->s, "job_name,task_name,inst_num,status,start_time,"
					"end_time,plan_cpu,plan_mem,plan_"
					"gpu,gpu_type\n");
	for (; rows > 0; rows--) {
		time = below(10000);
		snprintf(name, sizeof(name), "job%zu", below(10));
		put_cell(jobs, name);
		put_cell(jobs, "i");
		put_cell(jobs, "u");
		put_cell(jobs, drawn_of(status, 3));
		put_number(jobs, (double)time);
		put_number(jobs, (double)(time + 100 + below(1000)));
		end_row(jobs);
		for (k = below(4); k > 0; k--) {
			put_cell(tasks, name);
			put_cell(tasks, "worker");
			put_number(tasks, (double)below(4));
			put_cell(tasks, "Terminated");
			put_number(tasks, (double)(time + below(200)));
			put_number(tasks, (double)(time + 500));
			put_cell(tasks, "600");
			put_cell(tasks, "29");
			put_cell(tasks, drawn_of(part, 8));
			put_cell(tasks, "V100");
			end_row(tasks);
		}
	}
}

static inline void
draw_alibaba_2023(struct cells *c)
{
	static const char *const phase[] = {"Succeeded", "Failed", "Running"};
	size_t rows = 1 + below(6);

	c->delimiter = ',';
	gv_strbuf_str(c->s, "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,"
			    "pod_phase,creation_time,deletion_"
			    "time,scheduled_time\n");
	for (; rows > 0; rows--) {
		size_t time = below(10000);

		put_cell(c, "pod");
		put_cell(c, "1");
		put_cell(c, "1");
		put_number(c, (double)below(9));
		put_cell(c, "1000");
		put_cell(c, "");
		put_cell(c, "LS");
		put_cell(c, drawn_of(phase, 3));
		put_number(c, (double)time);
		put_number(c, (double)(time + below(3000)));
		put_number(c, (double)(time + below(100)));
		end_row(c);
	}
}

static inline void
json_date(struct gv_strbuf *s, const char *key, size_t time, size_t wrong)
{
	static const char *const odd[] = {"null", "\"None\"", "\"\"", "1700000000",
	    "\"x\"", "[]", "true", "\"2017-10-07\""};

	gv_strbuf_fmt(s, "\"%s\": ", key);
	if (wrong > 0 && below(wrong) == 0)
		gv_strbuf_str(s, drawn_of(odd, 8));
	else
		gv_strbuf_fmt(s, "\"2017-10-07 %02zu:%02zu:%02zu\"", time / 3600 % 24,
		    time / 60 % 60, time % 60);
}

static inline void
json_attempt(struct gv_strbuf *s, size_t time, size_t wrong)
{
	size_t servers = below(3), gpus, i;

	gv_strbuf_char(s, '{');
	json_date(s, "start_time", time, wrong > 0 ? wrong : 10);
	gv_strbuf_str(s, ",\n");
	json_date(s, "end_time", time + below(4000), wrong > 0 ? wrong : 10);
	gv_strbuf_str(s, ",\"detail\":[");
	for (i = 0; i < servers; i++) {
		gv_strbuf_fmt(s, "%s{\"ip\":\"m1\",\"gpus\":[", i > 0 ? "," : "");
		for (gpus = below(5); gpus > 0; gpus--)
			gv_strbuf_fmt(s, "\"gpu%zu\"%s", gpus, gpus > 1 ? "," : "");
		gv_strbuf_str(s, "]}");
	}
	gv_strbuf_str(s, "]}");
}

static inline void
draw_philly_json(struct gv_strbuf *s, size_t wrong)
{
	static const char *const status[] = {
	    "\"Pass\"", "\"Killed\"", "\"Failed\"", "null", "7", "{}"};
	size_t rows = below(6), i, k;

	gv_strbuf_char(s, '[');
	for (i = 0; i < rows; i++) {
		size_t time = below(70000), attempts = below(4);
		bool none = below(9) == 0;

		gv_strbuf_fmt(s,
		    "%s{\"status\": %s, \"vc\":\"v%zu\",\n\"jobid\":\"j%zu\", "
		    "\"other\":{\"a\":[1,2]}, \"attempts\":%s",
		    i > 0 ? "," : "", status[below(wrong > 0 ? 6 : 4)], i % 2, i,
		    none ? "null" : "[");
		if (!none) {
			for (k = 0; k < attempts; k++) {
				gv_strbuf_str(s, k > 0 ? "," : "");
				json_attempt(s, time + 5000 * k, wrong);
			}
			gv_strbuf_char(s, ']');
		}
		gv_strbuf_char(s, ',');
		json_date(s, "submitted_time", time, wrong);
		gv_strbuf_str(s, ", \"user\":\"u\"}");
	}
	gv_strbuf_str(s, wrong > 0 && below(6) == 0 ? "]\n{}" : "]\n");
	if (wrong > 0 && below(3) == 0 && s->len > 5) {
		static const char odd[] = "{}[],:\"0n";
		size_t at = below(s->len);

		s->s[at] = odd[below(sizeof(odd) - 1)];
	}
}

#endif

/* common/sched/events: what is written is read, whole and row by row; JSON and UTF-8. */
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/json.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "sched/events.h"

static char path[] = "/tmp/gv-unit-events.XXXXXX";

static struct gv_cell
cell(const char *s)
{
	return (struct gv_cell){s, strlen(s)};
}

static bool
same_number(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static bool
same(const struct gv_event *a, const struct gv_event *b)
{
	return a->time_s == b->time_s && a->kind == b->kind &&
	       gv_cell_equal(a->job_id, b->job_id) &&
	       gv_cell_equal(a->gpu_type, b->gpu_type) &&
	       gv_cell_equal(a->node, b->node) && gv_cell_equal(a->gpus, b->gpus) &&
	       same_number(a->steps, b->steps) && a->round == b->round &&
	       same_number(a->share, b->share) && gv_cell_equal(a->reason, b->reason) &&
	       gv_cell_equal(a->with_job_id, b->with_job_id);
}

enum { N = 2000 };

/* Event i of a made-up run, one with pairs of jobs if so. */
static struct gv_event
made_up(uint64_t i, bool pairs)
{
	static const char *const text[] = {"", "a", "0;1", "with, comma",
	    "a \"quoted\" word", "two\nlines", "tab\there", "back\\slash", " space ",
	    "\xc3\xa9\xff"};
	struct gv_event ev = GV_EVENT_NONE;
	uint64_t bits = gv_random(3, 0, 0, i);

	ev.time_s = (double)i / 7;
	ev.kind = (enum gv_event_kind)(bits % GV_EVENT_KINDS);
	ev.job_id = cell(text[1 + (bits >> 8) % 9]);
	ev.gpu_type = cell(text[(bits >> 16) % 10]);
	ev.node = cell(text[(bits >> 24) % 10]);
	ev.gpus = cell(text[(bits >> 32) % 10]);
	ev.reason = cell(text[(bits >> 40) % 10]);
	if (bits >> 63)
		ev.steps = (double)(bits % 1000) / 3;
	if ((bits >> 62 & 1) != 0)
		ev.round = (int64_t)(bits % 100000);
	if ((bits >> 61 & 1) != 0 || ev.kind == GV_EVENT_ALLOCATE)
		ev.share = gv_random_uniform(3, 1, 0, i);
	ev.with_job_id = cell(pairs && (bits >> 60 & 1) != 0 ? "another" : "");
	return ev;
}

static int
open_events(struct gv_events_in *in, const char *from, struct gv_error *e)
{
	struct gv_tab *tab;

	*in = (struct gv_events_in){0};
	if (gv_tab_open(&tab, from, e) != 0)
		return -1;
	if (gv_tab_table(tab, e) == 1)
		return gv_events_on(in, tab, e);
	gv_tab_close(tab);
	return -1;
}

static void
test_round_trip(bool tsv, bool pairs)
{
	struct gv_error e = {0};
	struct gv_out *out;
	struct gv_tabw w;
	struct gv_events all = {0};
	struct gv_events_in in;
	struct gv_frame frame = {0};
	struct gv_event ev;
	uint64_t i, wrong = 0;
	int got;

	gv_out_open(&out, path, &e);
	gv_tabw_init(&w, out, tsv);
	if (pairs)
		gv_events_write_header_with(&w);
	else
		gv_events_write_header(&w);
	for (i = 0; i < N; i++) {
		ev = made_up(i, pairs);
		if (pairs)
			gv_events_write_with(&w, &ev);
		else
			gv_events_write(&w, &ev);
	}
	ok(gv_out_close(out, &e) == 0, "written, %s%s", tsv ? "TSV" : "CSV",
	    pairs ? ", with pairs" : "");

	ok(open_events(&in, path, &e) == 0, "opened");
	for (i = 0; (got = gv_events_next(&in, &ev, &e)) == 1; i++) {
		struct gv_event want = made_up(i, pairs);

		wrong += !same(&ev, &want);
	}
	gv_events_close(&in);
	gv_events_close(&in);
	ok(got == 0 && i == N && wrong == 0, "row by row: what was written");

	ok(gv_frame_load(&frame, path, &e) == 0 && gv_events_from(&all, &frame, &e) == 0,
	    "loaded");
	for (i = 0, wrong = 0; i < all.n; i++) {
		struct gv_event want = made_up(i, pairs);

		wrong += !same(&all.event[i], &want);
	}
	ok(all.n == N && wrong == 0, "whole: what was written");
	ok(frame.n_rows == 0, "the frame was taken over");
	gv_events_free(&all);
	gv_events_free(&all);
	is_int((long long)e.count, 0, "no error");
}

static void
test_names(void)
{
	int i, wrong = 0;

	for (i = 0; i < GV_EVENT_KINDS; i++)
		wrong += gv_event_kind(cell(gv_event_name((enum gv_event_kind)i))) != i;
	is_int(wrong, 0, "names and kinds");
	is_int(gv_event_kind(cell("")), -1, "no name");
	is_int(gv_event_kind(cell("star")), -1, "not a name");
}

/* Both readers refuse the same rows with the same words. */
static void
test_bad(void)
{
	static const char text[] =
	    "time_s,event,job_id,share,with_job_id\n0,arrive,a,,\n0,arrive,,,\n"
	    "1,allocate,a,2,\n1,fly,a,,\n3,start,a,,b\n2,finish,a,,\n"
	    "2e400,finish,a,,\n4,start,b,,b\n4,finish,a,,\n";
	struct gv_error a = {0}, b = {0};
	struct gv_events all;
	struct gv_events_in in;
	struct gv_frame frame = {0};
	struct gv_event ev;
	size_t i, good = 0, differ = 0;
	int got;

	gv_file_write(path, text, strlen(text), &a);
	open_events(&in, path, &a);
	while ((got = gv_events_next(&in, &ev, &a)) != 0)
		good += got == 1;
	gv_events_close(&in);
	is_int((long long)good, 3, "the good rows are read");
	is_int((long long)a.count, 6, "the bad ones are told");
	ok(strstr(a.text[5], ":9: with_job_id: expected another job, got \"b\"") != NULL,
	    "a job with itself");
	ok(gv_frame_load(&frame, path, &b) == 0 && gv_events_from(&all, &frame, &b) == -1,
	    "whole: refused");
	ok(all.n == 0 && all.event == NULL && frame.n_rows == 0,
	    "whole: nothing is left");
	for (i = 0; i < a.count && i < b.count; i++)
		differ += strcmp(a.text[i], b.text[i]) != 0;
	ok(a.count == b.count && differ == 0, "in the same words");
	memset(&in, 0xa5, sizeof(in)); /* what is never set then shows */
	ok(open_events(&in, "/nonexistent", &a) == -1 && in.tab == NULL, "no such file");
	gv_events_close(&in);
	gv_file_write(path, "time_s,job_id\n", 14, &a);
	gv_error_clear(&a);
	gv_error_clear(&b);
	ok(open_events(&in, path, &a) == -1 && in.tab == NULL, "a column is missing");
	ok(gv_frame_load(&frame, path, &b) == 0 && gv_events_from(&all, &frame, &b) == -1,
	    "whole: a column is missing");
	is_str(a.text[0], b.text[0], "in the same words");
}

/* What is wrong with one row is said, or "". */
static void
is_row(const char *row, const char *want)
{
	char text[200];
	int n = snprintf(
	    text, sizeof(text), "time_s,event,job_id,steps,share,round\n%s\n", row);
	struct gv_error e = {0};
	struct gv_frame frame;
	struct gv_events all;
	int rc;

	gv_frame_parse(&frame, "ev", text, (size_t)n, &e);
	rc = gv_events_from(&all, &frame, &e);
	is_str(e.count > 0 ? e.text[0] : "", want, "%s", row);
	ok((rc == 0) == (e.count == 0), "and that is %s", rc == 0 ? "good" : "an error");
	gv_events_free(&all);
}

static void
test_rows(void)
{
	is_row("0,allocate,a,0,0,0", "");
	is_row("0,allocate,a,,1,", "");
	is_row("0,allocate,a,,,", "ev:2: share: expected a share from 0 to 1, got \"\"");
	is_row("0,allocate,a,,1.1,",
	    "ev:2: share: expected a share from 0 to 1, got \"1.1\"");
	is_row("0,allocate,a,,-.1,",
	    "ev:2: share: expected a share from 0 to 1, got \"-.1\"");
	is_row(
	    "0,allocate,a,,x,", "ev:2: share: expected a share from 0 to 1, got \"x\"");
	is_row(
	    "0,start,a,-1,,", "ev:2: steps: expected a number of 0 or more, got \"-1\"");
	is_row("0,start,a,,,-1",
	    "ev:2: round: expected a whole number of 0 or more, got \"-1\"");
	is_row("0,start,a,,,1.5",
	    "ev:2: round: expected a whole number of 0 or more, got \"1.5\"");
	is_row("0,start,a,,,9223372036854775807",
	    "ev:2: round: expected a whole number of 0 or more, got "
	    "\"9223372036854775807\"");
	is_row(
	    "-1,start,a,,,", "ev:2: time_s: expected a time of 0 s or more, got \"-1\"");
	is_row(",start,a,,,", "ev:2: time_s: expected a time of 0 s or more, got \"\"");
	is_row("0,start,,,,",
	    "ev:2: job_id: expected the job of this start event, got nothing");
}

/* Events of jobs name one. */
static void
test_of_jobs(void)
{
	char text[100];
	int i, wrong = 0;

	for (i = 0; i < GV_EVENT_KINDS; i++) {
		bool of_a_job = i >= GV_EVENT_ARRIVE && i <= GV_EVENT_DROP;
		struct gv_error e = {0};
		struct gv_frame frame;
		struct gv_events all;
		int n =
		    snprintf(text, sizeof(text), "time_s,event,job_id,share\n0,%s,,0\n",
			gv_event_name((enum gv_event_kind)i));

		gv_frame_parse(&frame, "events", text, (size_t)n, &e);
		wrong += (gv_events_from(&all, &frame, &e) == 0) != !of_a_job;
		gv_events_free(&all);
	}
	is_int(wrong, 0, "an event of a job names it");
}

/* ---- UTF-8 and JSON ---- */

static uint32_t
first_of(const char *s, size_t len, size_t *n)
{
	uint32_t c = 0;

	*n = gv_utf8_next(s, len, &c);
	return c;
}

/* Every code point is read back from its encoding, and from no shorter prefix. */
static void
test_utf8(void)
{
	static const char *const bad[] = {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf",
	    "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf",
	    "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xfe", "\xe2\x82",
	    "\xe2\x28\xa1"};
	uint32_t c;
	size_t i, n, wrong = 0;

	for (c = 0; c <= 0x10ffff; c++) {
		unsigned char s[4];
		size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

		if (c >= 0xd800 && c <= 0xdfff)
			continue;
		for (i = len; i-- > 1;)
			s[i] = (unsigned char)(0x80 | (c >> 6 * (len - 1 - i) & 0x3f));
		s[0] = (unsigned char)c;
		if (len > 1)
			s[0] = (unsigned char)((0xffu << (8 - len) & 0xff) |
					       c >> 6 * (len - 1));
		wrong += first_of((char *)s, len, &n) != c || n != len;
		if (len > 1)
			wrong +=
			    first_of((char *)s, len - 1, &n) != GV_UTF8_BAD || n != 1;
	}
	is_int((long long)wrong, 0, "every code point");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		c = first_of(bad[i], strlen(bad[i]), &n);
		ok(c == GV_UTF8_BAD && n == 1, "bad sequence %zu", i);
	}
}

static void
test_json(void)
{
	struct gv_error e = {0};
	struct gv_json j = {0};
	char *got;
	size_t len;

	gv_out_open(&j.out, path, &e);
	gv_json_object(&j, false);
	gv_json_key(&j, "a\"b");
	gv_json_array(&j, true);
	gv_json_int(&j, -5);
	gv_json_double(&j, .1);
	gv_json_double(&j, NAN);
	gv_json_double(&j, -HUGE_VAL);
	gv_json_bool(&j, true);
	gv_json_bool(&j, false);
	gv_json_null(&j);
	gv_json_str(&j, "\\\n\x01\x7f/\xc3\xa9\xe2\x82", 9);
	gv_json_end(&j);
	gv_json_key(&j, "");
	gv_json_object(&j, true);
	gv_json_end(&j);
	gv_json_key(&j, "x");
	gv_json_array(&j, false);
	gv_json_object(&j, true);
	gv_json_key(&j, "y");
	gv_json_str(&j, "", 0);
	gv_json_key(&j, "z");
	gv_json_array(&j, false);
	gv_json_end(&j);
	gv_json_end(&j);
	gv_json_end(&j);
	gv_json_end(&j);
	gv_out_close(j.out, &e);
	ok(gv_file_read(path, &got, &len, 1000, &e) == 0, "JSON is written");
	is_str(got,
	    "{\n  \"a\\\"b\": [-5, 0.1, null, null, true, false, null, "
	    "\"\\\\\\u000a\\u0001\\u007f/\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\"],\n"
	    "  \"\": {},\n  \"x\": [\n    {\"y\": \"\", \"z\": []}\n  ]\n}\n",
	    "JSON, with any bytes");
	free(got);
}

/* Nodes of GPUs: one for all, or one for each. */
static void
test_nodes(void)
{
	static const struct {
		const char *node, *want[4];
	} row[] = {
	    {"", {"", "", "", ""}},
	    {"n1", {"n1", "n1", "n1", "n1"}},
	    {"n1;n2", {"n1", "n2", "n2", "n2"}},
	    {"a;bcd;;e", {"a", "bcd", "", "e"}},
	    {";b;c;", {"", "b", "c", ""}},
	    {";", {"", "", "", ""}},
	    {"a;;", {"a", "", "", ""}},
	};
	size_t i, k;

	for (k = 0; k < sizeof(row) / sizeof(row[0]); k++)
		for (i = 0; i < 4; i++) {
			struct gv_event ev = GV_EVENT_NONE;
			struct gv_cell got;

			ev.node = cell(row[k].node);
			got = gv_event_node(&ev, i);
			ok(gv_cell_equal(got, cell(row[k].want[i])),
			    "node %zu of \"%s\" is \"%s\": \"%.*s\"", i, row[k].node,
			    row[k].want[i], (int)got.len, got.s);
		}
}

/* The last round that there may be, and what is said of events that there are not. */
static void
test_ends(void)
{
	struct gv_events_in in;
	struct gv_frame frame = {0};
	struct gv_events all;
	struct gv_event ev;
	struct gv_error e = {0};
	char text[200], want[GV_ERROR_LEN];

	snprintf(text, sizeof(text),
	    "time_s,event,round\n0,pool,0\n0,pool,%lld\n0,pool,%lld\n0,x,1\n",
	    (long long)GV_EVENT_LAST_ROUND, (long long)GV_EVENT_LAST_ROUND + 1);
	gv_file_write(path, text, strlen(text), &e);
	open_events(&in, path, &e);
	ok(gv_events_next(&in, &ev, &e) == 1 && ev.round == 0, "round 0");
	ok(gv_events_next(&in, &ev, &e) == 1 && ev.round == GV_EVENT_LAST_ROUND,
	    "the last round");
	is_int(gv_events_next(&in, &ev, &e), -1, "one behind it");
	is_int(gv_events_next(&in, &ev, &e), -1, "an event that there is not");
	snprintf(want, sizeof(want),
	    "%s:5: event: unknown event \"x\"; known: pool, arrive, allocate, start, "
	    "resume, checkpoint, first_step, hold, release, preempt, finish, fail, drop, "
	    "submit, restart, end",
	    path);
	is_str(e.text[1], want, "says those that there are");
	gv_events_close(&in);
	gv_error_clear(&e);
	gv_file_write(path, text, strlen("time_s,event,round\n0,pool,0\n"), &e);
	ok(gv_frame_load(&frame, path, &e) == 0 && gv_events_from(&all, &frame, &e) == 0,
	    "all at once");
	ok(all.n == 1 && frame.file == NULL && frame.n_columns == 0,
	    "the frame is taken over");
	gv_events_free(&all);
}

int
main(void)
{
	int fd = mkstemp(path);

	ok(fd != -1, "a file to work with");
	close(fd);
	test_names();
	test_nodes();
	test_round_trip(false, false);
	test_round_trip(true, false);
	test_round_trip(false, true);
	test_bad();
	test_rows();
	test_of_jobs();
	test_ends();
	test_utf8();
	test_json();
	unlink(path);
	return done_testing();
}

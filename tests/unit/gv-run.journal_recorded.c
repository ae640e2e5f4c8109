/*
 * Drawn journals of gv-run, whole and damaged in all ways, of each form: which of their lines
 * are whole, what is said of the others, what is restored, and what the file is afterwards.
 */
#undef _FORTIFY_SOURCE /* whose wrappers are inline: the functions are ours here */
#include "run_draws.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gv-run/state/clock.h"
#include "gv-run/state/journal.h"
#include "gv-run/state/lines.h"
#include "gv-run/state/restore.h"
#include "scratch.h"
#include "stderr_said.h"
#include "unsynced.h"

enum { RUNS = 40, JOURNALS = 12, ROWS = 14 };

/* A disk that does not let go now and then. */
int
truncate(const char *path, off_t size)
{
	int fd = open(path, O_WRONLY), rc;

	errno = EIO;
	rc = one_in(8) ? -1 : ftruncate(fd, size);
	close(fd);
	return rc;
}

/* Its lines, as they were written. */
struct drawn_journal {
	enum lines_form form;
	bool pairs;
	size_t n;
	struct gv_strbuf line[ROWS + 1]; /* the header first */
};

static void
draw_event(struct gv_strbuf *b, const struct drawn_run *d, double time_s, bool pairs)
{
	static const char *const reason[] = {
	    "", "", "status 3", "\"two\nlines\"", "\"a, \"\"b\"\"\"", "12.5"};
	enum gv_event_kind kind = (enum gv_event_kind)below(GV_EVENT_KINDS);
	const char *id = drawn_id(below(d->n_jobs + 1)), *why = reason[below(6)];
	size_t pool = below(d->n_pools), gpu = below(5), steps = below(50),
	       round = below(9);
	bool gang = one_in(4), share = kind == GV_EVENT_ALLOCATE;
	char gpus[24] = "";

	if (kind == GV_EVENT_POOL || kind >= GV_EVENT_SUBMIT)
		id = "";
	if (kind == GV_EVENT_START || kind == GV_EVENT_RESUME || kind == GV_EVENT_POOL)
		snprintf(gpus, sizeof(gpus), gang ? "%zu;%zu" : "%zu", gpu, gpu + 1);
	gv_strbuf_fmt(b, "%g,%s,%s,%c,%s,%s,", time_s, gv_event_name(kind), id,
	    d->pool[pool][0], "", gpus);
	if (!share && steps < 40)
		gv_strbuf_fmt(b, "%zu", steps);
	gv_strbuf_fmt(b, ",%zu,%s,%s", round, share ? "0.25" : "", why);
	if (pairs)
		gv_strbuf_fmt(b, ",%s", one_in(4) ? drawn_id(0) : "");
}

static void
draw_journal(struct drawn_journal *j, const struct drawn_run *d)
{
	double time_s = 0;
	size_t i;

	memset(j, 0, sizeof(*j));
	j->form = one_in(5) ? LINES_BARE : one_in(4) ? LINES_SUMS : LINES_ROWS;
	j->pairs = one_in(3);
	j->n = below(ROWS + 1);
	journal_header(&j->line[0], j->pairs, j->form);
	for (i = 1; i <= j->n; i++) {
		struct gv_strbuf *b = &j->line[i];

		time_s += (double)below(9) / 4;
		draw_event(b, d, time_s, j->pairs);
		if (j->form == LINES_ROWS)
			lines_seal_row(b, 0, (uint32_t)i);
		else if (j->form == LINES_SUMS)
			lines_seal(b, 0);
		else
			gv_strbuf_char(b, '\n');
	}
}

static void
free_journal(struct drawn_journal *j)
{
	size_t i;

	for (i = 0; i <= ROWS; i++)
		gv_strbuf_free(&j->line[i]);
}

/* All lines in their order; or one taken out, twice, in the place of another. */
static void
join(struct gv_strbuf *b, const struct drawn_journal *j)
{
	size_t order[2 * ROWS + 2], n = 0, i, k, damages = one_in(3) ? 0 : below(4);

	for (i = one_in(12); i <= j->n; i++)
		order[n++] = i;
	for (; damages > 0 && n > 2; damages--) {
		i = 1 + below(n - 1);
		k = 1 + below(n - 1);
		switch (below(4)) {
		case 0: /* away */
			memmove(order + i, order + i + 1, (n - i - 1) * sizeof(*order));
			n--;
			break;
		case 1: /* a copy */
			order[n++] = order[i];
			break;
		case 2:
			order[i] = order[k];
			break;
		default: {
			size_t was = order[i];

			order[i] = order[k];
			order[k] = was;
		}
		}
	}
	for (i = 0; i < n; i++)
		gv_strbuf_add(b, j->line[order[i]].s, j->line[order[i]].len);
}

/* Bytes that are others, an end that is missing, and what stands behind the end. */
static void
spoil(struct gv_strbuf *b)
{
	static const char to[] = {'"', ',', '\n', 'x', '0', '\0', 'f'};
	size_t n = one_in(2) ? 0 : 1 + below(3), i;

	for (; n > 0 && b->len > 0; n--) {
		i = one_in(3) ? b->len - 1 - below(b->len < 20 ? b->len : 20)
			      : below(b->len);
		b->s[i] = to[below(sizeof(to))];
	}
	if (one_in(5) && b->len > 0) {
		size_t cut = below(b->len);

		b->len = one_in(2) ? cut : b->len - below(b->len < 30 ? b->len : 30);
	}
	if (one_in(10))
		gv_strbuf_add(b, "\0\0\0\0\0\0", 1 + below(6));
	if (one_in(15))
		gv_strbuf_str(b, "row_crc32\n");
}

static void
recorded_lines(struct recorded *r, const struct gv_strbuf *b)
{
	enum lines_form form = LINES_ROWS, as;
	struct lines l;
	bool pairs = false;
	size_t header = journal_find_header(b->s, b->len, &pairs, &form), i;

	recorded_whole(r, (long long)header);
	recorded_whole(r, pairs);
	recorded_whole(r, form);
	for (as = LINES_BARE; as <= LINES_ROWS; as++) {
		lines_check(&l, b->s, b->len, one_in(3) ? 0 : header, as);
		recorded_whole(r, (long long)l.rows);
		recorded_whole(r, (long long)l.lost);
		recorded_whole(r, (long long)l.torn_at);
		for (i = 0; as > LINES_BARE && i < l.rows; i++) {
			recorded_whole(r, (long long)l.row[i].at);
			recorded_whole(r, (long long)l.row[i].len);
			recorded_whole(r, (long long)l.row[i].number);
			recorded_whole(r, (long long)l.row[i].hidden);
			recorded_whole(r, l.row[i].line);
		}
		for (i = 0; i < l.n_damaged; i++) {
			recorded_whole(r, l.damaged[i].fault);
			recorded_whole(r, (long long)l.damaged[i].at);
			recorded_whole(r, (long long)l.damaged[i].len);
			recorded_whole(r, (long long)l.damaged[i].count);
			recorded_whole(r, l.damaged[i].line);
		}
		lines_free(&l);
	}
	for (i = 0; i < b->len; i += 1 + below(30)) {
		recorded_whole(r, (long long)lines_next(b->s + i, b->len - i));
		recorded_whole(r, lines_number(b->s, i));
		recorded_whole(r, lines_is_whole(b->s + i, b->len - i, form));
	}
}

/* ---- restored ---- */

/* One whose seal is right, and what it says is not. */
static void
draw_odd_clock(void)
{
	static const char *const says[] = {"x 1 2 3", "1 x 2 3", "1 2 x 3", "1 2 3 x",
	    "1 2 3", "1 -2 3 4", "1 2 9007199254740993 4", "1 2 9007199254740992 4",
	    "1 0 -1 9"};
	struct gv_strbuf b = {0};

	gv_strbuf_str(&b, says[below(9)]);
	while (b.len < 100 - lines_seal_len(LINES_SUMS))
		gv_strbuf_char(&b, ' ');
	lines_seal(&b, 0);
	scratch_file("s/clock", b.s, b.len);
	gv_strbuf_free(&b);
}

static void
draw_clock(size_t len)
{
	size_t now_s = below(100), round = below(9);
	struct clock c = {1e9, (double)now_s, (int64_t)round - 1, 0};
	int fd;

	unlink("s/clock");
	if (one_in(2))
		return;
	if (one_in(12)) {
		scratch_file("s/clock", "7", 1);
		return;
	}
	if (one_in(6)) {
		draw_odd_clock();
		return;
	}
	c.journal_bytes = (int64_t)below(len + 40);
	fd = open("s/clock", O_RDWR | O_CREAT, 0600);
	clock_write(fd, &c);
	if (one_in(4))
		(void)!pwrite(fd, "7", 1, (off_t)below(90));
	close(fd);
}

static void
recorded_path(struct recorded *r, const char *path)
{
	struct gv_error e = {0};
	size_t len;
	char *s;

	if (access(path, F_OK) != 0)
		return;
	if (gv_file_read(path, &s, &len, 1 << 20, &e) != 0)
		gv_die_error(&e);
	recorded_whole(r, (long long)len);
	recorded_bytes(r, s, len);
	free(s);
}

static void
ask(struct recorded *r, const struct drawn_run *d, const struct gv_strbuf *text)
{
	struct gv_strbuf told = {0};
	struct gv_out *out = gv_out_memory(&told);
	struct gv_error e = {0};
	bool pairs = one_in(3), any = false;
	struct clock c = {0};
	struct jobs jobs;
	int fd = dup(0), after;

	scratch_file("s/events.csv", text->s != NULL ? text->s : "", text->len);
	unlink("s/events.csv.damaged");
	if (one_in(20))
		unlink("s/events.csv");
	draw_clock(text->len);
	close(fd);
	recorded_whole(r, clock_read_in("s", &c));
	after = dup(0);
	recorded_whole(r, after - fd); /* none is left open */
	close(after);
	recorded_whole(r, c.round);
	recorded_whole(r, c.journal_bytes);
	recorded_double(r, c.now_s);
	stderr_listen();
	recorded_whole(r, restore_inspect("s", out, &e));
	if (drawn_begin(d, &jobs, &e) == 0) {
		recorded_whole(r, restore_view(&jobs, "s", &e));
		recorded_error(r, &e);
		recorded_jobs(r, &jobs);
		jobs_free(&jobs);
	}
	gv_error_clear(&e);
	if (drawn_begin(d, &jobs, &e) == 0) {
		recorded_whole(r, restore(&jobs, "s", one_in(2), &pairs, &any, &e));
		recorded_whole(r, pairs + 2 * any);
		recorded_jobs(r, &jobs);
		jobs_free(&jobs);
	}
	stderr_said(r);
	recorded_error(r, &e);
	recorded_out(r, out, &told);
	recorded_path(r, "s/events.csv");
	recorded_path(r, "s/events.csv.damaged");
}

int
main(void)
{
	static const char *const made[] = {"said", NULL};
	struct recorded r;
	struct gv_error e = {0};
	uint32_t i, k;

	gv_init("gv-run");
	recorded_open(&r);
	scratch_enter();
	if (gv_mkdirs("s", &e) != 0)
		gv_die_error(&e);
	for (i = 0; i < RUNS; i++) {
		struct drawn_run d;

		draws_begin(47, i, 0);
		draw_run(&d);
		for (k = 0; k < JOURNALS; k++) {
			struct gv_strbuf text = {0};
			struct drawn_journal j;

			draw_journal(&j, &d);
			join(&text, &j);
			spoil(&text);
			recorded_lines(&r, &text);
			ask(&r, &d, &text);
			gv_strbuf_free(&text);
			free_journal(&j);
		}
		recorded_answer(&r, "%d journals of %zu jobs", JOURNALS, d.n_jobs);
		drawn_run_free(&d);
	}
	if (gv_remove_tree("s", &e) != 0)
		gv_die_error(&e);
	scratch_leave(made);
	recorded_close(&r);
	return done_testing();
}

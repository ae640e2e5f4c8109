/* common/plan: machines of drawn levels, flat ones, parts of them, and what is read of a table. */
#include "tap.h"

#include "base/strbuf.h"
#include "draws.h"
#include "plan/machine.h"
#include "scratch.h"

static void
draw_machine(struct gv_machine *m)
{
	size_t l;

	*m = (struct gv_machine){.n_levels = 1 + below(GV_PLAN_LEVELS)};
	for (l = 0; l < m->n_levels; l++) {
		m->gpus[l] = 1 + below(4);
		m->bytes_per_s[l] = 1 + uniform();
		m->sum_bytes_per_s[l] = below(2) == 0 ? 0 : 1 + uniform();
	}
}

static double
rate_of_sum(const struct gv_machine *m, size_t l)
{
	return m->sum_bytes_per_s[l] == 0 ? m->bytes_per_s[l] : m->sum_bytes_per_s[l];
}

static void
test_flat(void)
{
	size_t round, l, wrong = 0, component;

	for (round = 0; round < 400; round++) {
		double slowest = INFINITY, sum = INFINITY;
		struct gv_machine m, flat;

		draw_machine(&m);
		component = 1;
		for (l = 0; l < m.n_levels; l++) {
			wrong += gv_machine_component(&m, l) != component;
			component *= m.gpus[l];
			slowest = fmin(slowest, m.bytes_per_s[l]);
			sum = fmin(sum, rate_of_sum(&m, l));
		}
		wrong += gv_machine_component(&m, l) != component;
		flat = m;
		gv_machine_flatten(&flat);
		wrong += flat.n_levels != 1 || flat.gpus[0] != component ||
			 flat.bytes_per_s[0] != slowest || flat.sum_bytes_per_s[0] != sum;
	}
	is_int(wrong, 0, "components, and one level of all GPUs");
}

/* Any number of GPUs: whole components of the lowest level that has so many. */
static void
test_take(void)
{
	size_t round, l, gpus, i, wrong = 0, taken = 0, refused = 0;

	for (round = 0; round < 200; round++) {
		struct gv_machine m;

		draw_machine(&m);
		for (gpus = 1; gpus <= gv_machine_component(&m, m.n_levels); gpus++) {
			struct gv_machine part = m;
			size_t got = gv_machine_take(&part, gpus), component;

			for (l = 0; gv_machine_component(&m, l + 1) < gpus; l++)
				;
			component = gv_machine_component(&m, l);
			if (gpus % component != 0) {
				wrong += got != component;
				refused++;
				continue;
			}
			wrong += got != 0 || part.n_levels != l + 1 ||
				 part.gpus[l] != gpus / component;
			for (i = 0; i < l; i++)
				wrong += part.gpus[i] != m.gpus[i];
			taken++;
		}
	}
	is_int(wrong, 0, "whole components are taken");
	ok(taken > 300 && refused > 300, "%zu times, and %zu times not", taken, refused);
}

/* ---- tables ---- */

static void
reads(const char *rows, const char *want)
{
	struct gv_error e = {0};
	struct gv_strbuf text = {0};
	struct gv_machine m;

	gv_strbuf_fmt(&text, "level,gpus,gbytes_per_s,sum_gbytes_per_s\n%s", rows);
	scratch_file("m.csv", text.s, text.len);
	is_int(gv_machine_read(&m, "m.csv", &e), want == NULL ? 0 : -1, "a table");
	is_str(e.count > 0 ? e.text[0] : "", want != NULL ? want : "", "what is said");
	is_int(e.count, want != NULL, "once");
	gv_error_clear(&e);
	gv_strbuf_free(&text);
}

static void
test_read(void)
{
	struct gv_error e = {0};
	struct gv_machine m;

	reads("2,4,2,\n1,8,100,50\n", NULL);
	is_int(gv_machine_read(&m, "m.csv", &e), 0, "rows in any order");
	ok(m.n_levels == 2 && m.gpus[0] == 8 && m.gpus[1] == 4, "two levels");
	ok(m.bytes_per_s[0] == 100e9 && m.bytes_per_s[1] == 2e9, "bandwidths");
	ok(m.sum_bytes_per_s[0] == 50e9 && m.sum_bytes_per_s[1] == 2e9,
	    "and those of sums");
	reads("1,1,1000000000,1000000000\n", NULL);
	reads("1,1,1000000001,\n", "m.csv:2: gbytes_per_s: expected a number above 0, up "
				   "to 1e9, got \"1000000001\"");
	reads("1,1,0,\n",
	    "m.csv:2: gbytes_per_s: expected a number above 0, up to 1e9, got \"0\"");
	reads("1,1,5,0\n",
	    "m.csv:2: sum_gbytes_per_s: expected a number above 0, up to 1e9, got \"0\"");
	reads("1,4096,1,\n", NULL);
	reads("1,4097,1,\n",
	    "m.csv:2: gpus: expected a whole number from 1 to 4096, got \"4097\"");
	reads("1,0,1,\n",
	    "m.csv:2: gpus: expected a whole number from 1 to 4096, got \"0\"");
	reads("1,2,1,\n2,2,1,\n3,2,1,\n4,2,1,\n", NULL);
	reads(
	    "5,2,1,\n", "m.csv:2: level: expected a whole number from 1 to 4, got \"5\"");
	reads(
	    "0,2,1,\n", "m.csv:2: level: expected a whole number from 1 to 4, got \"0\"");
	reads("1,1,1,\n1,2,1,\n", "m.csv:3: level: a second row for this level");
	reads("x,2,1,\n", "m.csv:2: level: expected an integer, got \"x\"");
	reads("1,2,x,\n", "m.csv:2: gbytes_per_s: expected a number, got \"x\"");
	reads("1,2,1,\n1,2,1,\n", "m.csv:3: level: a second row for this level");
	reads("1,2,1,\n3,2,1,\n", "m.csv: no row for level 2");
	reads("2,2,1,\n", "m.csv: no row for level 1");
	reads("", "m.csv: no row for level 1");
	scratch_file("m.csv", "level,gpus\nx,2\n", 15);
	is_int(gv_machine_read(&m, "m.csv", &e), -1, "a column is missing");
	is_int(e.count, 1, "which is all that is said");
	gv_error_clear(&e);
	scratch_file("m.csv", "level,gpus,gbytes_per_s\n9,2,1\n9,2,1\n", 36);
	is_int(gv_machine_read(&m, "m.csv", &e), -1, "two bad rows");
	is_int(e.count, 2, "both are told");
	gv_error_clear(&e);
	is_int(gv_machine_read(&m, "none.csv", &e), -1, "no file");
	is_str(e.text[0], "none.csv: cannot open: No such file or directory", "says so");
	gv_error_clear(&e);
}

static void
test_fleet(void)
{
	struct gv_fleet f = {.n = GV_FLEET_TYPES, .bytes_per_s = 1};
	size_t t;

	for (t = 0; t < f.n; t++) {
		f.type[t].time_s = malloc(8);
		f.type[t].forward_s = malloc(8);
	}
	gv_fleet_free(&f);
	ok(f.n == 0 && f.bytes_per_s == 0 && f.type[1].time_s == NULL, "a fleet is gone");
	gv_fleet_free(&f);
}

int
main(void)
{
	static const char *const made[] = {"m.csv", NULL};

	draws_begin(17, 4, 1);
	scratch_enter();
	test_flat();
	test_take();
	test_read();
	test_fleet();
	scratch_leave(made);
	return done_testing();
}

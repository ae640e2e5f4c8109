/*
 * Checkpoints in slices: nets of other parts are filled from them, number by number; the files
 * of another run, cut short or of other models are refused and named.
 */
#include "nn_help.h"

#include <sys/stat.h>

#include "base/fileio.h"
#include "base/strbuf.h"
#include "nn/backend.h"
#include "nn/ckpt_file.h"
#include "nn/ckpt_slices.h"

/* parameters of the rows: 9, 6, 8; running statistics: of row 2, 6 */
enum { MODELS = 2, ROWS = 4, CUT = 2 };

static char dir[] = "/tmp/gv-slices-XXXXXX";
static char file[3][64];
static const struct gv_net_coef both[MODELS] = {
    {.lr = .1, .momentum = .9, .beta1 = .9, .beta2 = .999, .eps = 1e-8},
    {.lr = .1, .momentum = .5, .beta1 = .9, .beta2 = .999, .eps = 1e-8}};
static const char config[] = "batch 4\n";
static const char *const lines[MODELS] = {"seed=1", "seed=2"};
static const struct gv_ckpt_key key = {config, MODELS, lines};
static struct gv_model m;
/* the two parts and the whole */
static const struct gv_ckpt_slice slice[] = {
    {file[0], 0, CUT, "rows 0\n"}, {file[1], CUT, ROWS, "rows 2\n"}};
static const struct gv_ckpt_slice all = {file[2], 0, ROWS, NULL};

static struct gv_net *
open_net(size_t first, size_t last, struct gv_net_config c)
{
	c.models = MODELS;
	c.batch = 4;
	c.first_row = first;
	c.last_row = last;
	return help_net(&m, c, 0);
}

/* Numbers that tell array, model and place. */
static gv_real
number(const char *array, size_t b, size_t at)
{
	return (gv_real)(100 * (strlen(array) + (unsigned char)array[0]) + 40 * b + at);
}

static size_t
first_of(size_t row, const char *array)
{
	static const size_t params[ROWS + 1] = {0, 9, 15, 23, 23};
	static const size_t running[ROWS + 1] = {0, 0, 6, 6, 6};

	return strcmp(array, "running") == 0 ? running[row] : params[row];
}

static void
number_net(struct gv_net *net, size_t first)
{
	struct gv_net_array a;
	size_t i, b, k;

	for (b = 0; b < MODELS; b++) {
		for (i = 0; gv_net_array(net, i, &a) == 0; i++) {
			gv_real *v = gv_xcalloc(a.n + 1, sizeof(*v));

			for (k = 0; k < a.n; k++)
				v[k] = number(a.name, b, first_of(first, a.name) + k);
			gv_net_put(net, i, b, v);
			free(v);
		}
		gv_net_set_steps(net, b, 5 + b);
	}
}

/* How many numbers of the net, which begins at row first, are not those. */
static size_t
others(struct gv_net *net, size_t first)
{
	struct gv_net_array a;
	size_t i, b, k, n = 0;

	for (b = 0; b < MODELS; b++) {
		for (i = 0; gv_net_array(net, i, &a) == 0; i++) {
			gv_real *v = help_array(net, i, b);

			for (k = 0; k < a.n; k++)
				n += (int)v[k] !=
				     (int)number(a.name, b, first_of(first, a.name) + k);
			free(v);
		}
		n += gv_net_steps(net, b) != 5 + b;
	}
	return n;
}

/* Writes rows [first, last) with a line of their own. */
static void
write_rows(const char *path, size_t first, size_t last, const char *own,
    const struct gv_ckpt_key *of, struct gv_net_config c)
{
	static const bool diverged[MODELS] = {false, true};
	struct gv_net *net = open_net(first, last, c);
	struct gv_error e = {0};
	char text[100];
	struct gv_ckpt_key with = *of;

	snprintf(text, sizeof(text), "%s%s", of->config, own);
	with.config = text;
	number_net(net, first);
	if (gv_ckpt_write(path, net, &with, diverged, &e) != 0)
		gv_die_error(&e);
	gv_net_free(net);
}

static void
write_all(struct gv_net_config c)
{
	write_rows(file[0], 0, CUT, "rows 0\n", &key, c);
	write_rows(file[1], CUT, ROWS, "rows 2\n", &key, c);
	write_rows(file[2], 0, ROWS, "", &key, c);
}

/* Nets of all ranges of rows, of both parts and of the whole file. */
static void
test_ranges(enum gv_optimiser optimiser)
{
	struct gv_net_config c = {.optimiser = optimiser, .coef = both};
	struct gv_error e = {0};
	size_t first, last, wrong = 0;

	write_all(c);
	for (first = 0; first < ROWS; first++)
		for (last = first + 1; last <= ROWS; last++) {
			struct gv_net *net = open_net(first, last, c);
			bool diverged[MODELS] = {true, false};

			wrong += gv_ckpt_read_slices(slice, 2, &m, net, first, last, &key,
				     diverged, &e) != 0;
			wrong += others(net, first);
			wrong += diverged[0] || !diverged[1];
			gv_net_init(net);
			wrong += others(net, first) == 0 && last < ROWS;
			wrong += gv_ckpt_read_slices(&all, 1, &m, net, first, last, &key,
				     diverged, &e) != 0;
			wrong += others(net, first);
			gv_net_free(net);
		}
	is_int((long long)wrong, 0, "optimiser %d: any rows, of parts and of the whole",
	    (int)optimiser);
	is_int((long long)e.count, 0, "and no error");
}

/* Two slices are joined to the bytes of the whole. */
static void
test_join(void)
{
	char joined[80], *a, *b;
	struct gv_error e = {0};
	size_t n, len;
	struct stat st;

	write_all((struct gv_net_config){.optimiser = GV_ADAM});
	snprintf(joined, sizeof(joined), "%s/joined", dir);
	is_int(gv_ckpt_join_slices(slice, 2, joined, &e), 0, "joined");
	ok(gv_file_read(file[2], &a, &n, 1 << 20, &e) == 0 &&
		gv_file_read(joined, &b, &len, 1 << 20, &e) == 0 && n == len &&
		memcmp(a, b, n) == 0,
	    "the whole, byte for byte");
	ok(stat(joined, &st) == 0 && (st.st_mode & 077) == 0, "and its owner's alone");
	free(a);
	free(b);
	unlink(joined);
	ok(gv_ckpt_join_slices(slice, 2, "/nowhere/joined", &e) == -1 && e.count == 1,
	    "nowhere to write");
	gv_error_clear(&e);
	unlink(file[1]);
	ok(gv_ckpt_join_slices(slice, 2, joined, &e) == -1 && e.count == 1 &&
		access(joined, F_OK) != 0,
	    "one that is not there: nothing is written");
	gv_error_clear(&e);
}

static void
test_steps(void)
{
	struct gv_error e = {0};
	uint64_t steps = 77;

	write_all((struct gv_net_config){0});
	ok(gv_ckpt_steps(file[2], &steps, &e) == 0 && steps == 5, "steps of the first");
	ok(gv_ckpt_steps(dir, &steps, &e) == -1 && steps == 5 && e.count == 1,
	    "a directory has none");
	gv_error_clear(&e);
}

/* ---- what is refused ---- */

/* The slices' message for a net of all rows, behind the name of the file it begins with. */
static void
refused(const struct gv_ckpt_slice *s, size_t n, struct gv_net_config c,
    const struct gv_ckpt_key *of, size_t which, const char *want)
{
	struct gv_net *net = open_net(0, ROWS, c);
	bool diverged[MODELS];
	struct gv_error e = {0};
	char text[300];

	ok(gv_ckpt_read_slices(s, n, &m, net, 0, ROWS, of, diverged, &e) == -1 &&
		e.count == 1,
	    "refused");
	snprintf(text, sizeof(text), "%s: %s", file[which], want);
	is_str(e.text[0], text, "%s", want);
	gv_net_free(net);
}

static void
test_refused(void)
{
	static const char *const other_lines[MODELS] = {"seed=1", "seed=3"};
	const struct gv_ckpt_key other = {config, MODELS, other_lines};
	static const char *const first_lines[MODELS] = {"seed=4", "seed=2"};
	const struct gv_ckpt_key first = {config, MODELS, first_lines};
	const struct gv_ckpt_key one = {config, 1, lines};
	const struct gv_ckpt_key more = {"batch 8\n", MODELS, lines};
	struct gv_net_config c = {0}, adam = {.optimiser = GV_ADAM};
	struct gv_ckpt_slice longer[2] = {slice[0], slice[1]};

	write_all(c);
	refused(slice, 2, c, &other, 0,
	    "of another run: model 1 was \"seed=2\", is now \"seed=3\"");
	refused(slice, 2, c, &first, 0,
	    "of another run: model 0 was \"seed=1\", is now \"seed=4\"");
	refused(slice, 2, c, &one, 0, "a slice of another run: it holds other models");
	refused(slice, 2, c, &more, 0,
	    "of another run: it has \"batch 4\", this run \"batch 8\"");
	refused(slice, 2, adam, &key, 0, "a slice of another run: adam_m");
	longer[1].own = "rows 3\n";
	refused(longer, 2, c, &key, 1, "a slice of another run: its rows are others");
	longer[1].own = "a line that is longer than all of what the file has\n";
	refused(longer, 2, c, &key, 1, "a slice of another run: its rows are others");
	longer[1] = slice[0];
	longer[1].last = ROWS;
	refused(longer + 1, 1, c, &key, 0, "a slice of another run: params");
	write_rows(file[1], CUT, ROWS, "rows 2\n", &more, c);
	refused(slice, 2, c, &key, 1,
	    "of another run: it has \"batch 8\", this run \"batch 4\"");
	unlink(file[1]);
	refused(slice, 2, c, &key, 1, "cannot open: No such file or directory");
}

/* Writes a file without numbers, of so many models. */
static void
write_empty(const char *path, const char *dtype, size_t models)
{
	struct gv_ckpt_out w = {.crc = crc32(0, NULL, 0)};
	struct gv_strbuf head = {0};
	struct gv_error e = {0};

	if (gv_out_open(&w.out, path, &e) != 0)
		gv_die_error(&e);
	gv_ckpt_preamble(&head, dtype, models, config);
	while (models-- > 0)
		gv_strbuf_str(&head, "model a\nstate steps=3\n");
	gv_strbuf_char(&head, '\n');
	gv_ckpt_put(&w, head.s, head.len);
	gv_ckpt_put_crc(&w);
	gv_strbuf_free(&head);
	gv_out_close(w.out, &e);
}

static void
test_unlike(void)
{
	struct gv_ckpt_slice s[2] = {slice[0], slice[1]};
	struct gv_net_config c = {0};

	s[0].own = s[1].own = NULL;
	write_empty(file[0], "f32", 2);
	write_empty(file[1], "f32", 1);
	refused(s, 2, c, &key, 1, "a slice of another run: it holds other models");
	write_empty(file[0], "f64", 2);
	refused(s, 1, c, &key, 0, "a slice of another run: its numbers are others");
}

/* ---- what files lack ---- */

/* A net of two versions of an older file, which has one: both are that. */
static void
test_versions(void)
{
	struct gv_net_config c = {.versions = 2};
	struct gv_error e = {0};
	bool diverged[MODELS];
	struct gv_net *net = open_net(0, ROWS, c);
	struct gv_net_array a;
	size_t i, b, wrong = 0, older = 0;

	write_all((struct gv_net_config){0});
	is_int(gv_ckpt_read_slices(slice, 2, &m, net, 0, ROWS, &key, diverged, &e), 0,
	    "two versions");
	for (b = 0; b < MODELS; b++)
		for (i = 0; gv_net_array(net, i, &a) == 0; i++) {
			gv_real *v = help_array(net, i, b), *w = help_array(net, 0, b);

			if (strcmp(a.name, "params.1") == 0) {
				older++;
				wrong += memcmp(v, w, a.n * sizeof(*v)) != 0;
			}
			free(v);
			free(w);
		}
	ok(older == MODELS && wrong == 0, "the older one is the newest");
	gv_net_free(net);
}

/* A model without momentum has none in the file. */
static void
test_momentum(void)
{
	static const struct gv_net_coef none[MODELS] = {
	    {.lr = .1, .momentum = .9}, {.lr = .1}};
	struct gv_net_config c = {.coef = none};
	struct gv_error e = {0};
	bool diverged[MODELS];
	struct gv_net *net = open_net(0, ROWS, c);
	gv_real *v;
	size_t i, wrong = 0;

	write_all(c);
	is_int(gv_ckpt_read_slices(slice, 2, &m, net, 0, ROWS, &key, diverged, &e), 0,
	    "one has momentum");
	v = help_array(net, 1, 0);
	wrong += (int)v[3] != (int)number("momentum", 0, 3);
	free(v);
	v = help_array(net, 1, 1);
	for (i = 0; i < 23; i++)
		wrong += v[i] < 0 || v[i] > 0;
	free(v);
	is_int((long long)wrong, 0, "and the other none");
	gv_net_free(net);
	c.coef = both;
	refused(slice, 2, c, &key, 0, "a slice of another run: momentum");
}

/* ---- a device that fails ---- */

static int
fail_to_put(struct gv_nn_backend *be, void *to, const void *from, size_t bytes)
{
	(void)be, (void)to, (void)from, (void)bytes;
	return -1;
}

static const char *
why(struct gv_nn_backend *be)
{
	(void)be;
	return "the device is gone";
}

static void
test_device(void)
{
	struct gv_nn_backend *be = gv_cpu_new(1);
	struct gv_net *net = open_net(0, ROWS, (struct gv_net_config){.backend = be});
	bool diverged[MODELS];
	struct gv_error e = {0};
	char want[200];

	write_all((struct gv_net_config){0});
	be->put = fail_to_put;
	be->error = why;
	ok(gv_ckpt_read_slices(slice, 2, &m, net, 0, ROWS, &key, diverged, &e) == -1,
	    "what cannot be written");
	snprintf(
	    want, sizeof(want), "%s: cannot write the net: the device is gone", file[0]);
	is_str(e.text[0], want, "is told");
	gv_net_free(net);
}

int
main(void)
{
	char old[sizeof(file[0]) + 8];
	size_t i;

	if (mkdtemp(dir) == NULL)
		gv_die_sys("cannot make %s", dir);
	for (i = 0; i < 3; i++)
		snprintf(file[i], sizeof(file[i]), "%s/%zu", dir, i);
	m = help_model(
	    "id,op,out,act\n1,linear,3,\n2,bn,,relu\n3,linear,,\n4,xent,,\n", 1, 1, 2, 2);
	test_ranges(GV_SGD);
	test_ranges(GV_ADAM);
	test_join();
	test_steps();
	test_refused();
	test_unlike();
	test_versions();
	test_momentum();
	test_device();
	gv_model_free(&m);
	for (i = 0; i < 3; i++) {
		snprintf(old, sizeof(old), "%.64s.old", file[i]);
		unlink(old);
		unlink(file[i]);
	}
	rmdir(dir);
	return done_testing();
}

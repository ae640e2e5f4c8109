/* common/nn/ckpt: what is written is what is read; damage and other runs are refused. */
#include "tap.h"

#include <dirent.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "nn/ckpt.h"
#include "nn/ckpt_file.h"
#include "nn/backend.h"
#include "nn/cpu/cpu.h"

enum { MODELS = 3, BATCH = 8 };

static char dir[] = "/tmp/gv-ckpt-XXXXXX";
static char path[64], other[64];

static const char table[] =
    "id,op,out,act\n1,linear,3,\n2,bn,,relu\n3,linear,,\n4,xent,,\n";
static const char config[] = "optimizer sgd\nbatch 8\nrow 1 linear\n";
static const char *const lines[MODELS] = {
    "seed=1 lr=0.1", "seed=2 lr=0.2", "seed=3 lr=0.3"};
static const struct gv_ckpt_key key = {config, MODELS, lines};

/* ---- a backend that fails once a count of copies has run out ---- */

static int copies_left = -1; /* -1 = any number */
static int (*copy_of)(struct gv_nn_backend *, void *, const void *, size_t);

static int
copy_or_fail(struct gv_nn_backend *be, void *to, const void *from, size_t bytes)
{
	if (copies_left == 0)
		return -1;
	copies_left -= copies_left > 0;
	return copy_of(be, to, from, bytes);
}

static const char *
why_it_failed(struct gv_nn_backend *be)
{
	(void)be;
	return copies_left == 0 ? "the device is gone" : NULL;
}

static struct gv_nn_backend *
backend_that_may_fail(void)
{
	struct gv_nn_backend *be = gv_cpu_new(1);

	copy_of = be->get;
	be->get = be->put = copy_or_fail;
	be->error = why_it_failed;
	return be;
}

static struct gv_net *
make_net(size_t models, enum gv_optimiser kind)
{
	static const uint64_t seed[MODELS] = {1, 2, 3};
	/* the second has no momentum */
	static const struct gv_net_coef coef[MODELS] = {
	    {.lr = .1, .momentum = .9, .beta1 = .9, .beta2 = .999, .eps = 1e-8},
	    {.lr = .2, .momentum = 0, .beta1 = .9, .beta2 = .999, .eps = 1e-8},
	    {.lr = .3, .momentum = .5, .beta1 = .9, .beta2 = .999, .eps = 1e-8}};
	struct gv_net_config c = {.models = models, .batch = BATCH, .optimiser = kind};
	struct gv_error e = {0};
	struct gv_model m = {0};
	struct gv_net *net = NULL;

	c.seed = seed;
	c.backend = backend_that_may_fail();
	c.coef = coef;
	gv_file_write(other, table, sizeof(table) - 1, &e);
	if (gv_model_read(&m, other, &e) != 0 ||
	    gv_model_shape(&m, (struct gv_shape){2, 1, 1}, 2, &e) != 0 ||
	    gv_net_new(&net, &m, &c, &e) != 0)
		printf("# %s\n", e.text[0]);
	gv_model_free(&m);
	return net;
}

static void
train(struct gv_net *net, int steps)
{
	gv_real x[2 * BATCH];
	int32_t y[BATCH];
	double loss[MODELS];
	int i, j;

	for (i = 0; i < steps; i++) {
		for (j = 0; j < 2 * BATCH; j++)
			x[j] = (gv_real)gv_random_normal(7, (uint32_t)i, 0, (uint64_t)j);
		for (j = 0; j < BATCH; j++)
			y[j] = x[2 * j] > x[2 * j + 1];
		gv_net_step(net, x, y, loss);
	}
}

/* Whether all that counts is equal: the velocity of model 1 does not. */
static int
differ(struct gv_net *a, struct gv_net *b)
{
	struct gv_net_array p;
	gv_real v[64], w[64];
	size_t i, m;
	int bad = 0;

	for (m = 0; m < MODELS; m++) {
		bad += gv_net_steps(a, m) != gv_net_steps(b, m);
		for (i = 0; gv_net_array(a, i, &p) == 0; i++) {
			gv_net_get(a, i, m, v);
			gv_net_get(b, i, m, w);
			if (m != 1 || strcmp(p.name, "momentum") != 0)
				bad += memcmp(v, w, p.n * sizeof(*v)) != 0;
		}
	}
	return bad;
}

static void
test_round_trip(enum gv_optimiser kind, const char *name)
{
	struct gv_net *a = make_net(MODELS, kind), *b = make_net(MODELS, kind);
	bool diverged[MODELS] = {false, false, true}, got[MODELS] = {true, true, false},
	     damaged;
	struct gv_error e = {0};

	train(a, 10);
	ok(gv_ckpt_write(path, a, &key, diverged, &e) == 0, "%s: written", name);
	ok(differ(a, b) > 0, "%s: another net is another net", name);
	is_int(gv_ckpt_read(path, b, &key, got, &damaged, &e), GV_CKPT_READ, "%s: read",
	    name);
	is_int(differ(a, b), 0, "%s: bit for bit", name);
	ok(!got[0] && !got[1] && got[2], "%s: diverged models are marked", name);
	train(a, 10);
	train(b, 10);
	is_int(differ(a, b), 0, "%s: and goes on alike", name);
	gv_net_free(a);
	gv_net_free(b);
}

static void
test_missing(void)
{
	struct gv_net *net = make_net(MODELS, GV_SGD);
	struct gv_error e = {0};
	bool diverged[MODELS], damaged;
	char name[100];

	snprintf(name, sizeof(name), "%s/none", dir);
	is_int(gv_ckpt_read(name, net, &key, diverged, &damaged, &e), GV_CKPT_NONE,
	    "no file");
	is_int((long long)e.count, 0, "is no error");
	is_int(gv_ckpt_read(dir, net, &key, diverged, &damaged, &e), GV_CKPT_ERROR,
	    "a directory");
	snprintf(name, sizeof(name), "%s/none/none", dir);
	is_int(gv_ckpt_write(name, net, &key, diverged, &e), -1, "nowhere to write");
	gv_net_free(net);
}

/* ---- damage ---- */

static char *whole;
static size_t whole_len;

static void
spoil(const void *bytes, size_t len)
{
	struct gv_error e = {0};

	gv_file_write(other, bytes, len, &e);
}

/* Reading other is refused as damage and leaves net alone. */
static int
refused(struct gv_net *net, struct gv_net *before)
{
	bool diverged[MODELS] = {0}, damaged;
	struct gv_error e = {0};

	return gv_ckpt_read(other, net, &key, diverged, &damaged, &e) == GV_CKPT_ERROR &&
	       damaged && e.count == 1 && differ(net, before) == 0;
}

static void
test_damage(void)
{
	struct gv_net *net = make_net(MODELS, GV_SGD), *same = make_net(MODELS, GV_SGD);
	struct gv_error e = {0};
	char *copy;
	size_t i;
	int accepted = 0;

	gv_file_read(path, &whole, &whole_len, 1 << 20, &e);
	copy = malloc(whole_len + 1);
	if (copy == NULL)
		return;
	for (i = 0; i < whole_len; i += i < 400 ? 1 : 37) {
		spoil(whole, i);
		accepted += !refused(net, same);
	}
	is_int(accepted, 0, "cut anywhere: refused");
	accepted = 0;
	for (i = 0; i < whole_len; i += i < 200 ? 3 : 101) {
		memcpy(copy, whole, whole_len);
		copy[i] = (char)(copy[i] ^ 1 << i % 8);
		spoil(copy, whole_len);
		accepted += !refused(net, same);
	}
	is_int(accepted, 0, "one bit changed: refused");
	memcpy(copy, whole, whole_len);
	copy[whole_len] = 0;
	spoil(copy, whole_len + 1);
	ok(refused(net, same), "one byte more: refused");
	free(copy);
	gv_net_free(net);
	gv_net_free(same);
}

/* Files with a right checksum whose header is wrong. */
static void
is_message(const char *text, size_t raw, const char *want)
{
	struct gv_net *net = make_net(MODELS, GV_SGD);
	struct gv_strbuf s = {0};
	struct gv_error e = {0};
	bool diverged[MODELS], damaged;
	char message[400], zero[64] = {0};
	uLong crc;
	int i;

	gv_strbuf_str(&s, text);
	gv_strbuf_add(&s, zero, raw);
	crc = crc32(0, (const Bytef *)s.s, (uInt)s.len);
	for (i = 0; i < 4; i++)
		gv_strbuf_char(&s, (char)(crc >> 8 * i));
	spoil(s.s, s.len);
	gv_strbuf_free(&s);
	is_int(gv_ckpt_read(other, net, &key, diverged, &damaged, &e), GV_CKPT_ERROR,
	    "refused");
	snprintf(message, sizeof(message), "%s: %s", other, want);
	is_str(e.text[0], message, "%s", want);
	gv_net_free(net);
}

static void
test_headers(void)
{
	is_message("gvckpt 2\n\n\n\n", 9,
	    "not a whole checkpoint: it does not start with \"gvckpt 1\"");
	is_message("gvckpt 1\nmodels 1\n", 0, "not a whole checkpoint: no dtype");
	is_message("gvckpt 1\ndtype f32\nmodels x\n", 0,
	    "not a whole checkpoint: no number of models");
	is_message("gvckpt 1\ndtype f32\nmodels 0\n", 0,
	    "not a whole checkpoint: no number of models");
	is_message("gvckpt 1\ndtype f32\nmodels 2\nmodel a\nstate steps=1\n\n", 0,
	    "not a whole checkpoint: too few models");
	is_message("gvckpt 1\ndtype f32\nmodels 1\nmodel a\nstate steps=1\nmodel "
		   "b\nstate steps=1\n\n",
	    0, "not a whole checkpoint: too many models");
	is_message("gvckpt 1\ndtype f32\nmodels 1\nmodel a\nmodel b\n\n", 0,
	    "not a whole checkpoint: a model without state");
	is_message("gvckpt 1\ndtype f32\nmodels 1\nmodel a\nstate steps=1\nbatch 3\n\n",
	    0, "not a whole checkpoint: lines out of order");
	is_message("gvckpt 1\ndtype f32\nmodels 1\nmodel a\nstate steps=1 params=5\n\n",
	    16, "not a whole checkpoint: it ends too early");
	is_message("gvckpt 1\ndtype f32\nmodels 1\nmodel a\nstate steps=1 params=3\n\n",
	    16, "not a whole checkpoint: more bytes than its header says");
	is_message("gvckpt 1\ndtype f64\nmodels 1\nmodel a\nstate steps=1 params=2\n\n",
	    16, "of another run: its numbers are \"f64\", this run's f32");
	is_message("gvckpt 1\ndtype f32\nmodels 1\nmodel a\nstate steps=1 params=2\n\n",
	    8, "of another run: it holds 1 models, this run trains 3");
	is_message("gvckpt 1\ndtype f32\nmodels 3\noptimizer sgd\nbatch 8\nrow 1 linear\n"
		   "model seed=1 lr=0.1\nstate steps=1 params=2\nmodel b\nstate "
		   "steps=1\nmodel c\nstate steps=1\n\n",
	    8, "of another run: model 0 has 2 numbers of params, not 23");
	is_message("gvckpt 1\ndtype f32\nmodels 3\noptimizer sgd\nbatch 8\nrow 1 linear\n"
		   "model seed=1 lr=9\nstate steps=1 params=2\nmodel b\nstate "
		   "steps=1\nmodel c\nstate steps=1\n\n",
	    8, "of another run: model 0 was \"seed=1 lr=9\", is now \"seed=1 lr=0.1\"");
	is_message(
	    "gvckpt 1\ndtype f32\nmodels 3\noptimizer sgd\nbatch 8\n"
	    "model a\nstate steps=1\nmodel b\nstate steps=1\nmodel c\nstate steps=1\n\n",
	    0, "of another run: it has \"\", this run \"row 1 linear\"");
	is_message(
	    "gvckpt 1\ndtype f32\nmodels 3\noptimizer sgd\nbatch 8\nrow 1 linear\nrow 2 "
	    "bn\n"
	    "model a\nstate steps=1\nmodel b\nstate steps=1\nmodel c\nstate steps=1\n\n",
	    0, "of another run: it has \"row 2 bn\", this run \"\"");
}

/* A line that is the beginning of the other one is another. */
static void
test_beginnings(void)
{
	static const char *const line[] = {"row 1 lin", "row 1 linear and more"};
	char text[300], want[300];
	size_t i;

	for (i = 0; i < 2; i++) {
		snprintf(text, sizeof(text),
		    "gvckpt 1\ndtype f32\nmodels 3\noptimizer sgd\nbatch 8\n%s\nlast\n"
		    "model a\nstate steps=1\nmodel b\nstate steps=1\nmodel c\nstate "
		    "steps=1\n\n",
		    line[i]);
		snprintf(want, sizeof(want),
		    "of another run: it has \"%s\", this run \"row 1 linear\"", line[i]);
		is_message(text, 0, want);
	}
}

/* ---- splitting and the file before ---- */

/* Nobody else reads what training left. */
static void
is_private(const char *file)
{
	struct stat st;

	ok(stat(file, &st) == 0 && (st.st_mode & 0777) == 0600, "%s is its owner's alone",
	    strrchr(file, '/') + 1);
}

static size_t
files(void)
{
	DIR *d = opendir(dir);
	size_t n = 0;

	while (d != NULL && readdir(d) != NULL)
		n++;
	if (d != NULL)
		closedir(d);
	return n;
}

static void
test_split(void)
{
	struct gv_net *net = make_net(MODELS, GV_SGD), *one = make_net(1, GV_SGD);
	bool diverged[MODELS] = {false}, damaged;
	struct gv_ckpt_key alone = {config, 1, lines};
	struct gv_error e = {0};
	gv_real a[64], b[64];
	struct gv_net_array of;
	size_t n;

	train(net, 3);
	gv_ckpt_write(path, net, &key, diverged, &e);
	ok(gv_ckpt_models(path, &n, &e) == 0 && n == MODELS, "counts the models");
	unlink(other);
	is_int(gv_ckpt_split(path, 0, other, &e), 0, "model 0 alone");
	is_private(path);
	is_private(other);
	is_int(gv_ckpt_read(other, one, &alone, diverged, &damaged, &e), GV_CKPT_READ,
	    "can be read");
	gv_net_array(net, 0, &of);
	gv_net_get(net, 0, 0, a);
	gv_net_get(one, 0, 0, b);
	ok(memcmp(a, b, of.n * sizeof(*a)) == 0, "and has its parameters");
	is_int(gv_ckpt_split(path, 3, other, &e), -1, "no model 3");
	ok(strstr(e.text[0], ": no model 3 among its 3") != NULL, "%s", e.text[0]);
	gv_net_free(net);
	gv_net_free(one);
}

/* A checkpoint of one model without numbers. */
static void
write_empty(const char *to, const char *dtype, const char *conf)
{
	struct gv_ckpt_out w = {.crc = crc32(0, NULL, 0)};
	struct gv_strbuf head = {0};
	struct gv_error e = {0};

	gv_out_open(&w.out, to, &e);
	gv_ckpt_preamble(&head, dtype, 1, conf);
	gv_strbuf_str(&head, "model a\nstate steps=3\n\n");
	gv_ckpt_put(&w, head.s, head.len);
	gv_ckpt_put_crc(&w);
	gv_strbuf_free(&head);
	gv_out_close(w.out, &e);
}

static void
test_join(void)
{
	const char *const both[] = {path, other};
	char joined[80], want[200];
	struct gv_error e = {0};
	size_t n;

	snprintf(joined, sizeof(joined), "%s.joined", path);
	write_empty(path, "f32", "batch 1\n");
	write_empty(other, "f32", "batch 1\n");
	is_int(gv_ckpt_join(both, 2, joined, &e), 0, "two are joined");
	is_private(joined);
	ok(gv_ckpt_models(joined, &n, &e) == 0 && n == 2, "to one of two");
	write_empty(other, "f64", "batch 1\n");
	is_int(gv_ckpt_join(both, 2, joined, &e), -1, "floats and doubles are not");
	snprintf(want, sizeof(want),
	    "%s: of another run than %s: numbers of another kind", other, path);
	is_str(e.text[0], want, "says so");
}

/* All models of a checkpoint alone, and joined again: the same bytes. */
static void
test_apart(void)
{
	struct gv_net *net = make_net(MODELS, GV_ADAM);
	bool diverged[MODELS] = {false, true, false};
	char part[MODELS][80], joined[80], *a, *b;
	const char *const parts[] = {part[0], part[1], part[2]};
	struct gv_error e = {0};
	size_t i, n, len;

	train(net, 3);
	gv_ckpt_write(path, net, &key, diverged, &e);
	for (i = 0; i < MODELS; i++) {
		snprintf(part[i], sizeof(part[i]), "%s.%zu", path, i);
		is_int(gv_ckpt_split(path, i, part[i], &e), 0, "model %zu alone", i);
	}
	snprintf(joined, sizeof(joined), "%s.whole", path);
	is_int(gv_ckpt_join(parts, MODELS, joined, &e), 0, "joined again");
	ok(gv_file_read(path, &a, &n, 1 << 20, &e) == 0 &&
		gv_file_read(joined, &b, &len, 1 << 20, &e) == 0 && n == len &&
		memcmp(a, b, n) == 0,
	    "to the same bytes");
	free(a);
	free(b);
	gv_net_free(net);
}

/* Of two runs that are joined the first lines that differ are said. */
static void
test_join_other(void)
{
	static const struct {
		const char *first, *second, *is, *want;
	} of[] = {{"batch 1\nrow a\n", "batch 1\nrow b\n", "row b", "row a"},
	    {"batch 1\n", "batch 1\nrow b\nrow c\n", "row b", ""},
	    {"batch 1\nrow a\nrow c\n", "batch 1\n", "", "row a"},
	    {"", "row a\n", "row a", ""}, {"row a\n", "", "", "row a"},
	    {"batch 1\nrow 1\n", "batch 12\nrow 2\n", "batch 12", "batch 1"}};
	const char *const three[] = {path, path, other};
	char joined[80], want[300];
	size_t i;

	snprintf(joined, sizeof(joined), "%s.of-others", path);
	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct gv_error e = {0};

		write_empty(path, "f32", of[i].first);
		write_empty(other, "f32", of[i].second);
		ok(gv_ckpt_join(three + i % 2, 3 - i % 2, joined, &e) == -1 &&
			e.count == 1,
		    "two runs are not joined");
		snprintf(want, sizeof(want),
		    "%s: of another run than %s: it has \"%s\", that one \"%s\"", other,
		    path, of[i].is, of[i].want);
		is_str(e.text[0], want, "says so");
	}
	unlink(other);
	ok(gv_ckpt_join(three, 3, joined, &(struct gv_error){0}) == -1,
	    "nor is one that is not there");
	ok(access(joined, F_OK) != 0, "and there is no file of them");
}

static void
test_old(void)
{
	struct gv_net *net = make_net(MODELS, GV_SGD), *got = make_net(MODELS, GV_SGD);
	bool diverged[MODELS] = {false}, damaged;
	struct gv_error e = {0};
	char old[80];

	snprintf(old, sizeof(old), "%s.old", path);
	unlink(path);
	unlink(old);
	train(net, 2);
	gv_ckpt_write(path, net, &key, diverged, &e);
	ok(access(old, F_OK) != 0, "the first has none before it");
	train(net, 5);
	gv_ckpt_write(path, net, &key, diverged, &e);
	gv_ckpt_read(old, got, &key, diverged, &damaged, &e);
	is_int((long long)gv_net_steps(got, 0), 2, "the one before is that of step 2");
	gv_ckpt_read(path, got, &key, diverged, &damaged, &e);
	is_int((long long)gv_net_steps(got, 0), 7, "the last that of step 7");
	gv_net_free(net);
	gv_net_free(got);
}

/* A device that fails while it is read or written: said so, and the file stays. */
static void
test_device(void)
{
	struct gv_net *net = make_net(MODELS, GV_ADAM), *got = make_net(MODELS, GV_ADAM);
	bool diverged[MODELS] = {false}, damaged = true;
	struct gv_error e = {0};
	char want[200];
	size_t before;
	int n;

	train(net, 3);
	ok(gv_ckpt_write(path, net, &key, diverged, &e) == 0, "a checkpoint");
	before = files();
	train(net, 3);
	/* each model has four arrays */
	for (n = 0; n < 4 * MODELS; n += 5) {
		gv_error_clear(&e);
		copies_left = n;
		is_int(gv_ckpt_write(path, net, &key, diverged, &e), -1,
		    "a device fails after %d copies", n);
		snprintf(want, sizeof(want),
		    "%s: cannot read the net: the device is gone", path);
		is_str(e.text[0], want, "and it is said");
		gv_error_clear(&e);
		is_int(gv_ckpt_read(path, got, &key, diverged, &damaged, &e),
		    GV_CKPT_ERROR, "it fails in reading");
		snprintf(want, sizeof(want),
		    "%s: cannot write the net: the device is gone", path);
		is_str(e.text[0], want, "which is said");
		ok(!damaged, "the file is not to blame");
		copies_left = -1;
	}
	is_int(files(), before, "no file more");
	gv_error_clear(&e);
	is_int(gv_ckpt_read(path, got, &key, diverged, &damaged, &e), GV_CKPT_READ,
	    "the last file is there");
	is_int((long long)gv_net_steps(got, 0), 3, "and whole");
	gv_net_free(net);
	gv_net_free(got);
}

/* Words of a state line: a number behind just that name, and a last word. */
static void
test_state(void)
{
	static const struct {
		const char *line, *name;
		long long number; /* -1 = none */
	} of[] = {
	    {"steps=5", "steps", 5},
	    {"steps=5 params=12 m=3", "steps", 5},
	    {"steps=5 params=12 m=3", "params", 12},
	    {"steps=5 params=12 m=3", "m", 3},
	    {"steps=5 params=12 m=3", "s", -1},
	    {"steps=5 params=12 m=3", "steps=5", -1},
	    {"steps=5 params=12 m=3", "momentum", -1},
	    {"steps=0", "steps", 0},
	    {"steps=-1", "steps", -1},
	    {"steps=", "steps", -1},
	    {"steps", "steps", -1},
	    {"steps=1e3", "steps", -1},
	    {"xsteps=4 steps=6", "steps", 6},
	    {"", "steps", -1},
	    {"steps=7 diverged", "steps", 7},
	    {"steps=7 diverged", "diverged", -1},
	};
	static const struct {
		const char *line;
		bool diverged;
	} ends[] = {{"steps=7 diverged", true}, {" diverged", true}, {"diverged", false},
	    {"steps=7 diverged ", false}, {"steps=7", false}, {"", false}};
	size_t i;

	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		char *copy = gv_xstrndup(of[i].line, strlen(of[i].line));
		struct gv_ckpt_line line = {copy, strlen(copy)};
		uint64_t v = 99;
		bool found = gv_ckpt_state_number(line, of[i].name, &v);

		ok(found == (of[i].number >= 0) &&
			v == (found ? (uint64_t)of[i].number : 99),
		    "\"%s\": %s", of[i].line, of[i].name);
		free(copy);
	}
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct gv_ckpt_line line = {ends[i].line, strlen(ends[i].line)};

		ok(gv_ckpt_state_diverged(line) == ends[i].diverged, "\"%s\"",
		    ends[i].line);
	}
}

/* Arrays behind the last one are none. */
static void
test_arrays(void)
{
	struct gv_net *net = make_net(1, GV_ADAM);
	struct gv_net_array a;
	gv_real v[64] = {0};
	size_t n = 0;

	while (gv_net_array(net, n, &a) == 0)
		n++;
	ok(n >= 3, "parameters and moments");
	is_int(gv_net_array(net, n + 5, &a), -1, "no more arrays");
	is_int(gv_net_get(net, n, 0, v), -1, "to get");
	is_int(gv_net_put(net, n, 0, v), -1, "or to put");
	gv_net_free(net);
}

int
main(void)
{
	struct gv_error e = {0};

	test_state();
	if (mkdtemp(dir) == NULL)
		return 2;
	snprintf(path, sizeof(path), "%s/a", dir);
	snprintf(other, sizeof(other), "%s/b", dir);
	test_round_trip(GV_ADAM, "adam");
	test_round_trip(GV_SGD, "sgd");
	test_arrays();
	test_missing();
	test_damage();
	test_headers();
	test_beginnings();
	test_split();
	test_join();
	test_join_other();
	test_apart();
	test_old();
	test_device();
	free(whole);
	gv_remove_tree(dir, &e);
	return done_testing();
}

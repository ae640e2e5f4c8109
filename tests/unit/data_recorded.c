/*
 * Drawn files of samples, good ones and others, and what is made of them: read, scaled, written
 * and put in order as before.
 */
#include "answers_help.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "data/data.h"

/* ---- what a set is ---- */

static void
record_set(struct recorded *r, const struct gv_data *d)
{
	const size_t v[] = {
	    d->n, d->h, d->w, d->c, d->size, d->targets, d->classes, d->crc};
	size_t i, all = d->n * (d->targets > 0 ? d->targets : 1);

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		recorded_whole(r, (long long)v[i]);
	recorded_double(r, d->low);
	recorded_double(r, d->high);
	for (i = 0; i < d->n * d->size; i++)
		recorded_double(r, d->x[i]);
	for (i = 0; i < all && d->y != NULL; i++)
		recorded_whole(r, d->y[i]);
	for (i = 0; i < all && d->t != NULL; i++)
		recorded_double(r, d->t[i]);
}

static void
copy_set(struct gv_data *to, const struct gv_data *d)
{
	size_t all = d->n * d->targets;

	*to = *d;
	to->x = gv_xcalloc(d->n * d->size, sizeof(*d->x));
	memcpy(to->x, d->x, d->n * d->size * sizeof(*d->x));
	if (d->y != NULL) {
		to->y = gv_xcalloc(all, sizeof(*d->y));
		memcpy(to->y, d->y, all * sizeof(*d->y));
	}
	if (d->t != NULL) {
		to->t = gv_xcalloc(all, sizeof(*d->t));
		memcpy(to->t, d->t, all * sizeof(*d->t));
	}
}

/* One of the things that can become of a set. */
static void
make_of_it(struct recorded *r, struct gv_data *d, const struct answers_file *file)
{
	struct gv_data test;
	struct gv_error e = {0};
	bool both = one_in(2);
	size_t what = below(9), len = 0;
	char *text;

	copy_set(&test, d);
	test.n -= below(test.n);
	gv_data_scale(d, both ? &test : NULL, (enum gv_data_scale)below(3));
	record_set(r, &test);
	gv_data_free(&test);
	if (what == 0 && d->y != NULL && d->classes < 300)
		gv_data_one_hot(d, d->classes + below(3));
	if (what == 1 && d->y != NULL)
		gv_data_as_numbers(d);
	if (what == 2) {
		gv_data_own_targets(d);
		record_set(r, d);
		gv_data_own_targets_fill(d);
	}
	if (what == 3 && d->y != NULL) {
		recorded_whole(r, gv_data_export(d, file->path, &e));
		if (gv_file_read(file->path, &text, &len, 1 << 20, &e) == 0) {
			recorded_text(r, text);
			free(text);
		}
		recorded_errors(r, &e);
	}
	record_set(r, d);
}

static void
open_it(struct recorded *r, const struct gv_data_spec *spec,
    const struct answers_file *file, size_t *good)
{
	struct gv_error e = {0};
	struct gv_data d;

	if (gv_data_open(&d, spec, &e) == 0) {
		record_set(r, &d);
		make_of_it(r, &d, file);
		*good += 1;
	}
	recorded_errors(r, &e);
	gv_data_free(&d);
	recorded_whole(r, d.n == 0 && d.x == NULL && d.y == NULL && d.t == NULL);
}

/* ---- what is generated, and how it is asked for ---- */

static void
ask_generated(struct recorded *r, const struct answers_file file[3], size_t *good)
{
	static const char *const odd[] = {"digits", "digits:", "digits:0", "digits:-1",
	    "digits:4194305", "digits:3:", "digits:3:-1", "digits:3:x", "digits:x:3",
	    "digits:3:4:5", "digitsx", "sentences:", "sentences:0", "sentences:2:-1",
	    "sentence", "idx:", "idx:,b", "idx:a,", "idx:a", "idx:/nowhere,/nowhere",
	    "csv:/nowhere", "csv", "text:/nowhere", "tokens:/nowhere",
	    "tokens32:/nowhere", "", "tokens", "digits:2:9223372036854775808"};
	struct gv_data_spec spec = {.label = "label", .digit_seed = below(3)};
	size_t n = one_in(6) ? 100 : 1 + below(9), seed = below(9), kind = below(5);
	size_t far = one_in(2) ? 0 : 40;
	char text[100];

	spec.context = one_in(5) ? 4000 : (int64_t)(1 + below(20));
	if (one_in(3)) {
		spec.h = one_in(4) ? 8 : 4;
		spec.w = one_in(4) ? 32 : 64;
		spec.c = 1;
	}
	if (kind == 0)
		snprintf(text, sizeof(text), "%s", odd[1 + below(27)]);
	else if (kind < 3)
		snprintf(text, sizeof(text), one_in(2) ? "digits:%zu" : "digits:%zu:%zu",
		    n, seed << far);
	else
		snprintf(text, sizeof(text),
		    one_in(2) ? "sentences:%zu" : "sentences:%zu:%zu", n, seed << far);
	spec.text = text;
	open_it(r, &spec, &file[2], good);
}

/* ---- IDX files ---- */

static void
add_size(struct gv_strbuf *s, size_t n)
{
	gv_strbuf_char(s, (char)(n >> 24 & 255));
	gv_strbuf_char(s, (char)(n >> 16 & 255));
	gv_strbuf_char(s, (char)(n >> 8 & 255));
	gv_strbuf_char(s, (char)(n & 255));
}

/* Some byte is another; some are left out or stand behind. */
static void
spoil(struct gv_strbuf *s, size_t head)
{
	size_t what = below(5);

	if (what == 4) {
		s->s[0] = 0x1f; /* as if it were compressed */
		s->s[1] = (char)0x8b;
	} else if (what == 0)
		s->s[below(s->len < head ? s->len : head)] = (char)below(12);
	else if (what == 1)
		s->len = below(s->len + 1);
	else if (what == 2)
		gv_strbuf_char(s, 'x');
	else
		s->s[below(s->len)] = (char)below(256);
}

static void
draw_idx(struct gv_strbuf *s, size_t n, size_t dimensions)
{
	size_t all = n, k, size;

	gv_strbuf_fmt(s, "%c%c%c%c", 0, 0, 8, (int)dimensions);
	add_size(s, n);
	for (k = 1; k < dimensions; k++) {
		size = 1 + below(6);
		all *= size;
		add_size(s, size);
	}
	for (; all > 0; all--)
		gv_strbuf_char(s, (char)below(dimensions == 1 ? 10 : 256));
	if (one_in(4))
		spoil(s, 4 + 4 * dimensions);
}

static void
ask_idx(struct recorded *r, const struct answers_file file[3], size_t *good)
{
	struct gv_strbuf images = {0}, labels = {0};
	struct gv_data_spec spec = {.label = "label"};
	size_t n = one_in(20) ? 70 : 1 + below(8);
	char text[200];

	draw_idx(&images, n, 1 + below(4));
	if (one_in(10))
		n++;
	draw_idx(&labels, n, one_in(12) ? 2 : 1);
	answers_file_put(&file[0], &images);
	answers_file_put(&file[1], &labels);
	snprintf(text, sizeof(text), "idx:%s,%s", file[0].path, file[1].path);
	spec.text = text;
	if (one_in(5)) {
		spec.h = 1 + below(6);
		spec.w = 1 + below(6);
		spec.c = 1 + below(2);
	}
	open_it(r, &spec, &file[2], good);
	gv_strbuf_free(&images);
	gv_strbuf_free(&labels);
}

/* More than is read at once, and one value less. */
static void
ask_large(struct recorded *r, const struct answers_file file[3])
{
	struct gv_strbuf images = {0}, labels = {0};
	struct gv_error e = {0};
	struct gv_data d;
	char text[200];
	size_t i, k;

	snprintf(text, sizeof(text), "idx:%s,%s", file[0].path, file[1].path);
	gv_strbuf_fmt(&images, "%c%c%c%c", 0, 0, 8, 2);
	gv_strbuf_fmt(&labels, "%c%c%c%c", 0, 0, 8, 1);
	add_size(&images, 700);
	add_size(&images, 100);
	add_size(&labels, 700);
	for (i = 0; i < 700; i++) {
		for (k = 0; k < 100; k++)
			gv_strbuf_char(&images, (char)below(256));
		gv_strbuf_char(&labels, (char)below(10));
	}
	answers_file_put(&file[1], &labels);
	for (i = 0; i < 2; i++, images.len--) {
		const struct gv_data_spec spec = {.text = text};

		answers_file_put(&file[0], &images);
		recorded_whole(r, gv_data_open(&d, &spec, &e));
		record_set(r, &d);
		recorded_errors(r, &e);
		gv_data_free(&d);
	}
	recorded_answer(r, "a large IDX file");
	gv_strbuf_free(&images);
	gv_strbuf_free(&labels);
}

/* As many as there are where no number is given. */
static void
ask_usual(struct recorded *r)
{
	static const char *const text[] = {"digits", "sentences"};
	struct gv_data_spec spec = {.context = 100};
	struct gv_error e = {0};
	struct gv_data d;
	size_t i;

	for (i = 0; i < 2; i++) {
		spec.text = text[i];
		spec.digit_seed = 7;
		recorded_whole(r, gv_data_open(&d, &spec, &e));
		recorded_whole(r, (long long)d.n);
		recorded_whole(r, d.crc);
		gv_data_free(&d);
	}
	recorded_answer(r, "as many as usual");
}

/* ---- tables ---- */

static void
label(struct gv_strbuf *s, size_t row, const void *ctx)
{
	(void)row;
	(void)ctx;
	gv_strbuf_fmt(s, "%zu", one_in(40) ? 1048570 + below(10) : below(6));
}

static void
value(struct gv_strbuf *s, size_t row, const void *ctx)
{
	const enum values *how = ctx;

	(void)row;
	gv_strbuf_str(s, one_in(4) ? "-" : "");
	gv_strbuf_fmt(s, "%.9g", draw_value(*how));
	if (one_in(60))
		gv_strbuf_str(s, "e38");
}

static void
ask_table(struct recorded *r, const struct answers_file file[3], size_t *good)
{
	static const struct drawn_column column[] = {{"label", 20, label},
	    {"a", 3, value}, {"b", 2, value}, {"c", 2, value}, {"d", 2, value}};
	struct gv_strbuf s = {0};
	struct gv_data_spec spec = {.label = "label"};
	enum values how = draw_values();
	size_t rows = one_in(12) ? 0 : 1 + below(12);
	char text[100];

	draw_table(&s, column, 5, rows, &how, one_in(2) ? 0 : 30);
	answers_file_put(&file[0], &s);
	spec.numbers = one_in(3);
	snprintf(text, sizeof(text), "csv:%s", file[0].path);
	spec.text = text;
	if (one_in(5)) {
		spec.h = 1 + below(2);
		spec.w = 1 + below(2);
		spec.c = 1;
	}
	open_it(r, &spec, &file[2], good);
	gv_strbuf_free(&s);
}

/* ---- tokens ---- */

static void
add_token(struct gv_strbuf *s, size_t v, size_t width)
{
	for (; width > 0; width--, v >>= 8)
		gv_strbuf_char(s, (char)(v & 255));
}

/* As llm.c has it, now and then of another version or number. */
static void
add_header(struct gv_strbuf *s, size_t tokens, size_t width)
{
	static const size_t magic[] = {20240520, 20240801, 20240521};
	size_t k;

	add_token(s, magic[one_in(12) ? 2 : one_in(12) ? below(2) : width / 4], 4);
	add_token(s, one_in(10) ? 2 : width == 2 ? 1 : 7, 4);
	add_token(s, one_in(10) ? tokens + 1 : tokens, 4);
	for (k = 3; k < 256; k++)
		add_token(s, 0, 4);
}

static void
ask_tokens(struct recorded *r, const struct answers_file file[3], size_t *good)
{
	static const char *const name[] = {"text", "tokens", "tokens32"};
	struct gv_strbuf s = {0};
	struct gv_data_spec spec = {.label = "label"};
	size_t n = one_in(8) ? 600 : below(40), kind = below(3), k;
	size_t width = kind == 0 ? 1 : kind == 1 ? 2 : 4;
	bool header = kind == 1 && one_in(2);
	char text[100];

	if (header) {
		width = one_in(2) ? 4 : 2;
		add_header(&s, n, width);
	}
	for (k = 0; k < n; k++)
		add_token(&s, width == 4 && one_in(60) ? 16777214 + below(4) : below(300),
		    width);
	for (k = one_in(8) ? 1 + below(3) : 0; k > 0; k--)
		gv_strbuf_char(&s, 'x');
	answers_file_put(&file[0], &s);
	snprintf(text, sizeof(text), "%s:%s", name[kind], file[0].path);
	spec.text = text;
	spec.context = (int64_t)(1 + below(10));
	if (one_in(5)) {
		spec.h = 1;
		spec.w = 1 + below(9);
		spec.c = 1;
	}
	open_it(r, &spec, &file[2], good);
	gv_strbuf_free(&s);
}

/* ---- orders ---- */

static void
ask_order(struct recorded *r)
{
	size_t n = one_in(10) ? 100 : 1 + below(12), k, i;
	uint32_t out[40];
	struct gv_data_order o;

	gv_data_order_init(&o, n, below(5));
	for (i = 0; i < 4; i++) {
		uint64_t at = below(3 * n);
		size_t count = below(40);

		gv_data_order_take(&o, at, count, out);
		for (k = 0; k < count; k++)
			recorded_whole(r, out[k]);
	}
	gv_data_order_free(&o);
	recorded_whole(r, o.perm == NULL);
}

int
main(void)
{
	static const struct {
		const char *name;
		void (*ask)(
		    struct recorded *r, const struct answers_file file[3], size_t *good);
	} kinds[] = {{"generated samples", ask_generated}, {"IDX files", ask_idx},
	    {"tables", ask_table}, {"tokens", ask_tokens}};
	enum { ANSWERS = 30, EACH = 20, KINDS = 4 };
	struct answers_file file[3];
	size_t good, i, k, j;
	struct recorded r;

	for (i = 0; i < 3; i++)
		answers_file_open(&file[i]);
	recorded_open(&r);
	for (j = 0; j < KINDS; j++) {
		good = 0;
		for (i = 0; i < ANSWERS; i++) {
			draws_begin(1, (uint32_t)j, (uint32_t)i);
			for (k = 0; k < EACH; k++)
				kinds[j].ask(&r, file, &good);
			recorded_answer(&r, "%s %zu", kinds[j].name, i);
		}
		ok(good > ANSWERS * EACH / 4, "%s: %zu of %d can be read", kinds[j].name,
		    good, ANSWERS * EACH);
	}
	for (i = 0; i < ANSWERS / 3; i++) {
		draws_begin(2, 0, (uint32_t)i);
		for (k = 0; k < 3 * EACH; k++)
			ask_order(&r);
		recorded_answer(&r, "orders %zu", i);
	}
	draws_begin(3, 0, 0);
	ask_large(&r, file);
	ask_usual(&r);
	recorded_close(&r);
	for (i = 0; i < 3; i++)
		answers_file_close(&file[i]);
	return done_testing();
}

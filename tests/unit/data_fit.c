/*
 * common/data: samples fitted to a model: targets that its head compares with, of both sets
 * alike; samples that differ, labels and tokens that are unknown.
 */
#include "nn_help.h"

#include "base/strbuf.h"
#include "data/fit.h"

static char path[2][40]; /* of samples */
static char text[2][200];

/* Tables "a,b,label", or of images 1 x 2 x 1 with labels: what sets they are. */
static void
put(int file, const char *s, size_t n)
{
	FILE *f = fopen(path[file], "wb");

	if (f == NULL || fwrite(s, 1, n, f) != n || fclose(f) != 0)
		exit(1);
}

static struct gv_data_sets
tables(const char *train, const char *test)
{
	struct gv_data_sets sets = GV_DATA_SETS_DEFAULTS;
	int i;

	put(0, train, strlen(train));
	put(1, test == NULL ? "" : test, test == NULL ? 0 : strlen(test));
	for (i = 0; i < 2; i++)
		snprintf(text[i], sizeof(text[i]), "csv:%.39s", path[i]);
	sets.train.text = text[0];
	sets.test.text = test == NULL ? NULL : text[1];
	return sets;
}

struct fitted {
	struct gv_model m;
	struct gv_data d, test;
	int status;
	struct gv_error e;
};

static void
fit(struct fitted *f, const char *model, const struct gv_data_sets *sets)
{
	memset(f, 0, sizeof(*f));
	if (help_read(&f->m, model, &f->e) != 0)
		gv_die_error(&f->e);
	f->status = gv_data_fit(&f->d, &f->test, &f->m, sets, &f->e);
}

static void
drop(struct fitted *f)
{
	gv_data_free(&f->d);
	gv_data_free(&f->test);
	gv_model_free(&f->m);
}

/* What is said, the names of the sets as 0 and 1. */
static void
refused(const char *model, const struct gv_data_sets *sets, const char *want)
{
	struct fitted f;
	struct gv_strbuf s = {0};
	const char *p;

	fit(&f, model, sets);
	ok(f.status == -1 && f.e.count == 1, "refused");
	for (p = f.e.text[0]; *p != '\0';) {
		const char *const name[] = {text[0], text[1], f.m.table.file};
		int i = 0;

		while (i < 3 && strncmp(p, name[i], strlen(name[i])) != 0)
			i++;
		if (i == 3)
			gv_strbuf_char(&s, *p++);
		else {
			gv_strbuf_str(&s, i == 0 ? "0" : i == 1 ? "1" : "MODEL");
			p += strlen(name[i]);
		}
	}
	is_str(s.s, want, "%s", want);
	gv_strbuf_free(&s);
	drop(&f);
}

/* ---- targets ---- */

static const char labels[] = "id,op,out\n1,linear,\n2,xent,\n";
static const char numbers[] = "id,op,out\n1,linear,\n2,mse,\n";
static const char one[] = "id,op,out\n1,linear,1\n2,bce,\n";

static void
is_numbers(const struct gv_data *d, size_t n, size_t targets, const char *want)
{
	char is[100] = "";
	size_t i;

	ok(d->n == n && d->targets == targets && d->y == NULL && d->classes == targets,
	    "numbers of samples and targets");
	for (i = 0; i < n * targets && d->t != NULL && i < 50; i++)
		is[i] = (char)('0' + (int)d->t[i]);
	is_str(is, want, "the targets");
}

/* Images of two pixels with these labels. */
static void
idx(struct gv_data_sets *sets, const char *train, const char *test)
{
	const char *const label[] = {train, test};
	static char name[2][60];
	int i;

	for (i = 0; i < 2; i++) {
		size_t n = strlen(label[i]), k;
		char image[100] = "\0\0\10\3\0\0\0\0\0\0\0\1\0\0\0\2";
		char s[50] = "\0\0\10\1\0\0\0\0";
		FILE *f;

		image[7] = s[7] = (char)n;
		for (k = 0; k < n; k++)
			s[8 + k] = (char)(label[i][k] - '0');
		put(i, image, 16 + 2 * n);
		snprintf(name[i], sizeof(name[i]), "%.39s.labels", path[i]);
		f = fopen(name[i], "wb");
		if (f == NULL || fwrite(s, 1, 8 + n, f) != 8 + n || fclose(f) != 0)
			exit(1);
		snprintf(text[i], sizeof(text[i]), "idx:%.39s,%.59s", path[i], name[i]);
	}
	*sets = (struct gv_data_sets)GV_DATA_SETS_DEFAULTS;
	sets->train.text = text[0];
	sets->test.text = text[1];
}

static void
test_targets(void)
{
	struct gv_data_sets sets;
	struct fitted f;
	char name[60];
	int i;

	idx(&sets, "0110", "100");
	fit(&f, one, &sets);
	is_int(f.status, 0, "one number of two classes");
	is_numbers(&f.d, 4, 1, "0110");
	is_numbers(&f.test, 3, 1, "100");
	drop(&f);
	fit(&f, numbers, &sets);
	is_int(f.status, 0, "a number for each");
	is_numbers(&f.d, 4, 2, "10010110");
	is_numbers(&f.test, 3, 2, "011010");
	drop(&f);
	fit(&f, labels, &sets);
	ok(f.status == 0 && f.d.classes == 2 && f.d.t == NULL && f.d.y[1] == 1 &&
		f.test.y[0] == 1 && f.test.y[1] == 0,
	    "labels");
	drop(&f);
	idx(&sets, "01", "1");
	fit(&f, one, &sets);
	is_numbers(&f.test, 1, 1, "1");
	drop(&f);
	fit(&f, numbers, &sets);
	is_numbers(&f.test, 1, 2, "01");
	drop(&f);
	idx(&sets, "021", "10");
	fit(&f, numbers, &sets);
	is_int(f.status, 0, "a test set of fewer classes");
	is_numbers(&f.d, 3, 3, "100001010");
	is_numbers(&f.test, 2, 3, "010100");
	drop(&f);
	refused(
	    one, &sets, "MODEL: a sample of 0 has 3 targets, the model's head wants 1");
	idx(&sets, "01", "102");
	refused(labels, &sets, "1: label 2, the largest of 0 is 1");
	for (i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "%.39s.labels", path[i]);
		unlink(name);
	}
}

static void
test_own(void)
{
	struct gv_data_sets sets =
	    tables("a,b,label\n1,2,0\n3,4,1\n", "a,b,label\n5,6,1\n");
	struct fitted f;

	sets.own = true;
	fit(&f, numbers, &sets);
	ok(f.status == 0 && f.m.targets == 2 && f.m.outputs == 2 && f.d.targets == 2 &&
		f.test.targets == 2,
	    "their own targets");
	gv_data_fit_scale(&f.d, &f.test, &f.m, &sets);
	ok(memcmp(f.d.t, f.d.x, 4 * sizeof(float)) == 0 &&
		memcmp(f.test.t, f.test.x, 2 * sizeof(float)) == 0,
	    "as they are scaled");
	drop(&f);
	refused(labels, &sets,
	    "--autoencode: the head of MODEL compares with labels, not numbers");
	sets.test.text = NULL;
	fit(&f, numbers, &sets);
	ok(f.status == 0 && f.test.n == 0 && f.test.t == NULL, "without a test set");
	drop(&f);
}

/* ---- what differs ---- */

static void
test_differ(void)
{
	struct gv_data_sets sets =
	    tables("a,b,label\n1,2,0\n3,4,1\n", "a,b,c,label\n5,6,7,1\n");

	refused(labels, &sets, "1: samples of 1x1x3, those of 0 are 1x1x2");
	sets = tables("a,b,label\n1,2,0\n3,4,1\n", "a,b,label\n5,6,2\n");
	refused(labels, &sets, "1: label 2, the largest of 0 is 1");
	sets.train.h = 1;
	sets.train.w = 2;
	sets.train.c = 1;
	refused(labels, &sets, "1: samples of 1x1x2, those of 0 are 1x2x1");
	sets.train.h = 2;
	sets.train.w = 1;
	refused(labels, &sets, "1: samples of 1x1x2, those of 0 are 2x1x1");
	sets.test.w = 2;
	sets.test.h = sets.test.c = 1;
	refused(labels, &sets, "1: samples of 1x2x1, those of 0 are 2x1x1");
	sets.train.h = 3;
	refused(labels, &sets, "0: samples of 2 values have no shape 3x1x1");
	sets.train.h = 2;
	sets.test.text = "csv:/nowhere";
	refused(labels, &sets, "/nowhere: cannot open: No such file or directory");
}

/* ---- tokens ---- */

static void
test_tokens(void)
{
	static const char embed[] = "id,op,out,k\n1,embed,2,5\n2,linear,,\n3,xent,,\n";
	static const char *const wrong[] = {"-1", "0.5", "5", "1e9"};
	struct gv_data_sets sets =
	    tables("a,b,label\n1,2,0\n3,4,1\n", "a,b,label\n0,4,1\n");
	struct fitted f;
	char rows[60], want[100];
	size_t i;

	sets.train.h = sets.test.h = 2;
	sets.train.w = sets.train.c = sets.test.w = sets.test.c = 1;
	fit(&f, embed, &sets);
	ok(f.status == 0 && f.m.tokens == 5, "tokens");
	ok(f.d.classes == 2 && f.m.classes == 2,
	    "the one label of a sample is none of them");
	gv_data_fit_scale(&f.d, &f.test, &f.m, &sets);
	ok((int)f.d.x[3] == 4 && (int)f.test.x[1] == 4, "are not scaled");
	drop(&f);
	for (i = 0; i < 8; i++) {
		struct gv_data_sets other;
		int set = i % 2;

		snprintf(rows, sizeof(rows), "a,b,label\n1,2,0\n3,%s,1\n", wrong[i / 2]);
		other = set == 0 ? tables(rows, "a,b,label\n0,4,1\n")
				 : tables("a,b,label\n1,2,0\n3,4,1\n", rows);
		other.train.h = other.test.h = 2;
		other.train.w = other.train.c = other.test.w = other.test.c = 1;
		snprintf(want, sizeof(want),
		    "%d: sample 1: %s is no token from 0 to 4, which embed knows", set,
		    strcmp(wrong[i / 2], "1e9") == 0 ? "1e+09" : wrong[i / 2]);
		refused(embed, &other, want);
	}
}

/* Of text there are as many classes as the model knows tokens, but not fewer than there are. */
static void
test_vocabulary(void)
{
	static const char table[] =
	    "id,op,from,out,k\n1,embed,0,2,%s\n2,linear,1,,1\n3,xent,2,,\n";
	struct gv_data_sets sets = GV_DATA_SETS_DEFAULTS;
	struct fitted f;
	char model[100];

	sets.train.text = "sentences:20";
	sets.train.context = 4;
	snprintf(model, sizeof(model), table, "300");
	fit(&f, model, &sets);
	ok(f.status == 0 && f.d.classes == 300 && f.m.classes == 300, "more tokens");
	drop(&f);
	snprintf(model, sizeof(model), table, "");
	fit(&f, model, &sets);
	ok(f.status == 0 && f.d.classes == 256 && f.m.tokens == 256, "those of the text");
	drop(&f);
}

int
main(void)
{
	int i;

	gv_init("data_fit");
	for (i = 0; i < 2; i++) {
		snprintf(path[i], sizeof(path[i]), "/tmp/gv-fit-XXXXXX");
		close(mkstemp(path[i]));
	}
	test_targets();
	test_own();
	test_differ();
	test_tokens();
	test_vocabulary();
	for (i = 0; i < 2; i++)
		unlink(path[i]);
	return done_testing();
}

/*
 * The random numbers of gv-trace are CPython's: what random.Random(seed) of Python 3.11
 * gave; and the draws made of them have the distributions that they should.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "gv-trace/workload/random.h"
#include "gv-trace/workload/weighted.h"
#include "tap.h"

/* getrandbits(32) three times; behind 2000 more: getrandbits(32), random(),
 * uniform(1.5, 3), choice(range(26)) six times, choice(range(1)), choice(range(1024)),
 * expovariate(1) */
static const struct {
	uint64_t seed;
	uint32_t first[3], later;
	double unit, uniform;
	size_t choice[6], one, power;
	double exponential;
} python[] = {
    {UINT64_C(0), {3626764237, 1654615998, 3255389356}, 2846861434, 0.7786177341461099,
	2.620922926204794, {6, 2, 17, 13, 8, 5}, 0, 129, 1.0754674693056188},
    {UINT64_C(1), {577090037, 2444712010, 3639700191}, 1100869506, 0.19531058823852132,
	2.341273970492475, {19, 1, 17, 19, 16, 4}, 0, 553, 0.3282142362759058},
    {UINT64_C(2), {4106135923, 3707026329, 4070888059}, 3082086937, 0.6141280392980493,
	2.0270194612210597, {13, 23, 23, 6, 9, 17}, 0, 35, 0.41621812383219103},
    {UINT64_C(19650218), {988895412, 2669632109, 3855445707}, 2763195749,
	0.039249336549211145, 2.414030396278185, {9, 17, 11, 25, 23, 6}, 0, 409,
	1.1680202620155349},
    {UINT64_C(4294967296), {485306839, 1508871100, 1794561286}, 3387876781,
	0.14196715331048415, 2.5667104659877276, {1, 18, 13, 2, 16, 23}, 0, 342,
	1.3274908482982986},
    {UINT64_C(12345678901234567), {416727885, 2561263422, 4242510269}, 1709492177,
	0.5051450229440224, 2.9327542637687465, {15, 15, 14, 3, 22, 14}, 0, 789,
	0.8436358643852762},
    {UINT64_C(9223372036854775807), {1359979423, 2819855560, 2711238091}, 1835287564,
	0.37162659414837684, 1.5946270473739674, {20, 8, 14, 22, 13, 14}, 0, 996,
	0.000668482983111106},
};

static void
same_as_python(void)
{
	struct random r;
	size_t i, k;

	for (i = 0; i < sizeof(python) / sizeof(python[0]); i++) {
		bool same = true;

		random_seed(&r, python[i].seed);
		for (k = 0; k < 3; k++)
			same = same && random_word(&r) == python[i].first[k];
		for (k = 0; k < 2000; k++)
			random_word(&r);
		same = same && random_word(&r) == python[i].later;
		ok(same, "seed %llu: words", (unsigned long long)python[i].seed);
		ok(random_double(&r) == python[i].unit &&
			random_uniform(&r, 1.5, 3) == python[i].uniform,
		    "random(), uniform()");
		for (k = 0, same = true; k < 6; k++)
			same = same && random_below(&r, 26) == python[i].choice[k];
		same = same && random_below(&r, 1) == python[i].one &&
		       random_below(&r, 1024) == python[i].power;
		ok(same, "choice()");
		ok(random_exponential(&r) == python[i].exponential, "expovariate()");
	}
}

/* The statistic of Kolmogorov and Smirnov, times sqrt(n): above 1.95 once in 1000 times. */
static int
ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void
exponential_is(void)
{
	enum { N = 20000 };
	double *v = calloc(N, sizeof(*v)), worst = 0;
	struct random r;
	size_t i;

	random_seed(&r, 7);
	for (i = 0; i < N; i++)
		v[i] = random_exponential(&r);
	qsort(v, N, sizeof(*v), ascending);
	for (i = 0; i < N; i++)
		worst = fmax(worst, fabs(1 - exp(-v[i]) - (i + 0.5) / N));
	ok(worst * sqrt(N) < 1.95, "waits are exponential: %g", worst * sqrt(N));
	free(v);
}

/* Chi squared of how often each value was drawn; with 3 degrees above 16.3 once in 1000. */
static void
weights_are(const char *list, size_t n, const double *p, const char *name)
{
	enum { N = 40000 };
	size_t count[8] = {0}, i;
	struct gv_error e = {0};
	struct weighted w;
	struct random r;
	double chi = 0;

	ok(weighted_parse(&w, list, &e) == 0, "%s is read", list);
	random_seed(&r, 3);
	for (i = 0; i < N; i++)
		count[weighted_pick(&w, random_double(&r))]++;
	for (i = 0; i < n; i++)
		chi += (count[i] - N * p[i]) * (count[i] - N * p[i]) / (N * p[i]);
	ok(chi < 16.3, "%s: chi squared %g", name, chi);
	weighted_free(&w);
}

static void
lists(void)
{
	static const struct {
		const char *list, *error;
	} bad[] = {
	    {"", "expected VALUE or VALUE:PROBABILITY, got \"\""},
	    {"a,", "expected VALUE or VALUE:PROBABILITY, got \"\""},
	    {":0.5", "expected VALUE or VALUE:PROBABILITY, got \"\""},
	    {"a:x", "expected a probability above 0 and at most 1, got \"x\""},
	    {"a:0", "expected a probability above 0 and at most 1, got \"0\""},
	    {"a:1.1", "expected a probability above 0 and at most 1, got \"1.1\""},
	    {"a:0.5,b", "expected a probability for each value, or for none"},
	    {"a:0.7,b:0.4", "expected probabilities of at most 1 in all, got 1.1"},
	};
	struct weighted w;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct gv_error e = {0};

		ok(weighted_parse(&w, bad[i].list, &e) == -1 && w.n == 0 &&
			strcmp(e.text[0], bad[i].error) == 0,
		    "\"%s\": %s", bad[i].list, e.text[0]);
	}
	{
		struct gv_error e = {0};

		/* ten times 0.1 is less than 1 in doubles */
		ok(weighted_parse(&w,
		       "a:0.1,b:0.1,c:0.1,d:0.1,e:0.1,f:0.1,g:0.1,h:0.1,i:0.1,j:0.1",
		       &e) == 0 &&
			weighted_pick(&w, nextafter(1, 0)) == 9,
		    "what rounding leaves belongs to the last one");
		weighted_free(&w);
	}
	weights_are(
	    "1:0.7,2:0.1,4:0.15,8:0.05", 4, (double[]){.7, .1, .15, .05}, "all of it");
	weights_are("a:1", 1, (double[]){1}, "one that is certain");
	weights_are(
	    "a:0.2,b:0.3", 3, (double[]){.2, .3, .5}, "what is left is none of them");
	weights_are("a,b,c,d", 4, (double[]){.25, .25, .25, .25}, "equal");
}

int
main(void)
{
	same_as_python();
	exponential_is();
	lists();
	return done_testing();
}

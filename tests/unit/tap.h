/* TAP for unit tests: plan at the end, a failed check says where; with GV_TAP_STOP in the
 * environment it is the last. */
#ifndef TAP_H
#define TAP_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_n, tap_failed;

#define ok(cond, ...)                                                                 \
	do {                                                                          \
		int ok_ = (cond) ? 1 : 0;                                             \
		printf("%sok %d - ", ok_ ? "" : "not ", ++tap_n);                     \
		printf(__VA_ARGS__);                                                  \
		printf("\n");                                                         \
		if (!ok_) {                                                           \
			tap_failed++;                                                 \
			printf("# failed: %s at %s:%d\n", #cond, __FILE__, __LINE__); \
			if (getenv("GV_TAP_STOP") != NULL)                            \
				exit(1);                                              \
		}                                                                     \
	} while (0)

#define is_int(got, want, ...)                                           \
	do {                                                             \
		long long g_ = (long long)(got), w_ = (long long)(want); \
		ok(g_ == w_, __VA_ARGS__);                               \
		if (g_ != w_)                                            \
			printf("#   got %lld, want %lld\n", g_, w_);     \
	} while (0)

#define is_str(got, want, ...)                                               \
	do {                                                                 \
		const char *g_ = (got), *w_ = (want);                        \
		ok(strcmp(g_, w_) == 0, __VA_ARGS__);                        \
		if (strcmp(g_, w_) != 0)                                     \
			printf("#   got \"%s\"\n#   want \"%s\"\n", g_, w_); \
	} while (0)

/* |got - want| <= tol * max(1, |want|) */
#define is_near(got, want, tol, ...)                                                \
	do {                                                                        \
		double g_ = (got), w_ = (want);                                     \
		double s_ = fabs(w_) > 1 ? fabs(w_) : 1;                            \
		ok(fabs(g_ - w_) <= (tol)*s_, __VA_ARGS__);                         \
		if (!(fabs(g_ - w_) <= (tol)*s_))                                   \
			printf("#   got %.17g, want %.17g, tolerance %g\n", g_, w_, \
			    (double)(tol));                                         \
	} while (0)

#define skip(...)                                 \
	do {                                      \
		printf("ok %d # SKIP ", ++tap_n); \
		printf(__VA_ARGS__);              \
		printf("\n");                     \
	} while (0)

static int
done_testing(void)
{
	printf("1..%d\n", tap_n);
	return tap_failed > 0 ? 1 : 0;
}

#endif

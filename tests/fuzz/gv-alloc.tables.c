/*
 * Any bytes as one of the small tables beside the main one: the first byte says
 * which.  Holds: a table is read, or there is an error; prices are then numbers >= 0,
 * and a memory of prices that was read and written is read the same.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "file.h"
#include "alloc/problem/entities.h"
#include "alloc/problem/pairs.h"
#include "alloc/price/price.h"
#include "gv-alloc/prices.h"
#include "gv-alloc/warm.h"

int LLVMFuzzerTestOneInput(const uint8_t *s, size_t len);

enum { TYPES = 3 };

/* A file that can be replaced, for what is written. */
static char written[] = "/tmp/gv-fuzz.XXXXXX";

static void
remove_written(void)
{
	unlink(written);
}

static void
make_written(void)
{
	static int fd = -1;

	if (fd >= 0)
		return;
	fd = mkstemp(written);
	HOLDS(fd >= 0);
	atexit(remove_written);
}

static void
check_error(int rc, const struct gv_error *e)
{
	HOLDS(rc == 0 || rc == -1);
	HOLDS((rc == -1) == (e->count > 0));
}

static void
check_pairs(const char *path)
{
	struct gv_pairs t = {0};
	struct gv_error e = {0};
	struct gv_frame f = {0};
	size_t i;
	int rc = gv_frame_load(&f, path, &e);

	if (rc == 0)
		rc = gv_pairs_from(&t, &f, &e);
	check_error(rc, &e);
	for (i = 0; rc == 0 && i < t.frame.n_rows; i++)
		HOLDS(t.row[i].rate_a >= 0 && t.row[i].rate_b >= 0 &&
		      isfinite(t.row[i].rate_a + 0 * t.row[i].rate_b) &&
		      t.row[i].scale > 0);
	if (rc == 0)
		gv_pairs_free(&t);
}

static void
check_entities(const char *path)
{
	struct gv_entities t = {0};
	struct gv_error e = {0};
	struct gv_frame f = {0};
	int rc = gv_frame_load(&f, path, &e);

	if (rc == 0)
		rc = gv_entities_from(&t, &f, &e);
	check_error(rc, &e);
	gv_entities_free(&t);
}

static void
check_prices(const char *path, struct gv_cluster *c, double at_s)
{
	struct gv_error e = {0};
	size_t j;
	int rc = prices_read(c, path, at_s, &e);

	check_error(rc, &e);
	for (j = 0; rc == 0 && j < c->n_types; j++)
		HOLDS(c->type[j].usd_per_h >= 0 && isfinite(c->type[j].usd_per_h));
}

static bool
same(const double *a, const double *b)
{
	return (a == NULL) == (b == NULL) &&
	       (a == NULL || memcmp(a, b, TYPES * sizeof(*a)) == 0);
}

static void
check_warm(const char *path, const struct gv_cluster *c)
{
	struct gv_price_memory first = {0}, again = {0};
	struct gv_error e = {0};
	int rc = warm_read(&first, path, c, "max-min", &e);

	check_error(rc, &e);
	if (rc == 0 &&
	    (first.capacity_price != NULL || first.gain_capacity_price != NULL)) {
		make_written();
		HOLDS(warm_write(&first, written, c, "max-min", &e) == 0);
		HOLDS(warm_read(&again, written, c, "max-min", &e) == 0);
		HOLDS(same(first.capacity_price, again.capacity_price));
		HOLDS(same(first.gain_capacity_price, again.gain_capacity_price));
	}
	gv_price_forget(&first);
	gv_price_forget(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *s, size_t len)
{
	static const char cluster[] =
	    "gpu_type,gpus,usd_per_h\nv100,4,2.5\nk80,2,0.5\np100,1,1\n";
	struct gv_cluster c = {0};
	struct gv_error e = {0};
	const char *path;

	if (len == 0)
		return 0;
	HOLDS(gv_cluster_read(&c, as_file(0, cluster, sizeof(cluster) - 1), &e) == 0);
	path = as_file(1, s + 1, len - 1);
	switch (s[0] % 5) {
	case 0:
		check_pairs(path);
		break;
	case 1:
		check_entities(path);
		break;
	case 2:
		check_prices(path, &c, INFINITY);
		break;
	case 3:
		check_prices(path, &c, 7);
		break;
	default:
		check_warm(path, &c);
	}
	gv_cluster_free(&c);
	return 0;
}

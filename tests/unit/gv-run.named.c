/* How gv-run asks the policy that an allocation table names. */
#define _XOPEN_SOURCE 700
#include "tap.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fileio.h"
#include "base/strbuf.h"
#include "gv-run/state/named.h"

static char dir[] = "/tmp/gv-named.XXXXXX";
static struct state state = STATE_NONE;

static void
put(const char *name)
{
	struct gv_strbuf path = {0};
	struct gv_error e = {0};

	gv_strbuf_fmt(&path, "%s/%s", dir, name);
	if (gv_file_write(path.s, "", 0, &e) != 0)
		gv_die_error(&e);
	gv_strbuf_free(&path);
}

/* The command for these words is gv-alloc's with that, or there is none where want is NULL. */
static void
asks(const char *words, const char *want, bool pairs, const char *name)
{
	struct gv_strbuf command = {0};
	struct gv_error e = {0};
	struct named n;

	ok(named_command(&n, &state, words, &e) == 0 && n.pairs == pairs, "%s", name);
	if (want == NULL) {
		ok(n.command == NULL, "is not asked again");
	} else {
		gv_strbuf_fmt(&command, "exec gv-alloc --changes -p %s", want);
		is_str(n.command != NULL ? n.command : "", command.s, "is asked so");
	}
	free(n.command);
	gv_strbuf_free(&command);
}

int
main(void)
{
	struct gv_strbuf want = {0}, words = {0};
	struct gv_error e = {0};
	struct named n;

	gv_init("gv-run");
	if (mkdtemp(dir) == NULL)
		gv_die_sys("%s", dir);
	state.dir = dir;
	state.directory = dir;
	put("e.csv");

	gv_strbuf_fmt(&want, "max_sum -c %s/cluster.csv", dir);
	asks("max_sum", want.s, false, "a policy");
	gv_strbuf_str(&want, " --at=3 --entities=e.csv --alpha=2 --budget=4");
	asks("max_sum --at=3 --entities=e.csv --alpha=2 --budget=4", want.s, false,
	    "with options");
	gv_strbuf_clear(&want);
	gv_strbuf_fmt(&want, "p -c %s/cluster.csv --prices=%s/e.csv", dir, dir);
	gv_strbuf_fmt(&words, "p --prices=%s/e.csv", dir);
	asks(words.s, want.s, false, "with a file, wherever it is");
	gv_strbuf_clear(&want);
	gv_strbuf_fmt(&want,
	    "p -c %s/cluster.csv --space-sharing=e.csv --stay=.5 --previous=%s/jobs.csv",
	    dir, dir);
	asks("p --space-sharing=e.csv --stay=.5", want.s, true,
	    "pairs, and to stay near the shares of now");
	asks("p --space-sharing=none.csv", NULL, false, "a file that is gone");
	asks("p --entities=. --seed=1", NULL, false, "or none to be read again");
	gv_strbuf_clear(&want);
	gv_strbuf_fmt(&want, "''\\'' x' -c %s/cluster.csv", dir);
	asks("' x", want.s, false, "a quote without its end is gv-alloc's to refuse");
	gv_strbuf_clear(&want);
	gv_strbuf_fmt(&want, "'  ' -c %s/cluster.csv", dir);
	asks("  ", want.s, false, "so are blanks");

	ok(named_command(&n, &state, "p --at=1 --quiet --at=2", &e) == -1,
	    "an option that gv-alloc does not write there");
	is_str(e.text[0],
	    "policy: expected options that gv-alloc writes there, got \"--quiet\"",
	    "is an error");
	ok(n.command == NULL, "nothing is asked");
	gv_strbuf_free(&want);
	gv_strbuf_free(&words);
	gv_remove_tree(dir, &e);
	return done_testing();
}

#include "clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "base/strbuf.h"
#include "lines.h"
#include "sched/events.h"

enum { LENGTH = 100 };

void
clock_write(int fd, const struct clock *c)
{
	struct gv_strbuf line = {0};

	gv_strbuf_fmt(&line, "%.3f %.3f %lld %lld", c->epoch_s, c->now_s,
	    (long long)c->round, (long long)c->journal_bytes);
	while (line.len < LENGTH - lines_seal_len(LINES_SUMS))
		gv_strbuf_char(&line, ' ');
	lines_seal(&line, 0);
	if (line.len == LENGTH)
		(void)!pwrite(fd, line.s, LENGTH, 0);
	gv_strbuf_free(&line);
}

int
clock_read(int fd, struct clock *c)
{
	char line[LENGTH + 1] = "";
	const char *word[4];
	size_t len[4];
	size_t at = 0;
	size_t i;

	*c = (struct clock){0};
	if (pread(fd, line, LENGTH, 0) != LENGTH ||
	    !lines_is_whole(line, LENGTH, LINES_SUMS))
		return -1;
	for (i = 0; i < 4; i++) {
		word[i] = line + at;
		len[i] = strcspn(word[i], " ,");
		at += len[i] + (word[i][len[i]] != '\0');
	}
	if (gv_parse_double(word[0], len[0], &c->epoch_s) != 0 ||
	    gv_parse_double(word[1], len[1], &c->now_s) != 0 ||
	    gv_parse_int(word[2], len[2], &c->round) != 0 || c->now_s < 0 ||
	    c->round > GV_EVENT_LAST_ROUND)
		return -1;
	/* a gv-run of before has not written it */
	if (gv_parse_int(word[3], len[3], &c->journal_bytes) != 0)
		c->journal_bytes = 0;
	return 0;
}

int
clock_read_in(const char *dir, struct clock *c)
{
	struct gv_strbuf path = {0};
	int fd, rc;

	gv_strbuf_fmt(&path, "%s/clock", dir);
	fd = open(path.s, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	rc = fd != -1 ? clock_read(fd, c) : -1;
	if (fd != -1)
		close(fd);
	gv_strbuf_free(&path);
	return rc;
}

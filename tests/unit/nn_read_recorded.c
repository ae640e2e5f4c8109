/* Models from files and standard input, with tables behind them, and shapes as texts: as before. */
#include <stdlib.h>

#include "drawn_model.h"
#include "recorded_frame.h"
#include "scratch.h"

static struct gv_error e;

/* From a file or standard input, with tables behind it. */
static void
ask_file(struct recorded *r)
{
	static const char *const behind[] = {"", "\nsrc,dst\n1,2\n",
	    "\nnote,dst,src\nx,1,2\n", "\nsrc,x\n1,2\n", "\nx,dst\n1,2\n",
	    "\nsrc,dst\n1\n", "\nsrc,dst\n1,2\n\nx\n1\n"};
	static const char *const path[] = {"m.csv", "-", "./m.csv", "missing.csv"};
	struct gv_strbuf s = {0};
	struct gv_model m = {0};
	struct drawn_model d;

	draw_model(&d, (struct gv_shape){3, 4, 4}, 3, 3);
	model_table(&d, &s, 0);
	gv_strbuf_str(&s, behind[below(below(2) == 0 ? 3 : 7)]);
	scratch_file("m.csv", s.s, s.len);
	gv_strbuf_free(&s);
	if (freopen("m.csv", "r", stdin) == NULL)
		perror("m.csv");
	gv_error_clear(&e);
	recorded_whole(r, gv_model_read(&m, path[below(below(3) == 0 ? 4 : 2)], &e));
	recorded_error(r, &e);
	recorded_whole(r, (long long)m.n);
	gv_model_free(&m);
	unlink("m.csv");
}

static void
ask_shape(struct recorded *r)
{
	static const char *const part[] = {
	    "1", "28", "65536", "65537", "0", "-1", "", "x", "3", "1.5", " 2"};
	struct gv_shape shape = {0, 0, 0};
	char text[64] = "";
	size_t n = 1 + below(4), i;

	for (i = 0; i < n; i++) {
		strcat(text, i > 0 ? "x" : "");
		strcat(text, part[below(below(3) == 0 ? 11 : 3)]);
	}
	recorded_whole(r, gv_shape_parse(text, &shape));
	recorded_whole(r, (long long)shape.channels);
	recorded_whole(r, (long long)shape.height);
	recorded_whole(r, (long long)shape.width);
}

int
main(void)
{
	static const char *const files[] = {NULL};
	struct recorded r;
	size_t i, k;

	recorded_open(&r);
	scratch_enter();
	for (i = 0; i < 20; i++) {
		draws_begin(53, (uint32_t)i, 0);
		for (k = 0; k < 10; k++)
			ask_file(&r);
		recorded_answer(&r, "files %zu", i);
		for (k = 0; k < 40; k++)
			ask_shape(&r);
		recorded_answer(&r, "shapes %zu", i);
	}
	scratch_leave(files);
	recorded_close(&r);
	return done_testing();
}

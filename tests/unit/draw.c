/* common/draw: escapes, numbers, ticks. */
#include "tap.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "draw/svg.h"

static char path[] = "/tmp/gv-unit-draw.XXXXXX";

static void
test_elements(void)
{
	struct gv_error e = {0};
	struct gv_svg s = {0};
	char *got;
	size_t len;

	gv_out_open(&s.out, path, &e);
	gv_svg_begin(&s, 99.5, 40, "a <b> & \"c\"");
	gv_svg_rect(&s, "x\"y", 1.005, -0.001, 1e6 / 3, 2);
	gv_svg_line(&s, NULL, 0, .5, .25, .125);
	gv_svg_label(&s, "t", 1, 2, "\x01\xff\xef\xbf\xbe\xc3\xa9\xef\xbf\xbf\n'", 12);
	gv_svg_open(&s, "g");
	gv_svg_open(&s, "text");
	gv_svg_str(&s, "");
	gv_svg_close(&s);
	gv_svg_close(&s);
	gv_svg_close(&s);
	gv_out_close(s.out, &e);
	ok(gv_file_read(path, &got, &len, 4000, &e) == 0, "written");
	is_str(got,
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"40\" "
	    "viewBox=\"0 0 100 40\" role=\"img\">\n"
	    "<title>a &lt;b&gt; &amp; &quot;c&quot;</title>\n"
	    "<rect class=\"x&quot;y\" x=\"1\" y=\"0\" width=\"333333.33\" "
	    "height=\"2\"/>\n"
	    "<line x1=\"0\" y1=\"0.5\" x2=\"0.25\" y2=\"0.13\"/>\n"
	    "<text class=\"t\" x=\"1\" "
	    "y=\"2\">\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9"
	    "\xef\xbf\xbd\xef\xbf\xbd'</text>\n"
	    "<g><text></text>\n</g>\n</svg>\n",
	    "elements");
	free(got);
}

/* Steps are 1, 2 or 5 times a power of ten, no more than asked for, not far fewer. */
static void
test_ticks(void)
{
	double max;
	int digits, wrong = 0, n;

	for (max = 1e-9; max < 1e12; max *= 1.37) {
		for (n = 2; n < 20; n++) {
			double step = gv_ticks(max, n, &digits);
			double m = step / pow(10, floor(log10(step) + 1e-9));
			bool nice = fabs(m - 1) < 1e-6 || fabs(m - 2) < 1e-6 ||
				    fabs(m - 5) < 1e-6;
			char buf[64];

			snprintf(buf, sizeof(buf), "%.*f", digits, step);
			wrong += !nice || max / step > n * (1 + 1e-9) ||
				 max / step < n / 2.6 ||
				 fabs(strtod(buf, NULL) - step) > 1e-9 * step;
		}
	}
	is_int(wrong, 0, "ticks");
	ok(gv_ticks(0, 8, &digits) == 1 && digits == 0, "of nothing");
	ok(gv_ticks(1e-301, 8, &digits) == 1 && digits == 0, "of next to nothing");
	ok(gv_ticks(HUGE_VAL, 8, &digits) == 1 && digits == 0, "without an end");
	ok(gv_ticks(2.5e-20, 3, &digits) < 2e-20 && digits == 15,
	    "no more than 15 digits");
	ok(gv_ticks(64, 8, &digits) == 10 && digits == 0, "64 in 8");
	ok(gv_ticks(4, 8, &digits) == 0.5 && digits == 1, "4 in 8");
}

/* Mistakes of a program, not of its input: it says so and ends. */
static void
test_depth(void)
{
	static const char *const want[] = {
	    "gv: SVG nested too deeply\n", "gv: JSON nested too deeply\n"};
	int which, i, status;

	for (which = 0; which < 2; which++) {
		struct gv_error e = {0};
		struct gv_svg s = {.out = gv_stdout()};
		struct gv_json j = {.out = gv_stdout()};
		char *got;
		size_t len;
		pid_t pid;

		fflush(stdout);
		pid = fork();
		if (pid == 0) {
			if (freopen("/dev/null", "w", stdout) == NULL ||
			    freopen(path, "w", stderr) == NULL)
				_exit(99);
			for (i = 0; i < 100; i++) {
				if (which == 0)
					gv_svg_open(&s, "g");
				else
					gv_json_array(&j, true);
			}
			_exit(98);
		}
		ok(waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
			WEXITSTATUS(status) == 2,
		    "too deep: ends with 2");
		ok(gv_file_read(path, &got, &len, 1000, &e) == 0, "its message");
		is_str(got, want[which], "is this");
		free(got);
	}
}

int
main(void)
{
	int fd = mkstemp(path);

	ok(fd != -1, "a file to work with");
	close(fd);
	test_elements();
	test_ticks();
	test_depth();
	unlink(path);
	return done_testing();
}

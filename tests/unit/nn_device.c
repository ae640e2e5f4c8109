/* nn/device: what --device may say. */
#include "tap.h"

#include "nn/device/device.h"

int
main(void)
{
	static const struct {
		const char *text;
		int rc;
		enum gv_nn_device_kind kind;
		int number;
	} row[] = {{"cpu", 0, GV_NN_CPU, -1}, {"auto", 0, GV_NN_AUTO, -1},
	    {"cuda", 0, GV_NN_CUDA, -1}, {"cuda:0", 0, GV_NN_CUDA, 0},
	    {"cuda:7", 0, GV_NN_CUDA, 7}, {"cuda:1023", 0, GV_NN_CUDA, 1023},
	    {"cuda:1024", -1, GV_NN_CUDA, -1}, {"cuda:-1", -1, GV_NN_CUDA, -1},
	    {"cuda:", -1, GV_NN_CUDA, -1}, {"cuda:1x", -1, GV_NN_CUDA, -1},
	    {"cuda7", -1, GV_NN_CUDA, -1}, {"cudas", -1, GV_NN_CUDA, -1},
	    {"cud", -1, GV_NN_CPU, -1}, {"", -1, GV_NN_CPU, -1},
	    {"CPU", -1, GV_NN_CPU, -1}, {"cpu:0", -1, GV_NN_CPU, -1}};
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct gv_nn_device d = {.number = 5, .threads = 3};
		int rc = gv_nn_device_parse(row[i].text, &d);

		is_int(rc, row[i].rc, "\"%s\"", row[i].text);
		if (rc == 0)
			ok(d.kind == row[i].kind && d.number == row[i].number &&
				d.threads == 3,
			    "which it is: %d, %d", (int)d.kind, d.number);
	}
	return done_testing();
}

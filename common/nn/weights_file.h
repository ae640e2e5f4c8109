/*
 * Parameters of a net as PyTorch names and lays them out, from and to files of tensors.
 *
 * Row ID of the model table, or of a name in its column "name", has the tensors
 *
 *	ID.weight        linear [out][in], conv [out][in / g][k][k],
 *	                 tconv [in][out / g][k][k], bn [channels]
 *	ID.bias          [out], [channels]
 *	ID.running_mean  bn [channels]; and ID.running_var, as is what follows
 *	ID.num_batches_tracked  written as PyTorch has it, and not read
 *	ID.weight_ih_l0  lstm [4 states][in]; ID.weight_hh_l0 [4 states][state], and
 *	ID.bias_ih_l0, ID.bias_hh_l0, which are added up (written: the sum, and zeros);
 *	                 of the way back with _reverse behind
 *
 * those of nn.Linear, nn.Conv2d, nn.ConvTranspose2d, nn.BatchNorm1d, nn.BatchNorm2d and nn.LSTM.  A linear row that
 * reads an image reads it, here, by places: [height][width][channels]; its columns are
 * put in PyTorch's order, [channels][height][width], so that nn.Flatten before nn.Linear
 * is the same.  The weight of a row that is tied with another is that one's; a tensor of its
 * own is written, and read only to see that it is the same.  Other operators' tensors are as the net has them, one row of numbers.
 */
#ifndef GV_NN_WEIGHTS_FILE_H
#define GV_NN_WEIGHTS_FILE_H

#include "nn/net.h"
#include "nn/tensors.h"

/*
 * Puts the tensors of a file into model b: in all versions of its weights.  m is what
 * the net was made of.  A tensor of another shape, or of no real numbers, is an error; one
 * that is missing, too, unless partial: then that tensor stays as it is and say tells of
 * it.  say also tells of tensors in the file that are of no row.  (NULL = nobody listens.)
 * Then 0, or -1 with *e set: every tensor that is wrong (the net may hold some of the
 * others).
 */
struct gv_weights_take {
	const struct gv_model *m;
	const char *path; /* in messages */
	bool partial;
	bool silent_rest; /* say is not told of tensors that are of no row */
	void (*say)(void *ctx, const char *line);
	void *ctx;
};
int gv_weights_take(struct gv_net *net, size_t b, const struct gv_tensors *t,
    const struct gv_weights_take *how, struct gv_error *e);

/*
 * The tensors of the rows of nets, model b of each, which may be parts of a model: those
 * of all go into one file.  = {0} is empty.  Each 0, or -1 with *e set.
 */
struct gv_weights_parts {
	struct gv_tensor *v; /* [n] */
	unsigned char **bytes;
	size_t n;
};
int gv_weights_collect(struct gv_weights_parts *all, struct gv_net *net,
    const struct gv_model *m, size_t b, struct gv_error *e);
int gv_weights_write_parts(
    const char *path, struct gv_weights_parts *all, struct gv_error *e);
void gv_weights_parts_free(struct gv_weights_parts *all);

/* Writes model b's rows that the net holds; 0, or -1 with *e set. */
int gv_weights_write(const char *path, struct gv_net *net, const struct gv_model *m,
    size_t b, struct gv_error *e);

#endif

/*
 * The format of a checkpoint: its header, its parts, its checksum; ckpt.h says what
 * it looks like.  Private to common/nn/ckpt*.c.
 */
#ifndef GV_NN_CKPT_FILE_H
#define GV_NN_CKPT_FILE_H

#include <stdint.h>
#include <zlib.h>

#include "base/fileio.h"
#include "base/strbuf.h"

/* ---- writing ---- */

/* An output that keeps the checksum of what it was given. */
struct gv_ckpt_out {
	struct gv_out *out;
	uLong crc; /* crc32(0, NULL, 0) at the beginning */
};

void gv_ckpt_put(struct gv_ckpt_out *w, const void *p, size_t n);
void gv_ckpt_put_crc(struct gv_ckpt_out *w); /* the end */

/* The first lines of a header. */
void gv_ckpt_preamble(
    struct gv_strbuf *s, const char *dtype, size_t models, const char *config);

/* The checksum as a file holds it. */
uint32_t gv_ckpt_sum_of(const unsigned char *b);

/* ---- a file in memory ---- */

struct gv_ckpt_line {
	const char *s;
	size_t len;
};

/* One model of a file: where its lines and its bytes are. */
struct gv_ckpt_part {
	struct gv_ckpt_line model; /* behind "model " */
	struct gv_ckpt_line state; /* behind "state " */
	const char *raw;
	size_t raw_len;
};

struct gv_ckpt_file {
	char *bytes;
	size_t len;
	const char *end; /* of the header */
	struct gv_ckpt_line dtype;
	struct gv_ckpt_line config; /* all the caller's lines */
	size_t models;
	struct gv_ckpt_part *part; /* [models] */
};

/* Reads a file that is whole; 0, or -1 with *e set, and then there is nothing to free. */
int gv_ckpt_file_read(struct gv_ckpt_file *f, const char *path, struct gv_error *e);
void gv_ckpt_file_free(struct gv_ckpt_file *f);

/* The next line of the header, which ends with an empty one; false behind it. */
bool gv_ckpt_next_line(const char **p, const char *limit, struct gv_ckpt_line *l);
/* "steps=N name=COUNT ...[ diverged]": the number behind NAME=, or false. */
bool gv_ckpt_state_number(struct gv_ckpt_line state, const char *name, uint64_t *v);
bool gv_ckpt_state_diverged(struct gv_ckpt_line state);

/* Whether the caller's lines, and model b's, are these: 0, or -1 with *e set. */
int gv_ckpt_same_config(const struct gv_ckpt_file *f, const char *path,
    const char *config, struct gv_error *e);
int gv_ckpt_same_model(const struct gv_ckpt_file *f, const char *path, size_t b,
    const char *model, struct gv_error *e);

#endif

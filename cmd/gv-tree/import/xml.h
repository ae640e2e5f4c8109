/*
 * XML as NCCL reads it, which is less than XML: no prolog, no tabs, no line breaks
 * inside a tag, bounded texts and numbers of elements (src/graph/xml.cc of NCCL
 * 2.28).  Elements keep where they stand, so that what is said of them can be found.
 */
#ifndef TREE_XML_H
#define TREE_XML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

enum {
	XML_TEXT = 253,  /* bytes of a name or value, at most */
	XML_ATTRS = 16,  /* attributes of an element that are kept */
	XML_SUBS = 128,  /* elements in one */
	XML_NODES = 256, /* elements of a topology */
};

struct xml_attr {
	const char *key, *value;
};

struct xml_node {
	const char *name;
	long line;
	struct xml_attr attr[XML_ATTRS];
	size_t n_attrs;
	struct xml_node *up, *sub, *last, *next; /* first and last child, next sibling */
	size_t n_subs;
};

struct xml {
	const char *file;
	struct xml_node *top; /* NULL: no element at all */
	size_t n_nodes;
	struct gv_arena arena;
};

/* Something to say about a line of the file. */
enum xml_level { XML_ERROR, XML_WARNING, XML_NOTE, XML_LEVELS };
extern const char *const xml_level_name[XML_LEVELS];

struct xml_finding {
	long line;
	enum xml_level level;
	char text[GV_ERROR_LEN];
};

struct xml_findings {
	struct xml_finding *finding;
	size_t n, cap;
	size_t errors;
};

void xml_say(struct xml_findings *f, long line, enum xml_level level, const char *fmt,
    ...) GV_PRINTF(4, 5);
void xml_findings_free(struct xml_findings *f);

/*
 * Reads s[0..len), NUL behind it.  What NCCL's reader would stop at is an error in *f,
 * and the elements before it are kept; what it would pass over is a warning.
 */
void xml_read(
    struct xml *x, const char *file, const char *s, size_t len, struct xml_findings *f);
void xml_free(struct xml *x);

/* The value of an attribute, NULL = there is none. */
const char *xml_value(const struct xml_node *n, const char *key);

#endif

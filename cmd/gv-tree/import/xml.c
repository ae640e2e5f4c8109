#include "xml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const xml_level_name[XML_LEVELS] = {"error", "warning", "note"};

void
xml_say(struct xml_findings *f, long line, enum xml_level level, const char *fmt, ...)
{
	struct xml_finding *x;
	va_list ap;

	f->finding = gv_xgrow(f->finding, &f->cap, f->n + 1, sizeof(*f->finding));
	x = &f->finding[f->n++];
	*x = (struct xml_finding){.line = line, .level = level};
	va_start(ap, fmt);
	vsnprintf(x->text, sizeof(x->text), fmt, ap);
	va_end(ap);
	f->errors += level == XML_ERROR;
}

void
xml_findings_free(struct xml_findings *f)
{
	free(f->finding);
	*f = (struct xml_findings){0};
}

const char *
xml_value(const struct xml_node *n, const char *key)
{
	size_t i;

	for (i = 0; i < n->n_attrs; i++)
		if (strcmp(n->attr[i].key, key) == 0)
			return n->attr[i].value;
	return NULL;
}

void
xml_free(struct xml *x)
{
	gv_arena_free(&x->arena);
	*x = (struct xml){0};
}

/* ---- reading ---- */

struct reader {
	struct xml *x;
	const char *at, *end;
	long line;
	struct xml_findings *f;
	bool failed; /* NCCL would have stopped: no more is said */
};

static void
fail(struct reader *r, const char *what)
{
	if (!r->failed)
		xml_say(r->f, r->line, XML_ERROR, "%s", what);
	r->failed = true;
}

/* The next byte, NUL where the text has ended, which is an error. */
static char
get(struct reader *r)
{
	char c;

	if (r->at == r->end) {
		fail(r, "the file ends inside an element");
		return '\0';
	}
	c = *r->at++;
	r->line += c == '\n';
	return c;
}

/* A name up to what ends it (*last): a blank, ">", "/" or, where values may be, "=". */
static const char *
get_name(struct reader *r, bool value_may_follow, char *last)
{
	const char *from = r->at;
	size_t len = 0;

	for (;; len++) {
		*last = get(r);
		if (r->failed)
			return "";
		if (*last == '=' && !value_may_follow)
			fail(r, "a value where an element's name should be");
		if (strchr(" >/\n\r=", *last) != NULL)
			break;
		if (len == XML_TEXT) {
			fail(r, "a name of more than 253 bytes");
			return "";
		}
	}
	return gv_arena_strndup(&r->x->arena, from, len);
}

/* What stands in quotes behind "="; *last is the byte behind the second quote. */
static const char *
get_value(struct reader *r, char *last)
{
	char quote = get(r);
	const char *from = r->at;
	size_t len = 0;

	if (!r->failed && quote != '"' && quote != '\'')
		fail(r, "a value that is not in quotes");
	while (!r->failed && get(r) != quote)
		if (len++ == XML_TEXT)
			fail(r, "a value of more than 253 bytes");
	*last = r->failed ? '\0' : get(r);
	return r->failed ? "" : gv_arena_strndup(&r->x->arena, from, len);
}

static void
get_attributes(struct reader *r, struct xml_node *n, char *last)
{
	bool said = false;

	while (!r->failed && *last == ' ') {
		struct xml_attr a = {.value = ""};
		long line = r->line;

		a.key = get_name(r, true, last);
		if (!r->failed && *last == '=')
			a.value = get_value(r, last);
		if (r->failed)
			return;
		if (a.key[0] == '\0') {
			if (*last == ' ' && !said)
				xml_say(r->f, line, XML_WARNING,
				    "%s: two spaces: NCCL counts an attribute without a "
				    "name",
				    n->name);
			said = said || *last == ' ';
			continue;
		}
		if (n->n_attrs == XML_ATTRS) {
			xml_say(r->f, line, XML_WARNING,
			    "%s: more than %d attributes: NCCL passes over %s", n->name,
			    XML_ATTRS, a.key);
			continue;
		}
		n->attr[n->n_attrs++] = a;
	}
}

/* Behind "<!--": to the end of the comment. */
static void
skip_comment(struct reader *r)
{
	const char *s = r->at;

	for (; s + 3 <= r->end; s++) {
		r->line += *s == '\n';
		if (memcmp(s, "-->", 3) == 0) {
			r->at = s + 3;
			return;
		}
	}
	fail(r, "a comment that does not end");
}

enum tag { OPEN, CLOSE, SINGLE, END };

static bool
is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\r';
}

/* To the next tag; comments are passed over. */
static bool
find_tag(struct reader *r)
{
	for (;;) {
		while (r->at < r->end && is_blank(*r->at))
			r->line += *r->at++ == '\n';
		if (r->at == r->end)
			return false;
		if (*r->at == '\t')
			fail(r, "a tab between elements: NCCL takes spaces alone");
		else if (*r->at != '<')
			fail(r, "text where \"<\" should be");
		if (r->failed)
			return false;
		if (r->end - r->at < 4 || memcmp(r->at, "<!--", 4) != 0)
			return true;
		r->at += 4;
		skip_comment(r);
	}
}

static enum tag
get_tag(struct reader *r, struct xml_node *n)
{
	char last;

	*n = (struct xml_node){0};
	if (!find_tag(r))
		return END;
	n->line = r->line;
	r->at++;
	if (r->at < r->end && (*r->at == '?' || *r->at == '!')) {
		fail(r, *r->at == '?' ? "an XML prolog: NCCL's reader takes none"
				      : "a declaration: NCCL's reader takes none");
		return END;
	}
	n->name = get_name(r, false, &last);
	if (!r->failed && n->name[0] == '\0' && last == '/') {
		n->name = get_name(r, false, &last);
		if (last != '>')
			fail(r, "a closing tag with more than a name");
		return CLOSE;
	}
	get_attributes(r, n, &last);
	if (!r->failed && last == '/') {
		get_name(r, false, &last);
		if (!r->failed && last != '>')
			fail(r, "\"/\" without \">\" behind it");
		return r->failed ? END : SINGLE;
	}
	if (!r->failed && last != '>')
		fail(r,
		    last == '\n' || last == '\r'
			? "a line break inside a tag: NCCL wants an element on one line"
			: "a tag without \">\": attributes have one space between them");
	return r->failed ? END : OPEN;
}

/* Which elements NCCL looks for in another. */
static bool
is_known(const struct xml_node *up, const char *name)
{
	static const char *const known[][2] = {{"", "system"}, {"system", "cpu"},
	    {"cpu", "pci"}, {"cpu", "nic"}, {"pci", "pci"}, {"pci", "gpu"},
	    {"pci", "nic"}, {"pci", "pcilink"}, {"gpu", "nvlink"}, {"gpu", "c2c"},
	    {"nic", "net"}};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i][0], up != NULL ? up->name : "") == 0 &&
		    strcmp(known[i][1], name) == 0)
			return true;
	return false;
}

/* Hangs a copy of n under up.  NULL: there is no room, and it was said. */
static struct xml_node *
add_node(struct reader *r, struct xml_node *up, const struct xml_node *n)
{
	struct xml_node *to;

	if (r->x->n_nodes == XML_NODES) {
		fail(r, "more than 256 elements");
		return NULL;
	}
	if (up != NULL && up->n_subs == XML_SUBS) {
		fail(r, "more than 128 elements in one");
		return NULL;
	}
	to = gv_arena_alloc(&r->x->arena, 1, sizeof(*to));
	*to = *n;
	to->up = up;
	r->x->n_nodes++;
	if (up == NULL) {
		if (r->x->top == NULL)
			r->x->top = to;
		return to;
	}
	if (up->last != NULL)
		up->last->next = to;
	else
		up->sub = to;
	up->last = to;
	up->n_subs++;
	return to;
}

/* Tags up to the end of a text; those inside an unknown element are passed over. */
static void
read_elements(struct reader *r)
{
	struct xml_node *up = NULL, n;
	const char *unknown[XML_NODES];
	size_t depth = 0; /* of elements inside one that is unknown */
	enum tag tag;

	while ((tag = get_tag(r, &n)) != END) {
		const char *open = depth > 0    ? unknown[depth - 1]
				   : up != NULL ? up->name
						: NULL;

		if (tag == CLOSE && (open == NULL || strcmp(open, n.name) != 0)) {
			fail(r, "a closing tag that closes no open element");
			return;
		}
		if (tag == CLOSE && depth > 0) {
			depth--;
		} else if (tag == CLOSE) {
			up = up->up;
		} else if (depth > 0 || !is_known(up, n.name)) {
			if (depth == 0)
				xml_say(r->f, n.line, XML_WARNING,
				    "%s%s%s: NCCL passes over this element", n.name,
				    up != NULL ? " in " : "", up != NULL ? up->name : "");
			if (tag == OPEN && depth == XML_NODES) {
				fail(r, "more than 256 elements in each other");
				return;
			}
			if (tag == OPEN)
				unknown[depth++] = n.name;
		} else {
			struct xml_node *to = add_node(r, up, &n);

			if (to == NULL)
				return;
			up = tag == OPEN ? to : up;
		}
	}
	if (!r->failed && (up != NULL || depth > 0))
		fail(r, "the file ends inside an element");
}

void
xml_read(
    struct xml *x, const char *file, const char *s, size_t len, struct xml_findings *f)
{
	struct reader r = {.x = x, .at = s, .end = s + len, .line = 1, .f = f};

	*x = (struct xml){.file = file};
	read_elements(&r);
}

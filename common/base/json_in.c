#include "base/json_in.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

void
gv_json_in_start(struct gv_json_in *j, struct gv_in *in)
{
	j->in = in;
	j->line = 1;
	j->text = (struct gv_strbuf){0};
	gv_strbuf_str(&j->text, ""); /* so that it is a text from the start */
	j->depth = j->pos = j->len = 0;
	j->value_read = j->comma_read = j->key_read = false;
}

void
gv_json_in_free(struct gv_json_in *j)
{
	gv_strbuf_free(&j->text);
}

static enum gv_json_token
bad(struct gv_json_in *j, struct gv_error *e, const char *what)
{
	gv_error_at(e, gv_in_name(j->in), j->line, NULL, "not JSON: %s", what);
	return GV_JSON_ERROR;
}

/* The next byte without taking it; -1 the end, -2 an error, which is set. */
static int
peek(struct gv_json_in *j, struct gv_error *e)
{
	ssize_t n;

	if (j->pos == j->len) {
		n = gv_in_read(j->in, j->buf, sizeof(j->buf), e);
		if (n <= 0)
			return n == 0 ? -1 : -2;
		j->pos = 0;
		j->len = (size_t)n;
	}
	return (unsigned char)j->buf[j->pos];
}

static int
take(struct gv_json_in *j, struct gv_error *e)
{
	int c = peek(j, e);

	if (c >= 0)
		j->pos++;
	return c;
}

static int
peek_token(struct gv_json_in *j, struct gv_error *e)
{
	int c;

	while ((c = peek(j, e)) == ' ' || c == '\t' || c == '\n' || c == '\r') {
		j->line += c == '\n';
		j->pos++;
	}
	return c;
}

/* Four hexadecimal digits; 0, which is no character here, when they are not. */
static int32_t
hex4(struct gv_json_in *j, struct gv_error *e)
{
	int32_t v = 0;
	int i, c;

	for (i = 0; i < 4; i++) {
		c = take(j, e);
		if (c < 0 || !isxdigit(c))
			return 0;
		v = v * 16 + (isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
	}
	return v;
}

static void
add_utf8(struct gv_strbuf *b, uint32_t c)
{
	if (c < 0x80) {
		gv_strbuf_char(b, (char)c);
		return;
	}
	if (c < 0x800) {
		gv_strbuf_char(b, (char)(0xc0 | c >> 6));
	} else {
		if (c < 0x10000) {
			gv_strbuf_char(b, (char)(0xe0 | c >> 12));
		} else {
			gv_strbuf_char(b, (char)(0xf0 | c >> 18));
			gv_strbuf_char(b, (char)(0x80 | (c >> 12 & 0x3f)));
		}
		gv_strbuf_char(b, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	gv_strbuf_char(b, (char)(0x80 | (c & 0x3f)));
}

/* Behind "\u".  0 or -1. */
static int
unicode_escape(struct gv_json_in *j, struct gv_error *e)
{
	int32_t c = hex4(j, e), low;

	if (c == 0)
		return -1;
	if (c >= 0xd800 && c < 0xdc00) {
		if (take(j, e) != '\\' || take(j, e) != 'u' ||
		    (low = hex4(j, e)) < 0xdc00 || low > 0xdfff)
			return -1;
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	} else if (c >= 0xdc00 && c < 0xe000) {
		return -1;
	}
	add_utf8(&j->text, (uint32_t)c);
	return 0;
}

static int
escape(struct gv_json_in *j, struct gv_error *e)
{
	static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	int c = take(j, e);
	const char *at;

	if (c == 'u')
		return unicode_escape(j, e);
	at = c > 0 ? strchr(letters, c) : NULL;
	if (at == NULL)
		return -1;
	gv_strbuf_char(&j->text, bytes[at - letters]);
	return 0;
}

/* Behind the opening quote. */
static enum gv_json_token
read_string(struct gv_json_in *j, enum gv_json_token token, struct gv_error *e)
{
	int c;

	gv_strbuf_clear(&j->text);
	while ((c = take(j, e)) != '"') {
		if (c < 0x20)
			return c == -2   ? GV_JSON_ERROR
			       : c == -1 ? bad(j, e, "a string without its end")
					 : bad(j, e, "a control byte in a string");
		if (j->text.len >= GV_JSON_IN_TEXT)
			return bad(j, e, "a string over 1 MiB");
		if (c != '\\')
			gv_strbuf_char(&j->text, (char)c);
		else if (escape(j, e) != 0)
			return e->count > 0 ? GV_JSON_ERROR
					    : bad(j, e, "an escape that there is not");
	}
	return token;
}

static bool
take_digits(const char **s)
{
	const char *start = *s;

	while (isdigit((unsigned char)**s))
		++*s;
	return *s > start;
}

/* Whether all of s is a number: digits without a zero in front, a fraction, an exponent. */
static bool
is_number(const char *s)
{
	s += *s == '-';
	if (*s == '0')
		s++;
	else if (!take_digits(&s))
		return false;
	if (*s == '.') {
		s++;
		if (!take_digits(&s))
			return false;
	}
	if (*s == 'e' || *s == 'E') {
		s++;
		s += *s == '+' || *s == '-';
		if (!take_digits(&s))
			return false;
	}
	return *s == '\0';
}

/* A number, true, false or null: what goes on to the next sign. */
static enum gv_json_token
read_word(struct gv_json_in *j, struct gv_error *e)
{
	static const struct {
		const char *word;
		enum gv_json_token token;
	} words[] = {
	    {"true", GV_JSON_TRUE}, {"false", GV_JSON_FALSE}, {"null", GV_JSON_NULL}};
	size_t i;
	int c;

	gv_strbuf_clear(&j->text);
	while (
	    (c = peek(j, e)) >= 0 && (isalnum(c) || c == '-' || c == '+' || c == '.')) {
		if (j->text.len >= 400)
			return bad(j, e, "a word without an end");
		gv_strbuf_char(&j->text, (char)c);
		j->pos++;
	}
	if (c == -2)
		return GV_JSON_ERROR;
	if (j->text.len == 0)
		return bad(j, e, "a value was expected");
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(j->text.s, words[i].word) == 0)
			return words[i].token;
	return is_number(j->text.s) ? GV_JSON_NUMBER : bad(j, e, "a value was expected");
}

static enum gv_json_token
open_level(struct gv_json_in *j, bool object, struct gv_error *e)
{
	if (j->depth == GV_JSON_IN_DEPTH)
		return bad(j, e, "more than 64 levels");
	j->object[j->depth++] = object;
	j->value_read = j->comma_read = j->key_read = false;
	return object ? GV_JSON_OBJECT : GV_JSON_ARRAY;
}

static enum gv_json_token
close_level(struct gv_json_in *j, int c, struct gv_error *e)
{
	bool object = c == '}';

	if (j->depth == 0 || j->object[j->depth - 1] != object || j->key_read ||
	    j->comma_read)
		return bad(j, e, "an end that does not belong here");
	j->depth--;
	j->value_read = true;
	return object ? GV_JSON_OBJECT_END : GV_JSON_ARRAY_END;
}

static enum gv_json_token
read_key(struct gv_json_in *j, struct gv_error *e)
{
	int c;

	if (read_string(j, GV_JSON_KEY, e) == GV_JSON_ERROR)
		return GV_JSON_ERROR;
	c = peek_token(j, e);
	if (c != ':')
		return c == -2 ? GV_JSON_ERROR : bad(j, e, "a colon was expected");
	j->pos++;
	j->key_read = true;
	j->comma_read = false;
	return GV_JSON_KEY;
}

static enum gv_json_token
read_value(struct gv_json_in *j, int c, struct gv_error *e)
{
	enum gv_json_token token;

	if (c == '{' || c == '[') {
		j->pos++;
		return open_level(j, c == '{', e);
	}
	if (c == '"') {
		j->pos++;
		token = read_string(j, GV_JSON_STRING, e);
	} else {
		token = read_word(j, e);
	}
	j->value_read = true;
	j->key_read = j->comma_read = false;
	return token;
}

enum gv_json_token
gv_json_in_next(struct gv_json_in *j, struct gv_error *e)
{
	int c = peek_token(j, e);

	if (j->value_read && j->depth == 0 && c != -2)
		return c == -1 ? GV_JSON_END : bad(j, e, "something behind the document");
	if (j->value_read && c == ',') {
		j->pos++;
		j->value_read = false;
		j->comma_read = true;
		c = peek_token(j, e);
	}
	if (c == -2)
		return GV_JSON_ERROR;
	if (c == -1)
		return bad(j, e, "the end was not expected here");
	if (c == '}' || c == ']') {
		j->pos++;
		return close_level(j, c, e);
	}
	if (j->value_read)
		return bad(j, e, "a comma was expected");
	if (j->depth > 0 && j->object[j->depth - 1] && !j->key_read) {
		if (c != '"')
			return bad(j, e, "a key was expected");
		j->pos++;
		return read_key(j, e);
	}
	return read_value(j, c, e);
}

int
gv_json_in_skip(struct gv_json_in *j, enum gv_json_token began, struct gv_error *e)
{
	size_t depth = j->depth;

	if (began == GV_JSON_ERROR)
		return -1;
	if (began != GV_JSON_OBJECT && began != GV_JSON_ARRAY)
		return 0;
	while (j->depth >= depth)
		if (gv_json_in_next(j, e) == GV_JSON_ERROR)
			return -1;
	return 0;
}

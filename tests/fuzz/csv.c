/*
 * Any bytes as a stream of tables.  Holds: reading is the same in pieces and at
 * once, by splitting and by libcsv, by rows and by frames, here and in the second
 * reader; what was read without error and written is read the same, and written
 * again gives the same bytes.
 */
#include "tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *s, size_t len);

static void
check_fixpoint(const char *s, size_t len, const struct gv_strbuf *content, int dialect)
{
	struct gv_strbuf first = {0}, again = {0}, b = {0};

	show(&b, &first, s, len, (struct reading){.write = dialect});
	HOLDS(same_text(&b, content));
	gv_strbuf_clear(&b);
	HOLDS(show(&b, &again, first.s, first.len, (struct reading){.write = dialect}) ==
	      0);
	HOLDS(same_text(&b, content));
	HOLDS(same_text(&first, &again));
	gv_strbuf_free(&first);
	gv_strbuf_free(&again);
	gv_strbuf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct gv_strbuf want = {0}, got = {0}, content = {0}, ref = {0};
	size_t piece = len > 0 ? bytes[0] : 0;
	const char *s = (const char *)bytes + 1;
	size_t n_errors;
	int r, i;

	if (len == 0)
		return 0;
	len--;
	show(&want, NULL, s, len, (struct reading){.only_libcsv = true, .lines = true});
	for (i = 1; i < 4; i++) {
		show(&got, NULL, s, len,
		    (struct reading){
			.piece = i & 1 ? piece : 0, .only_libcsv = i < 2, .lines = true});
		HOLDS(same_text(&want, &got));
		gv_strbuf_clear(&got);
	}
	n_errors = show(&content, NULL, s, len, (struct reading){0});
	HOLDS(show(&got, NULL, s, len, (struct reading){.frame = true}) == n_errors);
	if (n_errors == 0) {
		HOLDS(same_text(&content, &got));
		check_fixpoint(s, len, &content, 'c');
		check_fixpoint(s, len, &content, 't');
	}
	if (len < 2 || s[0] != '\x1f' || s[1] != '\x8b') {
		r = ref_show(&ref, s, len);
		HOLDS(r == -1 || r == (n_errors == 0));
		HOLDS(r != 1 || same_text(&ref, &content));
	}
	gv_strbuf_free(&want);
	gv_strbuf_free(&got);
	gv_strbuf_free(&content);
	gv_strbuf_free(&ref);
	return 0;
}

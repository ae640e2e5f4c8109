#include "import.h"

#include <stdlib.h>
#include <string.h>

#include "base/fileio.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "nccl.h"
#include "smi.h"

enum { TEXT_LIMIT = 64 << 20 };

int
import_text(char **s, size_t *len, char **name, const char *path, struct gv_error *e)
{
	struct gv_strbuf text = {0};
	struct gv_in *in;
	char buf[1 << 14];
	ssize_t n = -1;

	*s = *name = NULL;
	*len = 0;
	if (gv_in_open(&in, path, e) != 0)
		return -1;
	while (text.len <= TEXT_LIMIT && (n = gv_in_read(in, buf, sizeof(buf), e)) > 0)
		gv_strbuf_add(&text, buf, (size_t)n);
	if (n > 0)
		n = gv_error_at(
		    e, gv_in_name(in), 0, NULL, "more than 64 MiB are no table of links");
	*name = gv_xstrdup(gv_in_name(in));
	gv_in_close(in);
	gv_strbuf_add(&text, "", 0);
	*s = text.s;
	*len = text.len;
	if (n == 0)
		return 0;
	free(*s);
	free(*name);
	*s = *name = NULL;
	return -1;
}

/* Only what NCCL would stop at stands in the way. */
static int
load_nccl(struct gv_frame *f, const char *name, const char *s, size_t len, double lane,
    struct gv_error *e)
{
	struct xml x;
	struct xml_findings found = {0};
	size_t i;

	xml_read(&x, name, s, len, &found);
	nccl_check(&x, &found);
	for (i = 0; i < found.n; i++)
		if (found.finding[i].level == XML_ERROR)
			gv_error_at(e, name, found.finding[i].line, NULL, "%s",
			    found.finding[i].text);
	if (found.errors == 0)
		nccl_links(f, &x, lane);
	i = found.errors;
	xml_findings_free(&found);
	xml_free(&x);
	return i > 0 ? -1 : 0;
}

int
import_load(struct gv_frame *f, const char *path, double lane, struct gv_error *e)
{
	char *s, *name;
	size_t len, blanks;
	int rc;

	*f = (struct gv_frame){0};
	if (import_text(&s, &len, &name, path, e) != 0)
		return -1;
	blanks = strspn(s, " \r\n");
	if (s[blanks] == '<')
		rc = load_nccl(f, name, s, len, lane, e);
	else if (smi_is(s, len))
		rc = smi_links(f, name, s, len, lane, e);
	else
		rc = gv_frame_parse(f, name, s, len, e);
	free(s);
	free(name);
	return rc;
}

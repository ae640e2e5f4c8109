/*
 * Any bytes as links: a table, nvidia-smi's matrix or NCCL's topology XML.  Holds: what NCCL
 * would stop at is refused, with the line of the file; what is not, is a table of links
 * whose rates are numbers, both ways where it was made from another format.
 */
#include <string.h>

#include "file.h"
#include "gv-tree/fabric/fabric.h"
#include "gv-tree/import/import.h"
#include "gv-tree/import/nccl.h"

int LLVMFuzzerTestOneInput(const uint8_t *s, size_t len);

static size_t
errors_of_lint(const char *path)
{
	struct xml x;
	struct xml_findings found = {0};
	struct gv_error e = {0};
	char *text, *name;
	size_t n, i, errors;

	HOLDS(import_text(&text, &n, &name, path, &e) == 0);
	xml_read(&x, name, text, n, &found);
	nccl_check(&x, &found);
	HOLDS(x.n_nodes <= XML_NODES);
	for (i = 0; i < found.n; i++)
		HOLDS(found.finding[i].line >= 1 && found.finding[i].text[0] != '\0');
	errors = found.errors;
	xml_findings_free(&found);
	xml_free(&x);
	free(text);
	free(name);
	return errors;
}

int
LLVMFuzzerTestOneInput(const uint8_t *s, size_t len)
{
	struct gv_frame f;
	struct fabric fabric;
	struct gv_error e = {0};
	const char *path = as_file(0, s, len);
	size_t at = 0, u;

	while (at < len && strchr(" \r\n", s[at]) != NULL && s[at] != '\0')
		at++;
	if (len > 0 && s[0] == 0x1f) /* gzip is another target's */
		return 0;
	if (import_load(&f, path, 0, &e) != 0) {
		HOLDS(e.count > 0 && strncmp(e.text[0], path, strlen(path)) == 0);
		HOLDS(at == len || s[at] != '<' || errors_of_lint(path) > 0);
		return 0;
	}
	HOLDS(at == len || s[at] != '<' || errors_of_lint(path) == 0);
	if (fabric_read(&fabric, &f, NULL, NULL, false, &e) == 0) {
		HOLDS(fabric.n_gpus <= fabric.n);
		for (u = 0; u < fabric.n * fabric.n; u++)
			HOLDS(fabric.cap[u] >= 0);
		fabric_free(&fabric);
	} else {
		HOLDS(e.count > 0);
	}
	gv_frame_free(&f);
	return 0;
}

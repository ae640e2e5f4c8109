/* How a launch has ended: from what its nodes have written, and srun has said. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "launch/slurm/step.h"

static const char *const how_name[] = {[OWN] = "own",
    [TOLD] = "told",
    [CUT] = "cut",
    [TERM] = "term",
    [FENCED] = "fenced",
    [UNKEPT] = "unkept",
    [REFUSED] = "refused"};

enum { HOWS = sizeof(how_name) / sizeof(how_name[0]), KILLED = 137 };

void
gv_step_write_left(struct gv_strbuf *b, const struct left *left)
{
	gv_strbuf_fmt(b, "%d %.6f %s %d %s\n", left->status, left->time_s,
	    how_name[left->how], left->starved, left->text);
}

struct word {
	const char *s;
	size_t len;
};

static struct word
next_word(const char **line)
{
	struct word w = {*line, strcspn(*line, " \n")};

	*line += w.len + ((*line)[w.len] == ' ');
	return w;
}

static void
read_line(struct left *left, const char *line)
{
	int64_t status, starved;
	double time_s;
	struct word w;
	size_t i;

	w = next_word(&line);
	if (gv_parse_int(w.s, w.len, &status) != 0)
		return;
	w = next_word(&line);
	if (gv_parse_double(w.s, w.len, &time_s) != 0)
		return;
	w = next_word(&line);
	for (i = 0; i < HOWS; i++)
		if (strlen(how_name[i]) == w.len && memcmp(how_name[i], w.s, w.len) == 0)
			break;
	if (i == HOWS)
		return;
	w = next_word(&line);
	if (gv_parse_int(w.s, w.len, &starved) != 0)
		return;
	left->status = (int)status;
	left->time_s = time_s;
	left->how = (enum how)i;
	left->starved = starved != 0;
	snprintf(left->text, sizeof(left->text), "%.*s", (int)strcspn(line, "\n"), line);
	left->known = true;
}

bool
gv_step_read_left(struct step *t)
{
	bool begun = false;
	size_t i;

	for (i = 0; i < t->n_nodes; i++) {
		char *line = gv_slurm_file_get(t->dir, "left", t->node[i]->name);

		if (line != NULL)
			read_line(&t->left[i], line);
		free(line);
		begun |= t->left[i].known ||
			 gv_slurm_file_there(t->dir, "here", t->node[i]->name);
	}
	return begun;
}

void
gv_step_read_told(struct step *t, const char *text)
{
	size_t i;

	for (; *text != '\0'; text += strcspn(text, "\n"), text += *text == '\n') {
		if (strncmp(text, "left ", 5) != 0)
			continue;
		for (i = 0; i < t->n_nodes; i++) {
			size_t len = strlen(t->node[i]->name);

			if (strncmp(text + 5, t->node[i]->name, len) == 0 &&
			    text[5 + len] == ' ')
				read_line(&t->left[i], text + 6 + len);
		}
	}
}

/* ---- srun's words ---- */

static void
take_failed_node(struct step *t, const char *line)
{
	static const char mark[] = "Node failure on ";
	const char *at = strstr(line, mark);

	if (at == NULL)
		return;
	at += sizeof(mark) - 1;
	snprintf(t->failed, sizeof(t->failed), "%.*s", (int)strcspn(at, " ,:"), at);
}

static void
take_line(struct step *t, const char *line)
{
	static const char prefix[] = "srun: error: ";

	take_failed_node(t, line);
	t->out_of_memory |=
	    strstr(line, "oom-kill") != NULL || strstr(line, "Out Of Memory") != NULL;
	if (strncmp(line, prefix, sizeof(prefix) - 1) == 0)
		line += sizeof(prefix) - 1;
	if (*line != '\0')
		snprintf(t->words, sizeof(t->words), "%s", line);
}

void
gv_step_read_srun(struct step *t)
{
	char *path = gv_slurm_path(t->dir, "srun", NULL), *line = NULL;
	FILE *f = fopen(path, "re");
	size_t room = 0;
	ssize_t n;

	while (f != NULL && (n = getline(&line, &room, f)) > 0) {
		line[n - (line[n - 1] == '\n')] = '\0';
		take_line(t, line);
	}
	if (f != NULL)
		fclose(f);
	free(line);
	free(path);
}

/* ---- the verdict ---- */

/* Of those that left with a status, or by themselves only, the first; NULL = none. */
static const struct left *
first_that_failed(const struct step *t, bool own)
{
	const struct left *first = NULL;
	size_t i;

	for (i = 0; i < t->n_nodes; i++) {
		const struct left *l = &t->left[i];

		if (!l->known || l->status == 0 || (own && l->how != OWN))
			continue;
		if (first == NULL || l->time_s < first->time_s)
			first = l;
	}
	return first;
}

/* Whether some could not be started; *why then says why. */
static bool
was_refused(const struct step *t, const char **why)
{
	size_t i;

	for (i = 0; i < t->n_nodes; i++)
		if (t->left[i].known && t->left[i].how == REFUSED) {
			*why = t->left[i].text;
			return true;
		}
	return false;
}

static void
lost(const struct step *t, struct gv_launch_news *news)
{
	const char *node = t->failed, *unkept = NULL;
	size_t i;

	for (i = 0; node[0] == '\0' && i < t->n_nodes; i++)
		if (!t->left[i].known && t->node[i]->why[0] != '\0')
			node = t->node[i]->name;
	for (i = 0; node[0] == '\0' && i < t->n_nodes; i++)
		if (t->left[i].known && t->left[i].how == UNKEPT)
			unkept = t->left[i].text;
	news->state = GV_LAUNCH_LOST;
	snprintf(news->node, sizeof(news->node), "%s", node);
	if (node[0] != '\0')
		snprintf(news->reason, sizeof(news->reason), "node %s lost", node);
	else if (unkept != NULL)
		snprintf(news->reason, sizeof(news->reason), "%s", unkept);
	else if (t->slurm->over)
		snprintf(news->reason, sizeof(news->reason), "the allocation has ended");
	else if (t->srun_killed)
		snprintf(news->reason, sizeof(news->reason), "srun was killed");
	else
		snprintf(news->reason, sizeof(news->reason), "Slurm has ended it%s%.300s",
		    t->words[0] != '\0' ? ": " : "", t->words);
}

static void
has_left(const struct left *l, struct gv_launch_news *news)
{
	news->state = GV_LAUNCH_LEFT;
	news->status = l != NULL ? l->status : 0;
	news->starved = l != NULL && l->starved;
}

void
gv_step_conclude(const struct step *t, struct gv_launch_news *news)
{
	const struct left *own = first_that_failed(t, true);
	const char *why = t->words[0] != '\0' ? t->words : "srun has left";
	bool all = true, by_others = false, lonely = false;
	size_t i;

	for (i = 0; i < t->n_nodes; i++) {
		all &= t->left[i].known;
		by_others |= t->left[i].known && t->left[i].how != OWN;
		lonely |= t->left[i].known &&
			  (t->left[i].how == UNKEPT || t->left[i].how == CUT);
	}
	if (!t->made || was_refused(t, &why)) {
		gv_launch_not_started(news, 0, "%s", why);
	} else if (own != NULL) {
		has_left(own, news);
	} else if (all && !lonely && (t->launch.told || !by_others)) {
		has_left(first_that_failed(t, false), news);
	} else if (!all && t->out_of_memory) {
		news->state = GV_LAUNCH_LEFT;
		news->status = KILLED;
		snprintf(news->reason, sizeof(news->reason), "out of memory");
	} else {
		lost(t, news);
	}
}

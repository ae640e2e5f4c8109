/* Command lines as text: words as sh(1) reads them. */
#ifndef GV_BASE_WORDS_H
#define GV_BASE_WORDS_H

#include <stddef.h>

#include "base/strbuf.h"

/* Adds a word, behind a space unless it is the first, quoted where sh would not take it as it is. */
void gv_words_add(struct gv_strbuf *b, const char *word);

/*
 * Cuts text into words: spaces and tabs between them, '...' and \c as in sh, all else
 * stands for itself.  The words, [*n] and a NULL, in one piece of memory for free();
 * NULL: a quote is open at the end.
 */
char **gv_words_cut(const char *text, size_t *n);

#endif

/* What it takes to ask the same policy again, beside the cluster and the jobs. */
#ifndef GV_ALLOC_AGAIN_H
#define GV_ALLOC_AGAIN_H

#include "options.h"

/*
 * The name of the policy and the options that another answer would be different
 * without, as words.  Those that write files, prove or only change how long it takes are not among them;
 * --previous=FILE is --stay, since who asks again has shares of its own.  free().
 */
char *again_words(const struct options *o);

#endif

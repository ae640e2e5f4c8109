/* What makes a simulation what it is, as a number: --state knows it by that. */
#ifndef KEY_H
#define KEY_H

#include "asking/journal.h"
#include "tables.h"

/* Tables, the policy and those options that change what it is asked. */
void key_of(
    const struct tables *t, const struct options *o, char key[JOURNAL_KEY_LEN + 1]);

#endif

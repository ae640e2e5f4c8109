/* The command line of gv-run. */
#ifndef GV_RUN_OPTIONS_H
#define GV_RUN_OPTIONS_H

#include "base/opt.h"
#include "gv-run/core/settings.h"

/*
 * Reads the command line over the defaults in *o; *opt gets the options of all programs.
 * Texts point into argv.  Ends the process on --help, --version, and options that are wrong
 * or do not go together.
 */
void options_parse(struct settings *o, struct gv_opt *opt, int argc, char **argv);

#endif

/* The subcommands: each parses its options, reads, calls a core, writes, finishes. */
#ifndef TRACE_H
#define TRACE_H

int trace_check(int argc, char **argv);
int trace_convert(int argc, char **argv);
int trace_generate(int argc, char **argv);
int trace_prices(int argc, char **argv);
int trace_scale(int argc, char **argv);

#endif

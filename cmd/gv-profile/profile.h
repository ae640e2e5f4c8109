/* The subcommands of gv-profile; each is a program of its own after the first word. */
#ifndef GV_PROFILE_PROFILE_H
#define GV_PROFILE_PROFILE_H

/* argv[0] is the subcommand's name.  The exit status, everything flushed. */
int profile_arrays(int argc, char **argv);
int profile_devices(int argc, char **argv);
int profile_jobs(int argc, char **argv);
int profile_layers(int argc, char **argv);
int profile_links(int argc, char **argv);
int profile_memory(int argc, char **argv);
int profile_pairs(int argc, char **argv);

#endif

# What a packager edits; every line can be overridden on make's command line.
PREFIX  = /usr/local
bindir  = $(PREFIX)/bin
libdir  = $(PREFIX)/lib
datadir = $(PREFIX)/share/gv-toolkit
mandir  = $(PREFIX)/share/man
bashdir = $(PREFIX)/share/bash-completion/completions
zshdir  = $(PREFIX)/share/zsh/site-functions
docdir  = $(PREFIX)/share/doc/gv-toolkit

CC     = cc
AR     = ar
CFLAGS = -O2 -g

# Stack protector, _FORTIFY_SOURCE, position independent programs, and
# relocations that are read-only from the start (RELRO, BIND_NOW): each where the
# compiler takes it with the flags above.  Empty: none of them.
HARDEN = yes

# NVIDIA's compiler: where it is found, support for GPUs is built; make CUDA=0 leaves it
# out.  GPUs that it is built for: compute capabilities, the last one also for later ones.
CUDA_ARCHS = 80 90 100

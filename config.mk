# What a packager edits; every line can be overridden on make's command line.
PREFIX  = /usr/local
bindir  = $(PREFIX)/bin
datadir = $(PREFIX)/share/gv
mandir  = $(PREFIX)/share/man
bashdir = $(PREFIX)/share/bash-completion/completions
zshdir  = $(PREFIX)/share/zsh/site-functions
docdir  = $(PREFIX)/share/doc/gv

CC     = cc
AR     = ar
CFLAGS = -O2 -g

#!/bin/sh
# link.sh DIRECTORY: a name without spaces for a directory, which is made if it
# is not there: a link below build/.  make's lists cannot hold a space.
set -eu
mkdir -p "$1" build/links
dir=$(cd "$1" && pwd)
name=build/links/$(printf %s "$dir" | cksum | cut -d ' ' -f 1)
[ -e "$name" ] || ln -s "$dir" "$name"
echo "$name"

#!/bin/sh
# Files that one service writes are read by the others, which run under other users of the same group.
umask 0007
exec "$@"

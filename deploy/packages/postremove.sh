#!/bin/sh
# After the files are removed. Only a purge, which rpm does not have, removes the tapes.
# The user stays, so that no other gets its number and with it files that lie elsewhere.
set -e

if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi

case "$1" in
purge)
  rm -rf /var/lib/tapedeck /etc/tapedeck
  ;;
esac

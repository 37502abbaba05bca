#!/bin/sh
# Before the files are removed. deb says remove, rpm says 0; on an upgrade the service
# goes on until the new files are in place.
set -e

case "$1" in
remove | 0)
  if [ -d /run/systemd/system ]; then
    systemctl disable --now otelcol-tape.service
  fi
  ;;
esac

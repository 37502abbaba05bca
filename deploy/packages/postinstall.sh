#!/bin/sh
# After the files are in place (deb and rpm). A first installation starts nothing: on a
# machine with a collector the ports are taken until otelcol-tape.env names others. An
# upgrade starts a running service anew.
set -e

chown tapedeck:tapedeck /var/lib/tapedeck

if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart otelcol-tape.service
fi

#!/bin/sh
# Before the files of the package are unpacked (deb and rpm).
set -e

if ! getent passwd tapedeck >/dev/null; then
  useradd --system --user-group --home-dir /var/lib/tapedeck --no-create-home \
    --shell /usr/sbin/nologin --comment "Tapedeck collector" tapedeck
fi

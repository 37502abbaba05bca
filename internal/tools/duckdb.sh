#!/usr/bin/env bash
# Installs the pinned DuckDB, with which the tests query the index, into
# .tools/duckdb. Needs Python with venv.
set -euo pipefail

cd "$(dirname "$0")/../.."
version=1.4.2
dir=.tools/duckdb
if [[ $(cat "$dir/.version" 2>/dev/null) == "$version" ]]; then
  exit
fi
rm -rf "$dir"
python3 -m venv "$dir"
"$dir/bin/pip" install --quiet --disable-pip-version-check "duckdb==$version" pytz==2025.2
echo "$version" >"$dir/.version"

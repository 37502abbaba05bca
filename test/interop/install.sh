#!/usr/bin/env bash
# Makes the place where the interop suite runs: a Python environment and the Node
# packages, in the exact versions of the lock files, and the programs beside them.
# Does nothing where all of it is there already. Usage: install.sh DIRECTORY
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"

# Programs are copied each time: Node looks for packages beside them.
rm -rf sdk agents
cp -r "$here/sdk" "$here/agents" .

locks=$(cat "$here/requirements.txt" "$here/package-lock.json" "$here/.npmrc" | sha256sum)
if [[ -f installed && $(cat installed) == "$locks" ]]; then
  exit 0
fi
rm -rf venv node_modules installed
python3 -m venv venv
venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r "$here/requirements.txt"
cp "$here/package.json" "$here/package-lock.json" "$here/.npmrc" .
npm ci --silent --prefer-offline --ignore-scripts
echo "$locks" >installed

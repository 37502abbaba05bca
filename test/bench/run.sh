#!/usr/bin/env bash
# Runs the benchmarks of the repository, in the form that benchstat reads, headed by
# what the figures depend on: run.sh PATTERN BENCHTIME COUNT. Progress goes to stderr.
set -euo pipefail
cd "$(dirname "$0")/../.."

fact() { printf '%s: %s\n' "$1" "$2"; }
fact machine "$(awk -F ': ' '/^model name/{print $2; exit}' /proc/cpuinfo 2>/dev/null || uname -m), $(getconf _NPROCESSORS_ONLN) cores"
fact system "$(uname -sr)"
fact go-version "$(go env GOVERSION)"
fact command "benchtime $2, count $3"
# What else the machine did: figures of a busy one say little.
fact load "$(cut -d ' ' -f 1-3 /proc/loadavg 2>/dev/null || echo unknown)"

# One package after the other: two at once would measure each other. One that fails
# costs its own figures alone, and the success of the whole.
failed=()
for package in $(go list ./tape/... ./replay/... ./internal/... ./processor/... ./exporter/... ./test/bench/...); do
  dir=$(go list -f '{{.Dir}}' "$package")
  if grep -qs '^func Benchmark' "$dir"/*_test.go; then
    echo "$package" >&2
    go test -run '^$' -bench "$1" -benchmem -benchtime "$2" -count "$3" "$package" | grep -v -e '^PASS$' -e '^ok ' || failed+=("$package")
  fi
done
if ((${#failed[@]})); then
  echo "failed: ${failed[*]}" >&2
  exit 1
fi

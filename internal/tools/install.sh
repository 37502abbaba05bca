#!/usr/bin/env bash
# Builds the pinned development tools into .tools/bin. Each is built in a module
# of its own, so that no tool's dependencies reach go.mod. A tool that is there
# already in the right version is left alone.
set -euo pipefail

cd "$(dirname "$0")/../.."
bin=$PWD/.tools/bin
mkdir -p "$bin"

# install NAME PACKAGE MODULE VERSION [REPLACE...]
install() {
  local name=$1 package=$2 module=$3 version=$4
  shift 4
  local want="$module@$version $*"
  if [[ -x $bin/$name && $(cat "$bin/.$name" 2>/dev/null) == "$want" ]]; then
    return
  fi
  echo "building $name $version"
  local dir
  dir=$(mktemp -d)
  (
    cd "$dir"
    go mod init tools >/dev/null 2>&1
    for r in "$@"; do go mod edit -replace "$r"; done
    printf '//go:build tools\n\npackage tools\n\nimport _ "%s"\n' "$package" >tools.go
    go mod edit -require "$module@$version"
    go mod tidy >/dev/null 2>tidy.log || { cat tidy.log >&2; exit 1; }
    CGO_ENABLED=0 go build -o "$bin/$name" "$package"
  )
  rm -rf "$dir"
  echo "$want" >"$bin/.$name"
}

for tool in "${@:-all}"; do
  case $tool in
    all) "$0" ocb mdatagen golangci-lint benchstat versitygw goreleaser cyclonedx-gomod ;;
    ocb) install ocb go.opentelemetry.io/collector/cmd/builder go.opentelemetry.io/collector/cmd/builder v0.161.0 ;;
    # The release of schemagen that mdatagen v0.161.0 asks for is not served by
    # the module proxy; v0.159.0 is the nearest that is.
    mdatagen) install mdatagen go.opentelemetry.io/collector/cmd/mdatagen go.opentelemetry.io/collector/cmd/mdatagen v0.161.0 \
      go.opentelemetry.io/collector/internal/schemagen=go.opentelemetry.io/collector/internal/schemagen@v0.159.0 ;;
    golangci-lint) install golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint github.com/golangci/golangci-lint/v2 v2.15.0 ;;
    benchstat) install benchstat golang.org/x/perf/cmd/benchstat golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da ;;
    versitygw) install versitygw github.com/versity/versitygw/cmd/versitygw github.com/versity/versitygw v1.8.0 ;;
    goreleaser) install goreleaser github.com/goreleaser/goreleaser/v2 github.com/goreleaser/goreleaser/v2 v2.15.1 ;;
    cyclonedx-gomod) install cyclonedx-gomod github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod github.com/CycloneDX/cyclonedx-gomod v1.10.0 ;;
    *) echo "unknown tool $tool" >&2; exit 2 ;;
  esac
done

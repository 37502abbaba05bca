#!/usr/bin/env bash
# Builds the collector of deploy/beside/builder-config.yaml with stock ocb, in a folder
# outside of this repository, as whoever adds Tapedeck to a collector of his own does.
#
#   build.sh OCB OUTPUT
set -euo pipefail

ocb=$(realpath "$1") output=$(realpath -m "$2")
checkout=$(cd "$(dirname "$0")/../.." && pwd)
manifest=$checkout/deploy/beside/builder-config.yaml
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
grep -q '=> /path/to/tapedeck$' "$manifest"
{
  sed "s|=> /path/to/tapedeck\$|=> $checkout|" "$manifest"
  # The release of configkafka that the receiver asks for is not on every module proxy.
  contrib=github.com/open-telemetry/opentelemetry-collector-contrib
  echo "  - $contrib/pkg/kafka/configkafka => $contrib/pkg/kafka/configkafka v0.160.0"
} >"$folder/builder-config.yaml"
(cd "$folder" && CGO_ENABLED=0 "$ocb" --config builder-config.yaml)
mkdir -p "$(dirname "$output")"
mv "$folder/otelcol-own/otelcol-own" "$output"

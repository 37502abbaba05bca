# Build, test and demonstrate Tapedeck. `make help` lists the targets.

GO      ?= go
TOOLS   := $(CURDIR)/.tools/bin
# The race detector needs a C compiler; the product itself does not.
RACE    := $(if $(shell command -v $(shell $(GO) env CC) 2>/dev/null),-race,)
# The commit is stamped wherever git answers, whatever GOFLAGS says.
VCS     := $(if $(shell git rev-parse HEAD 2>/dev/null),-buildvcs=auto)
MODULE  := github.com/tapedeck/tapedeck
COMPONENTS := extension/tapestore processor/tapeprocessor exporter/tapeexporter receiver/tapereceiver

.DEFAULT_GOAL := build
.PHONY: help build demo test test-gates test-clients e2e interop lint bench bench-baseline bench-compare bench-vcr fuzz fidelity generate check-generate check-docs check-tidy package check-package check-platforms check-kubernetes check-beside check-operations release image-context clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "%-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: bin/tape bin/otelcol-tape ## Build both binaries into bin/

.PHONY: bin/tape bin/otelcol-tape
bin/tape:
	CGO_ENABLED=0 $(GO) build -trimpath $(VCS) -ldflags '-s -w' -o $@ ./cmd/tape

bin/otelcol-tape:
	CGO_ENABLED=0 $(GO) build -trimpath $(VCS) -ldflags '-s -w' -o $@ ./cmd/otelcol-tape

demo: build ## Record a failing agent run, pull its tape, replay it, show a drift
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/agent ./examples/agent
	$(GO) run ./examples/demo -bin bin

test: $(TOOLS)/versitygw ## Unit tests with the race detector and all fuzz seeds, then the end-to-end tests
	$(GO) vet ./...
	$(GO) test $(RACE) $(shell $(GO) list ./... | grep -v -e /test/e2e -e /test/interop -e /test/deploy/tiers)
	$(MAKE) e2e

# Where pdata is read, changed or held.
PDATA := $(addsuffix /...,./internal/recorder ./internal/once ./internal/scrub ./internal/offload ./internal/logfold \
  ./internal/cut ./internal/dialect ./internal/store/archive ./processor ./exporter ./receiver)
test-gates: ## Tests of what handles pdata, with pdata that is used again
	TAPEDECK_FEATURE_GATES=pdata.useProtoPooling $(GO) test $(RACE) -count=1 $(PDATA)

test-clients: ## Tests of the clients for Python and JavaScript
	cd clients/python && python3 -B -W error -m unittest
	cd clients/typescript && node --test

e2e: build ## End-to-end tests: the real binaries over real sockets
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/agent ./examples/agent
	TAPEDECK_BIN=$(CURDIR)/bin $(GO) test -count=1 -v ./test/e2e/...

interop: build ## Official SDKs and real agent frameworks against the real binaries
	./test/interop/install.sh dist/interop
	TAPEDECK_INTEROP=$(CURDIR)/dist/interop $(GO) test -count=1 -v -run OfficialSDK ./internal/serve
	TAPEDECK_INTEROP=$(CURDIR)/dist/interop TAPEDECK_BIN=$(CURDIR)/bin $(GO) test -count=1 -v ./test/interop

lint: $(TOOLS)/golangci-lint ## gofmt, vet and golangci-lint
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "not formatted:"; echo "$$unformatted"; exit 1; }
	$(TOOLS)/golangci-lint run ./...

BENCH      ?= .
BENCHTIME  ?= 200ms
BENCHCOUNT ?= 6
bench: $(TOOLS)/benchstat ## Run the benchmarks and compare them with the committed baseline
	@mkdir -p dist/bench
	./test/bench/run.sh '$(BENCH)' $(BENCHTIME) $(BENCHCOUNT) >dist/bench/new.txt
	$(TOOLS)/benchstat -table pkg -ignore machine,system,command,load baseline=test/bench/baseline.txt new=dist/bench/new.txt

bench-baseline: ## Write the baseline anew: on a quiet machine
	@mkdir -p dist/bench
	./test/bench/run.sh . $(BENCHTIME) $(BENCHCOUNT) >dist/bench/new.txt
	cp dist/bench/new.txt test/bench/baseline.txt

bench-compare: bin/otelcol-tape $(TOOLS)/ocb ## Measure Tapedeck beside the usual chain (COMPARE=-short for less)
	$(GO) run ./test/bench/compare -bin bin -ocb $(TOOLS)/ocb $(COMPARE)

bench-vcr: ## Measure a hit beside one of go-vcr, on the same calls (VCR='-rounds 30' for more care)
	cd test/bench/vcr && $(GO) run . $(VCR)

fidelity: ## Compare all recordings with what happened and write docs/fidelity.md
	$(GO) run ./internal/tools/fidelity

FUZZTIME ?= 20s
fuzz: ## Run each fuzz target for FUZZTIME (default 20s)
	@set -e; for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg; \
	  done; done

generate: $(TOOLS)/mdatagen $(TOOLS)/ocb ## Write all generated files
	PATH=$(TOOLS):$$PATH $(GO) generate $(addprefix ./,$(addsuffix /...,$(COMPONENTS)))
	$(TOOLS)/ocb --config builder-config.yaml --skip-get-modules --skip-compilation
	@# The builder writes the version of the manifest, which does not say the commit.
	sed -i 's|^\(\t\tVersion: *\)"[^"]*",$$|\1buildinfo.Read().Version,|; s|^\t"os"$$|&\n\n\t"$(MODULE)/internal/buildinfo"|' cmd/otelcol-tape/main.go
	gofmt -w cmd/otelcol-tape $(COMPONENTS)
	@# mdatagen knows where the distributions of others are, and leaves ours blank.
	sed -i 's|^\[otelcol-tape\]: *$$|[otelcol-tape]: ../../builder-config.yaml|' $(addsuffix /README.md,$(COMPONENTS))

check-generate: generate ## Fail when a generated file differs from what is committed
	@git diff --exit-code -- cmd/otelcol-tape $(COMPONENTS) && test -z "$$(git status --porcelain -- cmd/otelcol-tape $(COMPONENTS))" || \
	  { git status --short -- cmd/otelcol-tape $(COMPONENTS); echo "generated files are out of date: run make generate" >&2; exit 1; }

check-docs: fidelity ## Fail when docs/fidelity.md is not what make fidelity writes
	@git diff --exit-code -- docs/fidelity.md || { echo "docs/fidelity.md is out of date: run make fidelity" >&2; exit 1; }

check-tidy: ## Fail when a go.mod or go.sum is not tidy
	@set -e; for mod in $$(git ls-files '*go.mod'); do (cd $$(dirname $$mod) && $(GO) mod tidy -diff); done

check-beside: build $(TOOLS)/ocb $(TOOLS)/versitygw ## Build Tapedeck into a collector of others, and run what goes in beside existing tracing
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/agent ./examples/agent
	./test/beside/build.sh $(TOOLS)/ocb dist/beside/otelcol-own
	cd test/beside && $(GO) vet ./... && \
	  TAPEDECK_OWN=$(CURDIR)/dist/beside/otelcol-own TAPEDECK_BIN=$(CURDIR)/bin $(GO) test -count=1 -v ./...

check-operations: build ## Hold alerts, dashboard and runbook against the metrics of a real collector
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/agent ./examples/agent
	cd test/deploy/operations && $(GO) vet ./... && TAPEDECK_BIN=$(CURDIR)/bin $(GO) test -count=1 -v ./...

check-kubernetes: bin/otelcol-tape $(TOOLS)/otelcol-gateway $(TOOLS)/versitygw ## Render deploy/kubernetes, validate all of it, and run its tiers on loopback
	cd test/deploy/kubernetes && OTELCOL_TAPE=$(CURDIR)/bin/otelcol-tape OTELCOL_GATEWAY=$(TOOLS)/otelcol-gateway $(GO) test -count=1 ./...
	OTELCOL_TAPE=$(CURDIR)/bin/otelcol-tape OTELCOL_GATEWAY=$(TOOLS)/otelcol-gateway $(GO) test -count=1 -v ./test/deploy/tiers

# What the gateway tier is, as far as its configuration goes: a stock contrib collector.
$(TOOLS)/otelcol-gateway: test/deploy/kubernetes/gateway-manifest.yaml | $(TOOLS)/ocb
	@mkdir -p dist
	CGO_ENABLED=0 $(TOOLS)/ocb --config $<
	cp dist/gateway/otelcol-gateway $@

$(TOOLS)/%: internal/tools/install.sh
	./internal/tools/install.sh $*
	@touch $@

# The release that the manifest names.
RELEASE := $(shell awk '/^  version:/{print $$2}' builder-config.yaml)
# goreleaser release knows no way to build for one platform only.
ONE_PLATFORM := s/^\( *goos:\) \[.*/\1 [$(shell $(GO) env GOOS)]/; s/^\( *goarch:\) \[.*/\1 [$(shell $(GO) env GOARCH)]/
package: $(TOOLS)/goreleaser $(TOOLS)/cyclonedx-gomod ## Build archive, deb, rpm, SBOM and checksums for this platform into dist/release
	@mkdir -p dist
	sed '$(ONE_PLATFORM)' .goreleaser.yaml >dist/goreleaser.yaml
	PATH=$(TOOLS):$$PATH TAPEDECK_RELEASE=$(RELEASE) $(TOOLS)/goreleaser release --config dist/goreleaser.yaml --snapshot --clean --skip=docker

# The tests mount a scratch root, which ends with their namespace. Who may make none
# tests what needs none.
UNSHARE := unshare --mount --propagation private
OWN_MOUNTS = $(if $(filter yes,$(shell $(UNSHARE) true 2>/dev/null && echo yes)),TAPEDECK_OUTER_NAMESPACE=$(shell readlink /proc/self/ns/mnt) $(UNSHARE))
check-package: package image-context ## Install, start, upgrade and remove what make package built, in a scratch root
	TAPEDECK_PACKAGES=$(CURDIR)/dist/release TAPEDECK_IMAGE_CONTEXT=$(CURDIR)/dist/image $(OWN_MOUNTS) $(GO) test -count=1 -v ./test/packages

check-platforms: ## Compile for the systems of a release that this is not
	GOOS=windows CGO_ENABLED=0 $(GO) build ./cmd/...
	GOOS=darwin CGO_ENABLED=0 $(GO) build ./cmd/tape ./processor/... ./exporter/... ./receiver/... ./extension/...

release: $(TOOLS)/goreleaser $(TOOLS)/cyclonedx-gomod ## Build and publish the tag that is checked out, see docs/releasing.md
	PATH=$(TOOLS):$$PATH TAPEDECK_RELEASE=$(RELEASE) $(TOOLS)/goreleaser release --clean

image-context: build ## Lay out dist/image for deploy/container/Containerfile
	rm -rf dist/image
	install -D -t dist/image/$(shell $(GO) env GOOS)/$(shell $(GO) env GOARCH) bin/tape bin/otelcol-tape
	install -D -m 644 -t dist/image/deploy/systemd deploy/systemd/config.yaml
	install -D -m 644 -t dist/image/deploy/container/state deploy/container/state/.keep

clean: ## Remove what the other targets built
	rm -rf bin .tools dist

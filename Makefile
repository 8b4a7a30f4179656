# What the tests need beside Go is installed into .cache, at the versions pinned in .ci/deps and .ci/nvim.
CACHE := $(CURDIR)/.cache
TIME ?= 10m

.PHONY: build demo test lint cross unit e2e nvim nvim-demo fuzz chaos bench record generate deps clean

build:          ## the binary, stripped: bin/drawbridge
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/drawbridge ./cmd/drawbridge

demo: build     ## a tour in this terminal, without an account
	bin/drawbridge chat --demo

test: lint cross unit e2e nvim   ## everything

lint:           ## gofmt, go vet, staticcheck
	@unformatted=$$(gofmt -l adapters bridge cmd rpc); test -z "$$unformatted" || { echo "not gofmt-clean: $$unformatted"; exit 1; }
	go vet ./...
	go tool staticcheck ./...

cross:          ## the systems that are compiled and vetted here, and NOT RUN
	GOOS=darwin go vet ./...
	GOOS=windows go vet ./...

unit:           ## the packages, with the race detector; once more with jsonrpc2's poison on what it lends
	go test -race -timeout 15m ./...
	go test -tags jsonrpc2poison -timeout 5m ./rpc/...

e2e: build deps ## the real claude, several versions, behind the binary
	DRAWBRIDGE_E2E=$(CACHE) go test -count=1 -timeout 30m ./cmd/drawbridge/e2e/...
	@cat $(CACHE)/matrix.txt

nvim: build     ## the plugin in real Neovims
	.ci/nvim $(CACHE)

nvim-demo: build ## Neovim with the plugin and the scripted agent
	editors/nvim/demo.sh

fuzz:           ## each fuzz target for a while
	.ci/fuzz 30s

chaos: build deps ## the fault suite for TIME in each package; a failing seed is printed: -chaos.seed N replays it
	go test -count=1 -timeout 0 -run TestChaos ./bridge -chaos.time $(TIME)
	go test -count=1 -timeout 0 -run TestChaos ./rpc -chaos.time $(TIME)
	DRAWBRIDGE_E2E=$(CACHE) go test -count=1 -timeout 0 -run TestChaos ./cmd/drawbridge/e2e -chaos.time $(TIME)

bench: build    ## one table of ratios of the whole program
	go run ./cmd/bench

record: build deps ## what the claude of VERSION prints in the scenarios; see docs/compatibility.md
	.ci/record $(CACHE) $(VERSION)

generate:       ## golden files and generated documents
	go generate ./...
	go test ./adapters/... ./bridge ./rpc/... ./cmd/drawbridge/... -update

deps:
	.ci/deps $(CACHE)

clean:
	rm -rf bin .cache

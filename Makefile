# What the tests need beside Go is installed into .cache by `make deps`, at the versions pinned in .ci/deps.
export GOFLAGS += -trimpath
CACHE := $(CURDIR)/.cache

.PHONY: build demo test unit e2e fuzz lint cross bench deps generate clean

build:          ## the binary, stripped, as bin/drawbridge
	CGO_ENABLED=0 go build -ldflags '-s -w' -o bin/drawbridge ./cmd/drawbridge

demo: build     ## a tour in the terminal, without an account
	bin/drawbridge chat --demo

test: lint cross unit e2e   ## everything

unit:           ## the packages, with the race detector; once more with jsonrpc2's use-after-return poison
	go test -race ./...
	go test -tags jsonrpc2poison ./rpc/...

e2e: build deps ## the real claude, several versions, behind the binary
	DRAWBRIDGE_E2E=$(CACHE) go test -count=1 -timeout 20m ./cmd/drawbridge/e2e/...

deps:
	.ci/deps $(CACHE)

fuzz:           ## each fuzz target for a while
	.ci/fuzz 30s

lint:
	test -z "$$(gofmt -l adapters bridge cmd rpc)" || { gofmt -l adapters bridge cmd rpc; exit 1; }
	go vet ./...
	go tool staticcheck ./...

cross:          ## compiled and vetted, not run
	GOOS=darwin go vet ./... && GOOS=windows go vet ./...

bench: build    ## one table of ratios
	go run ./cmd/bench

generate:       ## golden files and generated documents
	go test ./adapters/... ./rpc/... ./bridge/settings -update

clean:
	rm -rf bin .cache

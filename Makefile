# The commands of a working day. Each target says what it does after "##"; `make` lists them.

.DEFAULT_GOAL := help
.PHONY: help run test check bench build

GO ?= go
# A version that understands the Go version of go.mod. It is run without becoming a dependency.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
# Of the fixes of go fix, stringsbuilder is left out: a builder in place of a += that runs three times reads worse.

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## build actord and the example plugin, then run application.conf
	$(GO) build -o bin/actord ./cmd/actord
	$(GO) build -o bin/fraud ./examples/orders/fraud
	bin/actord run ./application.conf

test: ## run every test, with the race detector where a C compiler works
	@race=-race; \
	scripts/can-race || { race=; echo 'no working C compiler: testing without the race detector'; }; \
	set -x; $(GO) test $$race -shuffle=on ./...

check: ## look for mistakes without running anything but internal/archtest
	@echo 'gofmt -l .'; bad=$$(gofmt -l .) && test -z "$$bad" || { echo "not formatted, run gofmt -w:"; echo "$$bad"; exit 1; }
	$(GO) vet ./...
	$(GO) fix -stringsbuilder=false -diff ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) test ./internal/archtest

bench: ## run every benchmark
	$(GO) test -run '^$$' -bench . -benchmem ./...

build: ## build a static bin/actord
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/actord ./cmd/actord

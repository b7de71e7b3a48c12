# make alone: lint, test, build. make help lists the rest.

VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  := -s -w -X main.version=$(VERSION)
# Packages built and tested at once: bounds the memory that -race takes.
P        ?= 2
RACE     ?=
SHORT    ?=
FUZZTIME ?= 30s
# SQLite is a C library put into Go, large and single-threaded: watched by the race
# detector it takes thirty times as long, and no race in it would be ours.
UNWATCHED := modernc.org/sqlite/lib modernc.org/libc
GOTEST   := go test -p $(P) -timeout 20m $(if $(SHORT),-short) $(if $(RACE),-race $(UNWATCHED:%=-gcflags=%=-race=false))
# Run by version, so that the linter's own dependencies stay out of go.mod.
LINTER   ?= go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
MAILPIT  := github.com/axllent/mailpit@v1.33.1
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64

# Properties are drawn from one seed, so that a run can be repeated; fuzz draws anew.
export RAPID_SEED ?= 1

.DEFAULT_GOAL := all
.PHONY: all help demo test test-needs race lint bench fuzz generate verify build dist

all: lint test build

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: build ## Build curfew and watch it guard a simulated cloud
	bin/curfew demo

test: test-needs ## Run all tests (RACE=1 with the race detector, SHORT=1 without the long ones); installs what they need where it may
	$(GOTEST) ./...

race: ## Run all tests with the race detector
	@$(MAKE) --no-print-directory test RACE=1

# Debian packages are installed only as root and only where apt-get exists;
# otherwise the tests that need them say so and are left out. A mail server that
# others wrote is built only where CI is set; elsewhere its test says how.
test-needs:
	@[ -z "$(CI)" ] || [ -x "$$(go env GOPATH)/bin/mailpit" ] || CGO_ENABLED=0 go install $(MAILPIT) || \
		echo "left out: the test that sends to a real mail server"
	@need=""; \
	[ -x "$$(PATH="$$PATH:/usr/sbin" command -v sshd)" ] || need="$$need openssh-server"; \
	for p in curl rsync rclone busybox; do command -v $$p >/dev/null || need="$$need $$p"; done; \
	[ -e /usr/bin/jupyter-server ] && [ -d /usr/share/jupyter/kernels/python3 ] || need="$$need jupyter-server python3-ipykernel"; \
	command -v prometheus >/dev/null || need="$$need prometheus"; \
	command -v prometheus-alertmanager >/dev/null || need="$$need prometheus-alertmanager"; \
	if [ -n "$(RACE)" ]; then command -v gcc >/dev/null || need="$$need gcc libc6-dev"; fi; \
	[ -n "$$need" ] || exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing for the tests:$$need"; \
		apt-get -qq update </dev/null >/dev/null && \
		DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install $$need </dev/null >/dev/null; \
	else \
		echo "not installed, and not ours to install:$$need"; \
		case "$$need" in *openssh*) echo "left out: the tests that log in to a real sshd";; esac; \
		case "$$need" in *curl*) echo "left out: the tests that ping with curl";; esac; \
		case "$$need" in *rsync*|*rclone*|*busybox*) echo "left out: the tests that export with what is missing";; esac; \
		case "$$need" in *jupyter*) echo "left out: the test that asks a real Jupyter server";; esac; \
		case "$$need " in *prometheus\ *) echo "left out: the tests that ask a real Prometheus";; esac; \
		case "$$need" in *alertmanager*) echo "left out: the tests that tell a real Alertmanager";; esac; \
		case "$$need" in *gcc*) echo "the race detector needs a C compiler" >&2; exit 1;; esac; \
	fi

lint: ## Check style, import direction and the usual mistakes
	$(LINTER) run ./...

bench: ## Measure on this machine and write docs/performance.md; let nothing else run meanwhile
	go run ./internal/bench docs/performance.md

fuzz: ## Draw every property anew and fuzz every fuzz target for FUZZTIME (30s)
	RAPID_SEED=0 go test $$(go list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' ./... | sed -n 's/ .*pgregory.net\/rapid.*//p') -count=1 -rapid.checks=1000
	@set -e; for pkg in $$(go list ./...); do \
		for f in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "$$pkg $$f"; go test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$pkg; \
		done; \
	done

generate: ## Write what is generated: the reference pages
	go run ./internal/docgen docs/reference
	go test -count=1 -run '^TestTheCommandReferenceIsUpToDate$$' ./cmd/curfew -update

verify: generate ## Fail if what is generated is not what is committed
	git diff --exit-code

build: ## Build bin/curfew
	CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags "$(LDFLAGS)" -o bin/curfew ./cmd/curfew

dist: ## Build static binaries for every platform into dist/, with their sums
	rm -rf dist && mkdir dist
	@set -e; for p in $(PLATFORMS); do \
		os=$${p%/*}; arch=$${p#*/}; out=dist/curfew_$(VERSION)_$${os}_$$arch; \
		echo "$$out"; \
		CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch \
			go build -buildvcs=false -trimpath -ldflags "$(LDFLAGS)" -o $$out ./cmd/curfew; \
	done
	cd dist && sha256sum curfew_* > SHA256SUMS

# make help lists the targets. `make demo` and `make test` need cargo, gcc, make and python3-pip; the rest they install.

LLVM_PREFIX ?= /usr/lib/llvm-22
MODELS := bvlc_alexnet densenet121 inception_v1 inception_v2 resnet50 shufflenet squeezenet vgg19 zfnet512
# Those below 110 MB; all nine come to 1.5 GB.
TEST_MODELS ?= densenet121 inception_v1 inception_v2 resnet50 shufflenet squeezenet
BENCH_MODELS ?= squeezenet shufflenet resnet50

CARGO ?= cargo
PYTHON ?= python3
PIP := $(PYTHON) -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-compile
# One profile for everything: the compiler's time is spent in MLIR and LLVM, which are built already.
BUILT := $(or $(CARGO_TARGET_DIR),target)/debug
FUSION := $(BUILT)/fusion
PREFIX ?= /usr/local
# What everything is built with: cargo compiles a crate once more for every other set of features. Those of the tests are
# chosen where an example is among the targets, as it is in build.
EVERYTHING := --workspace --features fusion/ndarray
export PYTHONPATH := data/python:data/onnxruntime
export PYTHONDONTWRITEBYTECODE := 1

# .cargo/config.toml says the same for the default prefix; set only otherwise, so that plain cargo shares what make builds.
ifneq ($(LLVM_PREFIX),/usr/lib/llvm-22)
export MLIR_SYS_220_PREFIX := $(LLVM_PREFIX)
export TABLEGEN_220_PREFIX := $(LLVM_PREFIX)
export LIBCLANG_PATH := $(LLVM_PREFIX)/lib
endif

.PHONY: help deps build install dist demo docs book test fuzz check-format check-locks check-lints check-models check-gpus check-gpu-kit check-example check-nodes check-python check test-python-peers wheel bench models clean
.DELETE_ON_ERROR:

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

deps: ## Install LLVM and MLIR 22 and what building needs (Debian, as root)
	@scripts/install-deps.sh $(LLVM_PREFIX)

build: deps ## Build the programs: fusion, fusion-opt, fusion-reduce, fusion-lsp-server
	$(CARGO) build $(EVERYTHING) --bins --example example-opt --example example-codegen

install: ## Copy what make build built to PREFIX=/usr/local, stripped; below DESTDIR, if given
	@DESTDIR="$(DESTDIR)" scripts/install.sh $(BUILT) $(PREFIX)

dist: build ## Make a tarball to unpack anywhere, and a Debian package, in target/dist
	@scripts/dist.sh $(BUILT) $(BUILT)/../dist

demo: build ## Compile ResNet-50, show its kernels, run it, compare with ONNX Runtime, time it
	@if $(MAKE) -s --no-print-directory data/python/.installed; then \
	  $(MAKE) -s --no-print-directory data/models/resnet50/model.onnx && examples/demo.sh $(FUSION); \
	else \
	  examples/offline/demo.sh $(FUSION); \
	fi

test: check-format check-locks check-lints check-models check-nodes check-example check check-python check-gpu-kit ## Run all tests

# The projects outside the workspace have lock files of their own, which a new dependency of the workspace makes stale.
check-locks: deps
	@for project in examples/out-of-tree examples/library test/fuzz; do \
	  $(CARGO) metadata --locked --format-version 1 --manifest-path $$project/Cargo.toml > /dev/null || exit 1; done

check-format: deps
	@if $(CARGO) fmt --version > /dev/null 2>&1; then \
	  $(CARGO) fmt --all --check && \
	  for project in out-of-tree library; do $(CARGO) fmt --check --manifest-path examples/$$project/Cargo.toml || exit 1; done; \
	else echo "rustfmt is not installed: formatting is not checked"; fi

check-lints: deps
	@$(PYTHON) scripts/check_links.py
	@$(PYTHON) scripts/check_imports.py
	@$(PYTHON) scripts/check_numbers.py
	@$(PYTHON) scripts/check_tests.py
	@if $(CARGO) clippy --version > /dev/null 2>&1; then $(CARGO) clippy $(EVERYTHING) --all-targets -- --deny warnings; \
	else echo "clippy is not installed: lints are not checked"; fi

# Real models against what ONNX Runtime gave for them. Logits near 0 need the absolute tolerance.
check-models: build
	@if $(MAKE) -s --no-print-directory data/python/.installed; then \
	  $(MAKE) -s --no-print-directory models MODELS="$(TEST_MODELS)" && \
	  $(FUSION) onnx-test --jobs 1 --timeout 600 --rtol 1e-3 --atol 1e-4 $(TEST_MODELS:%=data/models/%); \
	else \
	  echo "the onnx package cannot be fetched: real models are not tested"; \
	fi

# By the reference semantics they take a second, as native code a few minutes: EVERY_NODE=10 compiles one of ten.
EVERY_NODE ?= 1
check-nodes: build ## Run ONNX's tests of its operators
	@if $(MAKE) -s --no-print-directory data/nodes/.made; then \
	  $(CARGO) build $(EVERYTHING) --example onnx_backend && \
	  $(BUILT)/examples/onnx_backend --unsupported test/nodes/unsupported.txt data/nodes && \
	  { $(FUSION) onnx-test $$(ls -d data/nodes/test_* | awk 'NR % $(EVERY_NODE) == 0') > data/nodes/log || \
	    { grep ^FAIL data/nodes/log; false; } } && tail -n 1 data/nodes/log; \
	else \
	  echo "the onnx package cannot be fetched: ONNX's operators are not tested"; \
	fi

# The page of ONNX's operators. TABLE_GPUS are emulated, some ten minutes each.
TABLE_GPUS ?= nvidia:sm_90a amd:gfx942
onnx-table: build data/nodes/.made ## Write docs/reference/onnx-operators.md from a run of ONNX's tests with every executor
	$(CARGO) build $(EVERYTHING) --example onnx_backend
	-$(BUILT)/examples/onnx_backend -v data/nodes > data/nodes/log.reference
	-$(FUSION) onnx-test data/nodes/test_* > data/nodes/log.cpu
	-@for gpu in $(TABLE_GPUS); do $(FUSION) onnx-test --target $$gpu --emulate --timeout 600 data/nodes/test_* > data/nodes/log.$$gpu; done
	PYTHONPATH=data/onnx $(PYTHON) -W ignore test/nodes/table.py data/nodes reference=data/nodes/log.reference cpu=data/nodes/log.cpu \
	  $(foreach gpu,$(TABLE_GPUS),$(gpu)=data/nodes/log.$(gpu)) > docs/reference/onnx-operators.md

# Every ONNX backend test with the kernels of GPUs, emulated on this machine's processor: a quarter of an hour each on two cores.
BACKEND_TESTS := data/python/onnx/backend/test/data
check-gpus: build data/python/.installed ## Run all ONNX backend tests with emulated kernels of all GPUs
	@for gpu in $${GPUS:-$$($(FUSION) targets --gpus)}; do \
	  echo "$$gpu" && $(FUSION) onnx-test --target $$gpu --emulate --timeout 600 \
	    $(foreach kind,node simple pytorch-operator pytorch-converted,$(BACKEND_TESTS)/$(kind)) || exit 1; \
	done

# The driver that benchmarks GPUs, with emulated kernels of small sizes beside the interpreter.
check-gpu-kit: build
	@if $(MAKE) -s --no-print-directory data/python/.installed; then \
	  PYTHON="$(PYTHON)" FUSION="$(FUSION)" NODES=30 bench/gpu/run.sh --dry-run --steps 2,3,7; \
	else \
	  echo "numpy and onnx cannot be fetched: the kit for GPUs is not run"; \
	fi

# The Python module as it was built, without a wheel.
check-python: deps
	@if $(MAKE) -s --no-print-directory data/python/.installed data/pytest/.installed; then \
	  $(CARGO) build $(EVERYTHING) --lib --example example-opt && mkdir -p data/fusion-python && cp -r python/fusion data/fusion-python/ && \
	  ln -sf $(abspath $(BUILT))/lib_fusion.so data/fusion-python/fusion/_fusion.abi3.so && \
	  PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=data/fusion-python:data/python:data/pytest $(PYTHON) -m pytest -q -p no:cacheprovider python/tests; \
	else \
	  echo "numpy, onnx and pytest cannot be fetched: the Python module is not tested"; \
	fi

# The backend of torch.compile; torch is large, and is not fetched for `make test`.
test-python-peers: check-python data/torch/.installed ## Run the tests of the Python module that need torch
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=data/fusion-python:data/torch:data/pytest $(PYTHON) -m pytest -q -p no:cacheprovider python/tests
	PYTHONPATH=data/fusion-python:data/torch $(PYTHON) bench/torch_operators.py | tail -1

wheel: deps ## Build a wheel of the Python module into dist/, with maturin from PyPI
	@$(MAKE) -s --no-print-directory data/maturin/.installed
	data/maturin/bin/maturin build --release --manifest-path python/Cargo.toml --compression-level 9 --out dist

check-example: build
	@$(MAKE) -s --no-print-directory -C examples/out-of-tree check OPT=$(abspath $(BUILT))/examples/example-opt CODEGEN=$(abspath $(BUILT))/examples/example-codegen
	@$(MAKE) -s --no-print-directory -C examples/c test FUSION=$(abspath $(FUSION)) INCLUDE=$(abspath runtime/include) \
	  BUILD=$(abspath $(BUILT))/example-c

check: build
	$(CARGO) test $(EVERYTHING)

MINUTES ?= 10
fuzz: deps ## Run all tests of random cases on fresh seeds for MINUTES=10: docs/reference/fuzzing.md
	@CARGO="$(CARGO)" $(PYTHON) scripts/fuzz.py $(MINUTES) $(GENERATORS)

docs: deps ## Write the generated pages of docs/reference (dialects, schedules, rules, GPUs), and build the book in docs/book
	FUSION_WRITE_DOCS=1 $(CARGO) test --quiet --package fusion-dialects --test docs
	FUSION_WRITE_DOCS=1 $(CARGO) test --quiet --package fusion-transforms --test transforms docs
	FUSION_WRITE_DOCS=1 $(CARGO) test --quiet --package fusion-conversion --test conversion docs
	@$(MAKE) -s --no-print-directory book

# mdbook from PATH, else one of our own in data/.
MDBOOK := $(or $(shell command -v mdbook),data/mdbook/bin/mdbook)

book: ## Build the book in docs/book without writing the generated pages anew
	@if [ -x "$(MDBOOK)" ] || $(MAKE) -s --no-print-directory data/mdbook/bin/mdbook; then \
	  $(MDBOOK) build docs && echo "the book is docs/book/index.html"; \
	else \
	  echo "mdbook cannot be fetched: the book is not built"; \
	fi

data/mdbook/bin/mdbook:
	@echo "fetching mdbook into data/mdbook"
	@$(CARGO) install --quiet mdbook --version '^0.4' --locked --root data/mdbook

# What is recorded goes to the standard output, the rest elsewhere.
bench: build ## Time some operators and models, these beside ONNX Runtime where it can be installed
	@bench/operators.sh $(FUSION)
	@bench/shapes.sh $(FUSION)
	@$(MAKE) -s --no-print-directory models MODELS="$(BENCH_MODELS)" >&2
	@$(MAKE) -s --no-print-directory data/onnxruntime/.installed >&2 || \
	  echo "onnxruntime cannot be fetched: there is no ratio" >&2
	@$(PYTHON) bench/models.py $(FUSION) $(BENCH_MODELS)

models: $(MODELS:%=data/models/%/model.onnx) ## Make all nine test models (1.5 GB in data/)

data/models/%/model.onnx: data/python/.installed test/models/make.py test/models/expected/%.npz
	@echo "making data/models/$*"
	@$(PYTHON) test/models/make.py data/models $*

data/python/.installed: test/models/requirements.txt
	@rm -rf $(@D)
	@echo "fetching the onnx package into $(@D)"
	@$(PIP) --target $(@D) -r $<
	@touch $@

data/onnx/.installed: test/nodes/requirements.txt
	@rm -rf $(@D)
	@echo "fetching the newest onnx package into $(@D)"
	@$(PIP) --target $(@D) -r $<
	@touch $@

data/nodes/.made: data/onnx/.installed test/nodes/make.py
	@rm -rf $(@D)
	@echo "making data/nodes"
	@PYTHONPATH=data/onnx $(PYTHON) -W ignore test/nodes/make.py $(@D)
	@touch $@

data/pytest/.installed: python/requirements.txt
	@rm -rf $(@D)
	@echo "fetching pytest into $(@D)"
	@$(PIP) --no-deps --target $(@D) -r $<
	@touch $@

data/torch/.installed: python/requirements-torch.txt
	@rm -rf $(@D)
	@echo "fetching torch into $(@D)"
	@$(PIP) --target $(@D) -r $<
	@touch $@

data/maturin/.installed:
	@rm -rf $(@D)
	@echo "fetching maturin into $(@D)"
	@$(PIP) --target $(@D) 'maturin>=1.9,<2'
	@touch $@

data/onnxruntime/.installed: bench/requirements.txt
	@rm -rf $(@D)
	@echo "fetching onnxruntime into $(@D)"
	@$(PIP) --no-deps --target $(@D) -r $<
	@touch $@

clean: ## Remove what was built and fetched
	$(CARGO) clean
	rm -rf data docs/book

# Everything a contributor runs; CI runs only these targets. Needs Python 3.11+ and a Rust toolchain, nothing else:
# the targets make their own virtual environment in .venv.

PYTHON ?= python3
VENV   ?= .venv
N      ?= 1000000
COUNT  ?= 40
SEED   ?=
FIRST  ?=
CORPUS ?=
GPU_PYTHON ?=
# The one place of the repository's address: https://HOST/OWNER/NAME. A workflow knows it; see `addresses`.
REPOSITORY ?=

scripts := $(if $(findstring Windows_NT,$(OS)),Scripts,bin)
bin    := $(VENV)/$(scripts)
python := $(abspath $(bin))/python
bench_python := $(abspath $(VENV)-bench/$(scripts))/python
gpu_python   := $(or $(GPU_PYTHON),$(python))
corpus       := $(if $(CORPUS),$(abspath $(CORPUS)))
export PYO3_PYTHON := $(python)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests start many processes, which take half the time where modules are compiled once.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV PYTHONDONTWRITEBYTECODE

rust_sources   := Cargo.toml Cargo.lock $(shell find rust -name '*.rs' -o -name Cargo.toml)
# Not in the workspace, but they name what is in it; fuzz/coverage needs a C++ compiler, and is only formatted.
crates_apart   := benches/core fuzz/schemata fuzz/slow fuzz/volume
python_sources := pyproject.toml $(shell find python -type f ! -name '*.pyc' ! -name '*.so' ! -name '*.pyd')
clippy         := cargo clippy --quiet --locked --all-targets

seed := $(or $(SEED),$(shell $(PYTHON) -c 'import secrets; print(secrets.randbits(32))'))
few  := $(shell expr $(N) / 1000 + 1)

# Options of maturin for wheels that run elsewhere: on Linux by zig, against the oldest glibc or musl that still counts.
on_linux = $(or $(findstring linux,$(TARGET)),$(if $(TARGET),,$(findstring Linux,$(shell uname))))
portable = $(if $(on_linux),--zig --compatibility $(if $(findstring musl,$(TARGET)),musllinux_1_2,manylinux2014))

# What tests need; the names stand in pyproject.toml. It is installed while the core is compiled.
extras = cpu,cuda,data,dev,isl,jax,opencl,terminal,tune,viz
define requirements
import tomllib
project = tomllib.load(open("pyproject.toml", "rb"))["project"]
for extra in "$(extras)".split(","):
    print(*project["optional-dependencies"][extra], sep="\n")
print(*project["dependencies"], sep="\n")
endef
export requirements
maturin_develop = VIRTUAL_ENV="$(abspath $(VENV))" $(bin)/maturin develop --quiet --release --locked

# What pyproject.toml has the core of a wheel compiled with.
wheel_flags = -C llvm-args=--inlinehint-threshold=30000

# The system's, or the one that the extra `cpu` installs.
c_compiler = $(or $(shell command -v cc),"$(python)" -m ziglang cc)
last_release = $(shell git describe --tags --abbrev=0 --match 'v*' 2>/dev/null)
jaxlib = $(shell "$(python)" -c 'import jaxlib; print(jaxlib.__version__)')

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test rust-test c-test c-install python-test lint lint-rust lint-python fmt bench golden fuzz mutants mutants-python mutants-rust mutants-certificates gpu ahead-of-time ray browser wheel portable-wheel addresses sdist smoke semver audit docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)-demo/.made ## build quickly, install in .venv-demo, then show what it does with examples/rotary.hlo
	@cd examples && "$(abspath $(VENV))-demo/$(scripts)/python" demo.py rotary.hlo

test: ## everything that CI checks: format, lints, types, stub, Rust and Python tests
	$(MAKE) -j 3 lint-python lint-stub lint-rust
	$(MAKE) -j 3 rust-test c-test python-test

rust-test: $(VENV)/.made ## the tests of the Rust core and the examples of its documentation, debug assertions on; the crate packs and builds alone
	cargo test --quiet --locked --profile checked -p indexing-core -p indexing-capi --test '*'
	cargo test --quiet --locked --profile checked -p indexing-core -p indexing-capi --doc
	@rm -rf target/package
	cargo package --quiet --locked --allow-dirty --no-verify -p indexing-core
	tar -xzf target/package/indexing-core-*.crate -C target/package
	CARGO_PROFILE_DEV_DEBUG=false cargo test --quiet --manifest-path target/package/indexing-core-*/Cargo.toml --target-dir target --lib

c-test: $(VENV)/.developed ## the C examples, against the static library that the crate `indexing-capi` makes, and the installed shared one
	cargo build --quiet --locked --profile checked -p indexing-capi
	$(c_compiler) -std=c11 -Wall -Wextra -Werror -I rust/capi/include examples/c/tiles.c target/checked/libindexing.a -lm -lpthread -ldl -o target/checked/tiles
	target/checked/tiles | diff examples/c/tiles.out -
	$(c_compiler) -std=c11 -Wall -Wextra -Werror -I rust/capi/include examples/c/programs.c target/checked/libindexing.a -lm -lpthread -ldl -o target/checked/programs
	target/checked/programs "$(python)" -m indexing serve | diff examples/c/programs.out -
	rust/capi/install target/checked "$(abspath target/checked/installed)"
	$(c_compiler) -std=c11 -I target/checked/installed/include examples/c/tiles.c -L target/checked/installed/lib -lindexing -Wl,-rpath,"$(abspath target/checked/installed/lib)" -o target/checked/tiles-shared
	target/checked/tiles-shared | diff examples/c/tiles.out -

c-install: ## the C interface into PREFIX= (DESTDIR= before it): header, static and shared library, a file for pkg-config
	cargo build --quiet --locked --release -p indexing-capi
	rust/capi/install target/release "$(or $(PREFIX),/usr/local)" "$(DESTDIR)"

python-test: $(VENV)/.developed ## the Python tests, on the working tree
	"$(python)" -m pytest -n 2 --dist loadfile

lint: lint-rust lint-python lint-stub ## formatting, clippy, ruff, mypy --strict, stubtest

lint-rust: $(VENV)/.made
	cargo fmt --all --check
	$(clippy) --workspace -- -D warnings
	for crate in $(crates_apart) fuzz/coverage; do cargo fmt --check --manifest-path $$crate/Cargo.toml || exit 1; done
	for crate in $(crates_apart); do $(clippy) --target-dir target --manifest-path $$crate/Cargo.toml -- -D warnings || exit 1; done
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps -p indexing-core -p indexing-capi

lint-python: $(VENV)/.installed
	$(bin)/ruff format --check .
	$(bin)/ruff check .
	$(bin)/mypy

lint-stub: $(VENV)/.developed
	@cd tests && "$(python)" -m mypy.stubtest --mypy-config-file package/stub.ini indexing._core

fmt: $(VENV)/.developed ## format Rust and Python
	cargo fmt --all
	for crate in $(crates_apart) fuzz/coverage; do cargo fmt --manifest-path $$crate/Cargo.toml || exit 1; done
	$(bin)/ruff check --fix-only --quiet .
	$(bin)/ruff format .

golden: $(VENV)/.developed ## accept the current output as what the golden tests expect
	cd tests && GOLDEN=accept "$(python)" -m pytest -q -k golden

fuzz: $(VENV)/.developed ## N= random problems (SEED=, FIRST=) in Rust, N/1000 maps through Python and isl, HLO modules (PTX= a folder that runs PTX) and mutants (PROGRAMS=), odd calls and commands
	cargo run --quiet --locked --release --manifest-path fuzz/volume/Cargo.toml -- $(N) $(seed) $(FIRST)
	cargo run --quiet --locked --release --manifest-path fuzz/slow/Cargo.toml -- $(few)0 $(seed)
	"$(python)" fuzz/maps.py --count $(few) --seed $(seed)
	"$(python)" fuzz/certificates.py --count $(few) --seed $(seed)
	"$(python)" fuzz/presburger.py --count $(few) --seed $(seed)
	"$(python)" fuzz/arguments.py --count $(few)0 --seed $(seed)
	"$(python)" fuzz/command_line.py --count $(few) --seed $(seed)
	"$(python)" fuzz/kernel_mutations.py --count $(few) --seed $(seed) tests/golden/*.hlo
	cd fuzz && "$(python)" -m modules --count $(few) --seed $(seed) $(if $(PTX),--ptx "$(abspath $(PTX))")
	"$(python)" fuzz/hlo_verifier.py --count $(few) --seed $(seed) $(PROGRAMS)
	"$(python)" -m pytest -q -n 2 --dist loadfile --hypothesis-profile=default --hypothesis-seed=$(seed)

mutants: mutants-python mutants-rust mutants-certificates ## put small faults into the code, COUNT= of them (SEED=), ten times as many into the core; the tests must find 95 in 100

mutants-python: $(VENV)/.developed ## the same, in the formulas of ops and the generic inverse
	"$(python)" fuzz/python_mutants.py --count $(COUNT) --seed $(seed)

mutants-rust: $(VENV)/.made ## the same, in the rules, ranges, constraints, intervals and sets of the core
	"$(python)" fuzz/mutants_rust.py --count $(COUNT)0 --seed $(seed)

mutants-certificates: $(VENV)/.developed ## mutants of rules, ranges and constraints that claim what is false: the checker must refuse their certificates
	"$(python)" fuzz/mutants_certificates.py --seed $(seed)

bench: $(VENV)-bench/.made ## speed: the core (CORPUS= a file of maps), Python, all maps of programs (PROGRAMS= files), growth, and the peers that pip installs; docs/performance.md
	CORPUS="$(corpus)" cargo bench --quiet --locked --manifest-path benches/core/Cargo.toml
	"$(bench_python)" -m pytest benches --benchmark-only
	"$(bench_python)" benches/program_maps.py $(PROGRAMS)
	"$(bench_python)" benches/growth.py
	"$(bench_python)" benches/memory.py
	"$(bench_python)" benches/arrays.py
	"$(bench_python)" benches/analyses.py
	"$(bench_python)" benches/predictions.py
	"$(bench_python)" benches/peers.py --markdown README.md docs/comparison.md
	"$(bench_python)" benches/cpu.py --markdown docs/kernels.md
	RUSTFLAGS='$(wheel_flags)' cargo build --quiet --locked --release --manifest-path benches/core/Cargo.toml
	RUSTFLAGS='$(wheel_flags)' cargo build --quiet --locked --release -p indexing-capi
	"$(bench_python)" benches/performance.py

gpu: $(if $(GPU_PYTHON),,$(VENV)/.developed) ## what needs a GPU: its kernels compiled, then the tests of kernels and programs on it, its bandwidth against a copy (GPU_PYTHON= one that has the wheel: nothing is installed)
	"$(gpu_python)" benches/gpu.py --dry-run
	"$(gpu_python)" -m indexing run --device cuda examples/embedding.hlo
	JAX_PLATFORMS=cpu INDEXING_TEST_DEVICE=cuda "$(gpu_python)" -m pytest -q tests/runtime/gpu_device.py tests/runtime/test_runtime_cuda.py tests/executable/test_executable.py tests/executable/test_shared_rows.py tests/kernels/test_emit_*.py
	@if command -v compute-sanitizer; then JAX_PLATFORMS=cpu INDEXING_TEST_DEVICE=cuda compute-sanitizer --error-exitcode 1 "$(gpu_python)" -m pytest -q tests/kernels/test_emit_reduction.py; else echo 'compute-sanitizer is not found: no accesses are checked'; fi
	XLA_PYTHON_CLIENT_PREALLOCATE=false "$(gpu_python)" benches/gpu.py

ahead-of-time: $(VENV)/.developed ## what needs XLA's GPU compiler (218 MB), but no GPU: programs as it makes them, in a folder of its own
	$(bin)/pip install --quiet --upgrade --no-deps --target $(VENV)-cuda 'jax-cuda12-plugin==$(jaxlib)' 'jax-cuda12-pjrt==$(jaxlib)' 'nvidia-cuda-nvcc-cu12>=12.8'
	PYTHONPATH="$(abspath $(VENV))-cuda" JAX_PLATFORMS=cpu "$(python)" -m pytest -q tests/hlo/gpu_ahead_of_time.py

ray: $(VENV)/.developed ## what needs Ray: many programs, and a search, on a cluster of two nodes here, one of which is killed on the way
	$(bin)/pip install --quiet 'ray>=2.40'
	"$(python)" -m pytest -q tests/analysis/ray_cluster.py tests/tuning/ray_tuning.py

browser: $(VENV)/.developed ## the page of `indexing report` in headless Chromium (CHROMIUM= where it isn't on the path)
	$(bin)/pip install --quiet 'playwright>=1.45'
	"$(python)" -m pytest -q tests/show/page_in_a_browser.py tests/explorer/explorer_in_a_browser.py

wheel: dist/.built ## build the release wheel (abi3, CPython 3.11 and later) into dist/

portable-wheel: $(VENV)/.made ## a wheel for any Linux of the last ten years (TARGET= another machine, or musl), by zig, into dist/portable/
	$(bin)/pip install --quiet 'ziglang>=0.15' 'twine>=6.1'
	PATH="$(abspath $(bin)):$$PATH" $(bin)/maturin build --quiet --release --locked $(if $(TARGET),--target $(TARGET)) $(portable) --interpreter "$(python)" --out dist/portable
	$(bin)/twine check --strict dist/portable/*.whl

addresses: ## write REPOSITORY= into the metadata and the links of README.md, for a release
	$(PYTHON) docs/addresses.py "$(REPOSITORY)"

sdist: $(VENV)/.made ## the source distribution, with tests and documents, into dist/portable/
	$(bin)/pip install --quiet 'twine>=6.1'
	$(bin)/maturin sdist --out dist/portable
	$(bin)/twine check --strict dist/portable/*.tar.gz

smoke: dist/.built ## look into the wheel, install it where nothing else is, and ask it a question
	$(PYTHON) tests/package/wheel_files.py dist/*.whl
	$(PYTHON) -m venv --clear $(VENV)-smoke
	"$(abspath $(VENV))-smoke/$(scripts)/python" -m pip install --quiet dist/*.whl
	cd examples && "$(abspath $(VENV))-smoke/$(scripts)/python" -m indexing maps embedding.hlo --instruction row
	cd examples && "$(abspath $(VENV))-smoke/$(scripts)/python" -m indexing run --device reference embedding.hlo

semver: ## compare the crates' interfaces with those of the last release (cargo install cargo-semver-checks)
	$(if $(last_release),cargo semver-checks --package indexing-core --package indexing-capi --baseline-rev $(last_release),@echo 'there is no release to compare with')

audit: $(VENV)/.developed ## licences, advisories and sources of the crates (cargo deny) and of the Python packages (pip-audit)
	cargo deny --locked check
	$(bin)/pip install --quiet 'pip-audit>=2.8'
	$(bin)/pip-audit --skip-editable

docs: $(VENV)/.developed ## write the generated documents and pictures of docs/, and all of them as a site for browsers, in .site/html; its links must lead somewhere, and its pages fit into the window of a browser
	$(bin)/pip install --quiet 'indexing[docs]' 'playwright>=1.45'
	"$(python)" docs/generate.py
	PYTHONPATH=tests/oracles "$(python)" tests/core/rules_docs.py
	"$(python)" docs/gather_site.py .site/docs
	NO_MKDOCS_2_WARNING=1 $(bin)/mkdocs build --quiet
	"$(python)" docs/check_links.py .site/html
	"$(python)" docs/look_at_site.py .site/html

clean: ## remove everything that the targets made
	rm -rf $(VENV) $(VENV)-bench $(VENV)-cuda $(VENV)-smoke $(VENV)-demo .site .cache dist target .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The steps that the targets share, each with a stamp.

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.x")'
	$(PYTHON) -m venv $(VENV)
	$(bin)/pip install --quiet 'maturin>=1.7,<2'
	@touch $@

$(VENV)-demo/.made: $(VENV)/.made $(rust_sources) $(python_sources)
	@echo 'Building the core without its dearest optimizations: about a minute on two cores.'
	@rm -rf dist/demo
	$(bin)/maturin build --profile quick --locked --interpreter "$(python)" --out dist/demo
	@echo 'Installing it with a C compiler and NVRTC in $(VENV)-demo.'
	$(PYTHON) -m venv --clear $(VENV)-demo
	$(VENV)-demo/$(scripts)/pip install --quiet "$$(ls dist/demo/*.whl)[cpu,cuda]"
	@touch $@

dist/.built: $(VENV)/.made $(rust_sources) $(python_sources) README.md
	@rm -f dist/*.whl
	$(bin)/maturin build --quiet --release --locked --interpreter "$(python)" --out dist
	@touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml
	@"$(python)" -c "$$requirements" > $(VENV)/requirements.txt
	$(bin)/pip install --quiet -r $(VENV)/requirements.txt
	@touch $@

$(VENV)/.compiled: $(VENV)/.made $(rust_sources) pyproject.toml
	$(maturin_develop) --skip-install
	@touch $@

# The package is the working tree's, with the core compiled into it: a change of Python alone makes nothing anew.
$(VENV)/.developed: $(VENV)/.installed $(VENV)/.compiled
	$(maturin_develop) --extras $(extras)
	@touch $@

$(VENV)-bench/.made: dist/.built
	$(PYTHON) -m venv $(VENV)-bench
	$(VENV)-bench/$(scripts)/pip install --quiet "$$(ls dist/*.whl)[bench]"
	$(VENV)-bench/$(scripts)/pip install --quiet --force-reinstall --no-deps dist/*.whl
	@touch $@

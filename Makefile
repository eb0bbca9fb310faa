# What people type. The build itself is CMake's (CMakePresets.json); every preset has its folder in build/.
PREFIX ?= /usr/local
CMAKE_FLAGS ?=
HBMSCOPE = build/release/app/hbmscope
SAMPLE = samples/leak_step_200.pprof.gz
TIMED = tests/house/timed.py
BASELINE = samples/leak_step_010.pprof.gz

.PHONY: help run build configure-tests build-tests test install server bundle test-real real-environments clean-real test-gpu test-slow test-attack bench others asan tsan fuzzers fuzz fuzz-window prove tidy format samples clean wheel wheel-files deb release web site test-web test-spark test-ray spark-java

help:
	@echo "make run             install missing packages, build, open the window on the demo"
	@echo "make test            install missing packages, build, run the tests"
	@echo "make build           build/release/app/hbmscope"
	@echo "make install         install to PREFIX=$(PREFIX)"
	@echo "make server          build/server/app/hbmscope: the commands alone, without OpenGL"
	@echo "make bundle          build/release/server_bundle: the static program (10 MiB) that hbmscope copies to servers over ssh"
	@echo "make release         build/dist: wheels, debs, server programs (x86-64 and aarch64), page, SBOM, checksums"
	@echo "make wheel           build/wheel/hbmscope-*.whl, for pip, pipx and uv"
	@echo "make web             build/web/app/web: the window as a page for browsers; make test-web opens it in Chromium"
	@echo "make deb             build/release/packages/hbmscope_*.deb, for apt; both also with MACHINE=aarch64, cross-compiled"
	@echo "make site            build/site: all pages of the repository as one site, with a search; needs no server"
	@echo "make bench           compare speed with go tool pprof, std::map and the floor of this machine"
	@echo "make others          build what make test leaves out, and run each benchmark and fuzzer once"
	@echo "make asan tsan fuzz  run the tests under sanitizers; fuzz for ten minutes"
	@echo "make fuzz-window     drive the real window on its own X server for MINUTES=60 from SEED=1 (Xvfb, xdotool)"
	@echo "make prove           dry runs beside published measurements on real GPUs; the table is build/prove.md too"
	@echo "make tidy format     clang-tidy, clang-format"
	@echo "make samples         make the sample profiles and the picture of the window again"
	@echo "make test-real       tests with real JAX and PyTorch, downloaded into build/real; make clean-real removes them"
	@echo "make test-spark      stores on Spark have the answers of DuckDB; make test-ray fills a store with Ray"
	@echo "make test-gpu        judge it on this machine's GPU, in ten minutes; PYTHON names a Python with jax and torch"
	@echo "make test-attack     jobs of every kind, with and without hbmscope, and 2,000 attachments; make test-slow: all slow tests"

# A display is X11 or Wayland; elsewhere the answer is text and a picture. Live needs Linux; a Mac opens the sample.
run: build
	@if [ "$$(uname)" = Darwin ]; then \
	  echo "hbmscope open $(SAMPLE) --baseline $(BASELINE)"; \
	  $(HBMSCOPE) open $(SAMPLE) --baseline $(BASELINE); \
	elif [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ]; then \
	  echo "hbmscope demo"; \
	  $(HBMSCOPE) demo; \
	else \
	  echo "There is no display: the demo runs for a few seconds without one, and the window is drawn to build/window.png."; echo; \
	  $(HBMSCOPE) demo --headless --workload fragments --for 4 --record build/demo.hbm && \
	  $(HBMSCOPE) open build/demo.hbm --at oom --screenshot build/window.png; \
	fi

build: build/release/build.ninja
	@$(TIMED) build cmake --build --preset release --target hbmscope

build/release/build.ninja: third_party/install_packages.sh
	@third_party/install_packages.sh window
	@$(TIMED) configure cmake --preset release -DHBMSCOPE_TESTS=OFF $(CMAKE_FLAGS)

# The tests are built on top of what `make build` made, in the same folder: the objects are shared.
configure-tests:
	@third_party/install_packages.sh window tests
	@mkdir -p build
	@$(TIMED) configure cmake --preset test $(CMAKE_FLAGS) >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@tail -n 1 build/configure.log

build-tests: configure-tests
	@$(TIMED) build cmake --build --preset test
	@$(MAKE) --no-print-directory --keep-going $(PYTHONS) || echo "Tests that need DuckDB or MCP are skipped: they could not be installed."

# Libraries of Python that commands need: DuckDB for stores, or Spark or Ray beside it; MCP for agents. The oldest version that
# hbmscope names (app/fleet/packages.py), and the newest one that pip installs.
PYTHONS = build/fleet_python build/fleet_newest_python build/mcp_python build/mcp_newest_python
build/fleet_python: tests/fleet/requirements.txt
build/fleet_newest_python: tests/fleet/newest_requirements.txt
build/mcp_newest_python: tests/agent/newest_requirements.txt
build/spark_python: tests/fleet/spark_requirements.txt
build/ray_python: tests/fleet/ray_requirements.txt
build/mcp_python: tests/agent/requirements.txt
$(PYTHONS) build/spark_python build/ray_python:
	@rm -rf $@ && python3 -m venv $@ && $@/bin/pip install --quiet -r $< || { rm -rf $@; exit 1; }

test: build-tests
	@$(TIMED) tests ctest --preset test || { tests/house/say_failures.py build/release; exit 1; }

# Everything that is installed, the static program for servers too where its libraries are there.
install: build/release/build.ninja
	@cmake --build --preset release
	@cmake --install build/release --prefix "$(PREFIX)"

# Everything that is installed, in a folder, and packages of it (app/package). MACHINE=aarch64: cross-compiled.
MACHINE ?= $(shell uname -m)
CROSS = $(filter-out $(shell uname -m),$(MACHINE))
PRESET = $(or $(CROSS),release)
STRIP = $(if $(CROSS),$(CROSS)-linux-gnu-)strip
wheel-files: build/$(PRESET)/build.ninja
	@cmake --build --preset $(PRESET)
	@cmake --build --preset $(PRESET) --target server_bundle
	@rm -rf build/wheel/files
	@cmake --install build/$(PRESET) --prefix build/wheel/files --strip >/dev/null
	@find build/wheel/files/lib -name '*.so*' -type f -exec $(STRIP) --strip-unneeded {} + -exec chmod 644 {} +

# Its libraries, of the same Debian or Ubuntu as here, and qemu for what the build itself starts.
build/aarch64/build.ninja: build/aarch64_root
	@cmake --preset aarch64 $(CMAKE_FLAGS)
build/aarch64_root: third_party/install_packages.sh
	@third_party/install_packages.sh window cross
	@rm -rf $@.new && . /etc/os-release && mmdebstrap --quiet --variant=extract --architectures=arm64 \
	  --include="$$(third_party/install_packages.sh --libraries window | tr ' ' ,)" "$$VERSION_CODENAME" $@.new
	@find $@.new -type l -lname '/*' | while read -r link; do ln -sfrn "$@.new$$(readlink "$$link")" "$$link"; done
	@rm -rf $@ && mv $@.new $@

wheel: wheel-files
	@third_party/install_packages.sh package
	@test -x build/wheel/tools/bin/hatchling || { python3 -m venv build/wheel/tools && build/wheel/tools/bin/pip install --quiet hatchling==1.33.0; }
	@rm -f build/wheel/*_$(MACHINE).whl
	@HBMSCOPE_WHEEL_FILES_ARE_NEW=1 HBMSCOPE_WHEEL_MACHINE=$(MACHINE) build/wheel/tools/bin/hatchling build -t wheel -d build/wheel
	@ls -l build/wheel/*_$(MACHINE).whl

deb: wheel-files
	@cd build/$(PRESET) && SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) cpack -G DEB  # The same sources give the same file.
	@ls -l build/$(PRESET)/packages/*.deb

# All that is given to others: wheels, Debian packages, the static programs for servers, the page, and their checksums.
release: web
	@rm -rf build/dist && mkdir -p build/dist
	@set -e; for machine in $(sort $(shell uname -m) aarch64); do \
	  $(MAKE) --no-print-directory wheel deb MACHINE=$$machine; \
	  cp build/wheel/*_$$machine.whl build/wheel/files/share/doc/hbmscope/sbom.cdx.json build/dist; \
	  cp build/wheel/files/share/hbmscope/server/bundle.tar.gz build/dist/hbmscope-server-$$machine.tar.gz; \
	done
	@cp build/*/packages/*.deb build/web/app/web/hbmscope.html build/dist
	@cd build/dist && sha256sum * >SHA256SUMS && cat SHA256SUMS

# Emscripten's own JavaScript needs Debian's modules of Node.js.
web:
	@mkdir -p build
	@third_party/install_packages.sh web
	@cmake --preset web $(CMAKE_FLAGS) >build/web.log 2>&1 || { cat build/web.log; exit 1; }
	@NODE_PATH=/usr/share/nodejs cmake --build --preset web --target hbmscope_web
	@ls -l build/web/app/web/*.html build/web/app/web/index.js build/web/app/web/index.wasm

# The page in headless Chromium (Debian's), beside the native window; TESTS="-k part --keep FOLDER".
test-web: web build
	@third_party/install_packages.sh browser
	@test -x build/web_test/bin/python || { python3 -m venv build/web_test && build/web_test/bin/pip install --quiet -r tests/web/requirements.txt; }
	@build/web_test/bin/python tests/web/page_test.py build/web/app/web build/release/app/hbmscope $(TESTS)

# The pages of the repository, with what the program says of its commands (app/package/site).
SITE_TOOLS = build/site_tools
$(SITE_TOOLS)/installed: app/package/site/requirements.txt
	@third_party/install_packages.sh package
	@python3 -m venv --clear $(SITE_TOOLS) && $(SITE_TOOLS)/bin/pip install --quiet -r $< && touch $@

site: build $(SITE_TOOLS)/installed
	@app/package/site/gather_pages.py $(HBMSCOPE) build/site_pages
	@NO_MKDOCS_2_WARNING=1 $(SITE_TOOLS)/bin/mkdocs build --strict -f build/site_pages/mkdocs.yml
	@! grep -rnoE '<(script|link|img|iframe)[^>]* (src|href)="?(https?:)?//[^ >]*' --include='*.html' build/site  # No other host.
	@ls build/site/index.html

server:
	@third_party/install_packages.sh
	@cmake --preset server -DHBMSCOPE_TESTS=OFF $(CMAKE_FLAGS)
	@cmake --build --preset server

# Beside the program that carries it.
bundle: build/release/build.ninja
	@cmake --build --preset release --target server_bundle

# Environments with these frameworks are made first (tests/real/make_environments.py); REAL=all for all of them.
REAL ?= jax-0.6.2 torch-2.9.1
real-environments:
	@tests/real/make_environments.py $(REAL)
clean-real:
	@rm -rf build/real
test-real: real-environments
	@$(MAKE) --no-print-directory build-tests
	@ctest --test-dir build/release -L '^real$$' --no-tests=error --output-on-failure

# Stores on other engines than DuckDB, and jobs of Ray and gunicorn: 300 MB each, downloaded.
spark-java:
	@"$${JAVA_HOME:+$$JAVA_HOME/bin/}java" -version >/dev/null 2>&1 || third_party/install_packages.sh spark
FLEET_TEST = python3 -B tests/fleet/fleet_test.py $(CURDIR)/$(HBMSCOPE) build/release/tests/fleet/make_fleet
FLEET_PROGRAM = build/release/tests/collector/annotated_program
test-spark: spark-java build-tests build/spark_python
	@HBMSCOPE_SPARK_PYTHON=$(CURDIR)/build/spark_python/bin/python $(FLEET_TEST) $(CURDIR)/build/spark_python/bin/python $(FLEET_PROGRAM) -k spark
test-ray: build-tests build/ray_python
	@HBMSCOPE_RAY_PYTHON=$(CURDIR)/build/ray_python/bin/python $(FLEET_TEST) $(CURDIR)/build/ray_python/bin/python $(FLEET_PROGRAM) -k ray
	@build/ray_python/bin/python -B tests/collector/launchers_test.py $(CURDIR)/$(HBMSCOPE) $(CURDIR)/build/release/tests/collector/emulated_driver

# Judges the bundle on this machine's GPU; CHECKS="torch_default attach" for some of it.
CHECKS ?= all
test-gpu: build bundle
	@tests/gpu/run.sh $(CHECKS)
test-attack: build-tests
	@ctest --test-dir build/release -L '^attack$$' --no-tests=error --output-on-failure
test-slow: build-tests
	@ctest --test-dir build/release -L '^slow$$' --no-tests=error --output-on-failure

BENCHMARKS = hbmscope benchmarks annotated_program pool_job pool_plugin_newer
bench: configure-tests
	@cmake --build --preset test --target $(BENCHMARKS)
	@tests/bench/run.sh build/release
	@build/release/tests/bench/trace_bench
	@build/release/tests/bench/allocator_bench
	@[ ! -x build/release/tests/bench/line_bench ] || build/release/tests/bench/line_bench build/release/tests/bench/libline_subject.so
	@tests/bench/pool_cost.py $(HBMSCOPE) build/release/tests/collector/pool_job \
	  build/release/tests/collector/pools/newer/xla_cuda_plugin.so
	@tests/bench/storms.py $(HBMSCOPE) build/release/tests/bench/storm_program build/release/tests/collector/emulated_driver \
	  build/release/tests/collector/fake_cupti
	@LIBGL_ALWAYS_SOFTWARE=1 build/release/tests/bench/window_bench build/release/tests/bench/scale.hbm

asan tsan:
	@third_party/install_packages.sh window tests
	@cmake --preset $@ $(CMAKE_FLAGS)
	@cmake --build --preset $@
	@ctest --preset $@

fuzzers:
	@third_party/install_packages.sh window tests fuzz
	@cmake --preset fuzz $(CMAKE_FLAGS)
	@$(TIMED) fuzzers cmake --build --preset fuzz --target fuzzers
fuzz: fuzzers
	@tests/fuzz/run.sh build/fuzz 600

# Dry runs beside published measurements on real GPUs.
prove: build
	@PYTHON=$${PYTHON:-build/real/torch-2.9.1/bin/python}; test -x "$$(command -v $$PYTHON)" || { echo "There is no $$PYTHON: make real-environments REAL=torch-2.9.1, or name a Python with PyTorch: make prove PYTHON=python3"; exit 1; }; \
	tests/prove/prove.py $(HBMSCOPE) $$PYTHON --page build/prove.md

# Sizes, keys, clicks and drags over files of all kinds, and live jobs that are killed; HBMSCOPE_DATA names more files.
MINUTES ?= 60
SEED ?= 1
fuzz-window: build
	@third_party/install_packages.sh desktop
	@tests/gui/fuzz_window.py $(HBMSCOPE) --minutes $(MINUTES) --seed $(SEED)

# What else the pages name, so that it builds and runs: CI makes this. The page needs Emscripten, which is not installed
# for this.
others: configure-tests fuzzers server
	@$(TIMED) benchmarks cmake --build --preset test --target $(BENCHMARKS)
	@tests/bench/smallest.sh build/release
	@tests/fuzz/run.sh build/fuzz 0
	@if command -v emcc >/dev/null; then $(MAKE) --no-print-directory web; else echo "There is no emcc: the page for browsers is not built."; fi

tidy:
	@third_party/install_packages.sh window tests style
	@cmake --preset tidy $(CMAKE_FLAGS) && cmake --build --preset tidy --target hbmscope_pprof_proto hlo_bench_proto
	@tests/house/tidy.sh build/tidy

format:
	@third_party/install_packages.sh style
	@git ls-files '*.h' '*.cpp' | xargs clang-format -i

samples: build
	@samples/make_profiles.py
	@samples/make_picture.py

clean:
	@rm -rf build

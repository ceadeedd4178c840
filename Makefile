# altpttop. `make help` lists the targets.
VERSION := 0.1.0
CC      ?= gcc
CXX     ?= g++
ifeq ($(origin CC),default)
CC      := gcc
endif
O       ?= build
CFLAGS  ?= -O2 -g
WERROR  ?= -Werror
PREFIX  ?= /usr/local
DATADIR ?= $(PREFIX)/share

# Cross building: make CC=aarch64-linux-gnu-gcc O=build-arm64 SYSROOT=/path/to/arm64-root
SYSROOT    ?=
PKG_CONFIG ?= pkg-config
ifneq ($(SYSROOT),)
TRIPLET    ?= $(shell $(CC) -dumpmachine)
PKG_CONFIG := PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(TRIPLET)/pkgconfig:$(SYSROOT)/usr/share/pkgconfig pkg-config
SYSROOT_FLAGS := --sysroot=$(SYSROOT)
AR         := $(TRIPLET)-ar
endif

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2
MODULES  := ncursesw libelf libdw libprotobuf-c yajl capstone inih
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(MODULES) 2>/dev/null)
LIBS := -lncursesw -ltinfo -ldw -lelf -lunwind-generic -lunwind -lpfm -lzstd -llzma -lprotobuf-c \
	-lyajl -lcapstone -linih -liberty -lz -lm -ldl
BASE_CFLAGS = -std=gnu17 -D_GNU_SOURCE -pthread $(SYSROOT_FLAGS) $(SANITIZE) $(CFLAGS)
ALL_CFLAGS  = $(BASE_CFLAGS) $(WARNINGS) $(WERROR) -DALTPTTOP_VERSION='"$(VERSION)"' \
	-DALTPTTOP_DATADIR='"$(DATADIR)/altpttop"' -Iinclude -Isrc -I. -I$(O)/gen $(PKG_CFLAGS)
ALL_LDFLAGS = $(SYSROOT_FLAGS) $(SANITIZE) $(LDFLAGS) -pthread

# A line a file; whole commands with V=1, nothing with -s.
QUIET = $(if $(V),,@$(if $(findstring s,$(firstword -$(MAKEFLAGS))),,echo '  $(1) $@'; ))

# What sets itself up from nothing builds on all CPUs, unless -j said how many.
ALL_CPUS = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null || echo 2))

BIN     := $(if $(filter build,$(O)),altpttop,$(O)/altpttop)
SOURCES := $(filter-out src/main.c src/agent/%,$(wildcard src/*/*.c ui/*.c ui/*/*.c))
PROTO   := $(wildcard src/codec/*.proto)
GEN_C   := $(PROTO:src/codec/%.proto=$(O)/gen/%.pb-c.c)
OBJECTS := $(SOURCES:%.c=$(O)/%.o) $(GEN_C:.c=.o)
SETS    := $(wildcard src/event/sets/*.set)

all: $(BIN)
$(BIN): $(O)/src/main.o $(O)/libaltpttop.a
	$(call QUIET,LD   )$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)
$(O)/libaltpttop.a: $(OBJECTS)
	$(call QUIET,AR   )rm -f $@ && $(AR) rcs $@ $^
$(O)/%.o: %.c $(O)/flags | $(GEN_C)
	@mkdir -p $(@D)
	$(call QUIET,CC   )$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# protoc-c's C; everything that is compiled may include its header.
$(O)/gen/%.pb-c.c: src/codec/%.proto
	@mkdir -p $(@D)
	$(call QUIET,PROTO)protoc-c --proto_path=src/codec --c_out=$(@D) $<
$(O)/gen/%.o: $(O)/gen/%.c $(O)/flags
	$(call QUIET,CC   )$(CC) $(BASE_CFLAGS) -I$(O)/gen -c -o $@ $<

# What is compiled with other flags (a sanitizer, a prefix) is compiled anew.
FLAGS_NOW := $(filter-out ccache,$(CC)) $(ALL_CFLAGS)
ifneq ($(file <$(O)/flags),$(FLAGS_NOW))
.PHONY: $(O)/flags
endif
$(O)/flags: export FLAGS_NOW := $(FLAGS_NOW)
$(O)/flags: | need
	@mkdir -p $(@D)
	@printf '%s\n' "$$FLAGS_NOW" >$@

# A missing package is a sentence, not a screenful of errors.
need:
	@SYSROOT='$(SYSROOT)' .ci/deps --verify build

# Tests. tests/unit/test_NAME.c and tests/screen/test_NAME.c are cmocka programs on the whole
# library; other .c files there are linked to every test of that directory.
UNIT   := $(patsubst %.c,$(O)/%,$(wildcard tests/unit/test_*.c))
SCREEN := $(patsubst %.c,$(O)/%,$(wildcard tests/screen/test_*.c))
UNIT_HELP   := $(patsubst %.c,$(O)/%.o,$(filter-out tests/unit/test_%,$(wildcard tests/unit/*.c)))
SCREEN_HELP := $(patsubst %.c,$(O)/%.o,$(filter-out tests/screen/test_%,$(wildcard tests/screen/*.c)))
PROGRAMS := $(patsubst %.c,$(O)/%,$(wildcard tests/programs/*.c)) \
	$(patsubst %.cc,$(O)/%,$(wildcard tests/programs/*.cc))
LIVE   := $(wildcard tests/live/test_*.sh)
LINT   := $(wildcard tests/lint/*.sh)
PMU    := $(wildcard tests/pmu/test_*.sh)
BENCH  := $(patsubst %.c,$(O)/%,$(wildcard tests/bench/*.c)) $(patsubst %/main.c,$(O)/%,$(wildcard tests/bench/*/main.c))
FUZZ   := $(patsubst %.c,$(O)/%,$(wildcard tests/fuzz/fuzz_*.c))

$(UNIT): $(O)/tests/unit/%: tests/unit/%.c $(UNIT_HELP) $(O)/libaltpttop.a
	@mkdir -p $(@D)
	$(call QUIET,CC   )$(CC) $(ALL_CFLAGS) -MMD -MP $(ALL_LDFLAGS) -o $@ $< $(UNIT_HELP) $(O)/libaltpttop.a -lcmocka $(LIBS)
$(SCREEN): $(O)/tests/screen/%: tests/screen/%.c $(SCREEN_HELP) $(O)/libaltpttop.a
	@mkdir -p $(@D)
	$(call QUIET,CC   )$(CC) $(ALL_CFLAGS) -MMD -MP $(ALL_LDFLAGS) -o $@ $< $(SCREEN_HELP) $(O)/libaltpttop.a -lcmocka $(LIBS)

# Targets to be profiled: each states its own flags in a line `/* flags: … */` (default: -O1 -g).
$(O)/tests/programs/%: tests/programs/%.c tests/programs/burn.h
	@mkdir -p $(@D)
	$(call QUIET,CC   )$(CC) $(SYSROOT_FLAGS) -std=gnu17 -D_GNU_SOURCE -pthread -Wall -Wextra $$(tests/programs/flags $<) -o $@ $<
$(O)/tests/programs/%: tests/programs/%.cc tests/programs/burn.h
	@mkdir -p $(@D)
	$(call QUIET,CXX  )$(CXX) $(SYSROOT_FLAGS) -std=gnu++17 -pthread -Wall -Wextra $$(tests/programs/flags $<) -o $@ $<

$(O)/tests/fuzz/%: tests/fuzz/%.c $(O)/libaltpttop.a
	@mkdir -p $(@D)
	$(call QUIET,CC   )$(CC) $(ALL_CFLAGS) $(FUZZ_LINK) -MMD -MP $(ALL_LDFLAGS) -o $@ $< $(O)/libaltpttop.a $(LIBS)

# The screens on a made-up profile, to look at: build/tests/screen/fake/fake_main [many] [metrics] …
FAKE_UI := $(O)/tests/screen/fake/fake_main
$(FAKE_UI): tests/screen/fake/fake_main.c $(filter-out %/script.o %/desk.o,$(SCREEN_HELP)) $(O)/libaltpttop.a
	@mkdir -p $(@D)
	$(call QUIET,CC   )$(CC) $(ALL_CFLAGS) -MMD -MP $(ALL_LDFLAGS) -o $@ $< $(filter-out %/script.o,$(SCREEN_HELP)) \
		$(O)/libaltpttop.a $(LIBS)
fake-ui: $(FAKE_UI)

# A bench is tests/bench/NAME.c, or all files of tests/bench/NAME/ with a main.c.
$(filter $(patsubst %.c,$(O)/%,$(wildcard tests/bench/*.c)),$(BENCH)): $(O)/%: %.c $(O)/libaltpttop.a
	@mkdir -p $(@D)
	$(call QUIET,CC   )$(CC) $(ALL_CFLAGS) -MMD -MP $(ALL_LDFLAGS) -o $@ $< $(O)/libaltpttop.a -lutil $(LIBS)
.SECONDEXPANSION:
$(patsubst %/main.c,$(O)/%,$(wildcard tests/bench/*/main.c)): $(O)/%: $$(wildcard %/*.c) $$(wildcard %/*.h) $(O)/libaltpttop.a
	@mkdir -p $(@D)
	$(call QUIET,CC   )$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $(filter %.c,$^) $(O)/libaltpttop.a -lunwind-ptrace $(LIBS)

programs: $(PROGRAMS)
bench-built: $(BENCH)
tests-built: $(UNIT) $(SCREEN)
unit: $(UNIT) $(SCREEN)
	@tests/run $^
check:
	@.ci/deps build check
	@$(MAKE) $(ALL_CPUS) --no-print-directory check-built
check-built: $(BIN) $(UNIT) $(SCREEN) $(PROGRAMS) $(O)/tests/bench/switching $(O)/tests/bench/firstnames
	@O=$(O) tests/run $(UNIT) $(SCREEN) $(LIVE)
live: $(BIN) $(PROGRAMS) $(O)/tests/bench/switching $(O)/tests/bench/firstnames
	@O=$(O) tests/run $(LIVE)

asan:
	@$(MAKE) --no-print-directory O=build-asan SANITIZE=-fsanitize=address,undefined \
		CFLAGS="-O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=undefined" asan-built
# A crowd of 2,000 threads is beyond what the address sanitizer has room for: test_perf is left out.
asan-built: $(UNIT) $(SCREEN) $(BIN) $(PROGRAMS)
	@O=$(O) TEST_SECONDS=600 tests/run $(filter-out %/test_perf,$(UNIT)) $(SCREEN) tests/live/sanitized.sh
# Only what shares memory between threads is slow enough to be worth it. The live samplers' own tests
# count threads and measure time, which the sanitizer's own thread in every process changes: the whole
# program runs on a live target instead.
TSAN := $(filter-out %_bed %test_perf %test_timer %test_tasks,$(patsubst %.c,$(O)/%,\
	$(shell grep -lE 'pthread_create|engine_bed|engine_new|resolver_start|counting_text' tests/unit/test_*.c)))
tsan:
	@$(MAKE) --no-print-directory O=build-tsan SANITIZE=-fsanitize=thread CFLAGS="-O1 -g" tsan-built
tsan-built: $(TSAN) $(BIN) $(PROGRAMS)
	@O=$(O) TEST_SECONDS=600 tests/run $(TSAN) tests/live/sanitized.sh
lint:
	@.ci/deps build check
	@CC="$(CC)" CXX="$(CXX)" TEST_SECONDS=1500 tests/run $(LINT)
# Another architecture, from this one: libraries in build-arm64/sysroot, program in build-arm64.
arm64:
	@.ci/deps build cross
	@.ci/sysroot arm64 build-arm64/sysroot
	@$(MAKE) --no-print-directory CC="$(filter ccache,$(CC)) aarch64-linux-gnu-gcc" O=build-arm64 \
		SYSROOT=$(CURDIR)/build-arm64/sysroot all tests-built
FUZZ_SECONDS ?= 20
fuzz:
	@.ci/deps build check
	@$(MAKE) --no-print-directory O=build-fuzz CC="$(filter ccache,$(CC)) clang" \
		SANITIZE=-fsanitize=fuzzer-no-link,address,undefined FUZZ_LINK=-fsanitize=fuzzer \
		CFLAGS="-O1 -g" FUZZ_SECONDS=$(FUZZ_SECONDS) fuzz-built
fuzz-built: $(FUZZ)
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tests/run $(FUZZ:%=fuzz:%)
pmu-check:
	@O=$(O) TEST_SECONDS=900 tests/run $(PMU)
bench:
	@.ci/deps build check
	@$(MAKE) --no-print-directory $(BIN) programs bench-built
	@O=$(O) tests/bench/run
	@O=$(O) CC="$(CC)" tests/bench/symbols
	@O=$(O) tests/bench/symbol_forms
	@O=$(O) tests/bench/compiler
	@O=$(O) tests/bench/recordings
	@$(O)/tests/bench/fold

deps:
	@.ci/deps build check
demo:
	@.ci/deps build
	@$(MAKE) $(ALL_CPUS) --no-print-directory $(BIN)
	./$(BIN) --demo

install: $(BIN)
	install -D -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/altpttop
	install -D -m 644 altpttop.1 $(DESTDIR)$(DATADIR)/man/man1/altpttop.1
	install -D -m 644 completions/altpttop.bash $(DESTDIR)$(DATADIR)/bash-completion/completions/altpttop
	install -D -m 644 completions/_altpttop $(DESTDIR)$(DATADIR)/zsh/site-functions/_altpttop
	$(if $(SETS),install -d $(DESTDIR)$(DATADIR)/altpttop/events)
	$(if $(SETS),install -m 644 $(SETS) $(DESTDIR)$(DATADIR)/altpttop/events)
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/altpttop $(DESTDIR)$(DATADIR)/man/man1/altpttop.1 \
		$(DESTDIR)$(DATADIR)/bash-completion/completions/altpttop \
		$(DESTDIR)$(DATADIR)/zsh/site-functions/_altpttop
	rm -rf $(DESTDIR)$(DATADIR)/altpttop
clean:
	rm -rf build build-* altpttop

help:
	@echo 'make            build ./altpttop (it runs uninstalled); V=1 shows the commands'
	@echo 'make deps       install the packages needed to build and test (apt, as root)'
	@echo 'make demo       install, build, and watch a bundled workload'
	@echo 'make check      install, build, and run all tests'
	@echo 'make unit       unit and screen tests only;  make live: live and terminal tests only'
	@echo 'make asan tsan  unit and screen tests under the sanitizers'
	@echo 'make lint       format, layers, headers, warnings of gcc and clang, clang-tidy'
	@echo 'make arm64      build for aarch64 from another machine, in build-arm64'
	@echo 'make fuzz       every importer and codec, FUZZ_SECONDS=20 each'
	@echo 'make pmu-check  tests that need hardware counters'
	@echo 'make bench      figures beside perf on this machine'
	@echo 'make install    PREFIX=/usr/local DESTDIR=;  make uninstall; make clean'
	@echo 'variables       CC CXX CFLAGS LDFLAGS WERROR O (build directory) SANITIZE SYSROOT'

.PHONY: all need programs bench-built tests-built unit check check-built live asan asan-built tsan tsan-built arm64 lint fuzz fuzz-built pmu-check bench
.PHONY: deps demo install uninstall clean help fake-ui
.SECONDARY:
-include $(OBJECTS:.o=.d) $(UNIT_HELP:.o=.d) $(SCREEN_HELP:.o=.d) $(O)/src/main.d $(UNIT:=.d) $(SCREEN:=.d) $(FUZZ:=.d)

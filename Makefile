# altpttop. `make help` lists the targets.
CC ?= gcc
VERSION := 0.1.0
O ?= build
CFLAGS ?= -O2 -g
PACKAGES := ncursesw libelf libdw libunwind-generic libunwind-ptrace zlib libzstd liblzma libprotobuf-c yajl capstone inih
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2
WERROR ?= -Werror
ALL_CFLAGS = -std=gnu17 -D_GNU_SOURCE -pthread $(WARNINGS) $(WERROR) $(CFLAGS) -DALTPTTOP_VERSION='"$(VERSION)"' \
	-Iinclude -Isrc -I$(O)/gen $(SANITIZE) $(PKG_CFLAGS)
PKG_CFLAGS := $(shell pkg-config --cflags ncursesw libelf libdw libprotobuf-c yajl capstone inih 2>/dev/null)
LIBS := -lncursesw -ltinfo -ldw -lelf -lunwind-generic -lunwind -lpfm -lzstd -llzma -lprotobuf-c -lyajl -lcapstone -linih -liberty -lz -lm -ldl

SOURCES := $(filter-out src/main.c src/agent/%,$(wildcard src/*/*.c ui/*.c ui/*/*.c))
GENERATED := $(O)/gen/profile.pb-c
OBJECTS := $(SOURCES:%.c=$(O)/%.o) $(GENERATED).o

all: altpttop
altpttop: $(O)/src/main.o $(O)/libaltpttop.a
	$(CC) $(SANITIZE) $(LDFLAGS) -pthread -o $@ $^ $(LIBS)
$(O)/libaltpttop.a: $(OBJECTS)
	rm -f $@ && ar rcs $@ $^
$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# protoc-c's C for src/codec/profile.proto; everything that is compiled may include its header.
$(GENERATED).c: src/codec/profile.proto
	@mkdir -p $(@D)
	protoc-c --proto_path=src/codec --c_out=$(@D) $<
$(GENERATED).h: $(GENERATED).c ;
$(GENERATED).o: $(GENERATED).c
	$(CC) -std=gnu17 -I$(O)/gen $(SANITIZE) $(CFLAGS) -c -o $@ $<
$(SOURCES:%.c=$(O)/%.o): | $(GENERATED).h

# Unit tests: tests/unit/test_NAME.c is one cmocka program on the whole library.
UNIT := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(wildcard tests/unit/test_*.c))
$(O)/tests/unit/%: tests/unit/%.c $(O)/libaltpttop.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP $(LDFLAGS) -o $@ $< $(O)/libaltpttop.a -lcmocka $(LIBS)
unit: $(UNIT)
	@for t in $(UNIT); do $$t || exit 1; done
clean:
	rm -rf $(O) altpttop
.PHONY: all unit clean
-include $(OBJECTS:.o=.d) $(O)/src/main.d $(UNIT:=.d)

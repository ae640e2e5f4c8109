# gv: the whole build.  "make help" lists the targets.
#
# Everything is found by where it lies: a folder in cmd/ is a program, a folder
# in common/ a module of the library, a file in tests/unit/ a test.  A new
# program needs one line here: what it links (LIBS_).

include config.mk

VERSION  := $(shell cat VERSION)
BUILD    := build
BIN      := bin
DIST     := dist
STD      := c17
PROGRAMS := $(notdir $(wildcard cmd/*))

comma := ,
# a text as one word of the shell, and inside a string of C
quoted = '$(subst ','\'',$(1))'
c_string = $(subst ",\",$(subst \,\\,$(1)))

# ---- flavours: make SAN=1 (address, undefined, leak), SAN=thread ----
ifdef SAN
ifeq ($(SAN),thread)
SANFLAGS := -fsanitize=thread -fno-omit-frame-pointer
else
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
endif
BUILD  := build/san-$(SAN)
BIN    := $(BUILD)/bin
endif

# A folder whose name has spaces is reached through a link without.
no_space = $(if $(word 2,$(1)),$(shell sh tests/link.sh $(call quoted,$(1))),$(1))
override BUILD := $(call no_space,$(BUILD))
override BIN   := $(call no_space,$(BIN))

# ---- hardening (config.mk), as far as the compiler has it ----
ifneq ($(HARDEN),)
HARDENING := $(shell sh tests/harden.sh $(call quoted,$(BUILD)) $(call quoted,$(CC)) \
	$(call quoted,$(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(SANFLAGS)))
endif
HARDEN_LDFLAGS := $(filter -pie -Wl$(comma)%,$(HARDENING))
HARDEN_CFLAGS  := $(filter-out -pie -Wl$(comma)%,$(HARDENING))

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wwrite-strings -Wvla -Wundef -Wcast-qual -Wformat=2 -Wpointer-arith
ifdef WERROR
WARN += -Werror
endif
GV_CPPFLAGS = -D_POSIX_C_SOURCE=200809L -DGV_VERSION='"$(VERSION)"' \
	-Icommon -Icmd $(CPPFLAGS)
# -ffp-contract=off: the same digits from every compiler
GV_CFLAGS = -std=$(STD) $(HARDEN_CFLAGS) $(CFLAGS) $(WARN) -ffp-contract=off \
	-ffile-prefix-map=$(call quoted,$(CURDIR))=. -pthread $(SANFLAGS)
GV_LDFLAGS = $(HARDEN_LDFLAGS) $(LDFLAGS) -pthread $(SANFLAGS) -Wl,--as-needed

# ---- what each program links beside libgv.a ----
# GLPK is GPL-3+, CUDA's runtime is proprietary: no program may link both.
LIBS_ALL         := -lcsv -lz -lm -ldl
# Archives beside libgv.a: the solvers bring GLPK, so they stand alone.
ALLOC            := $(BUILD)/libgv-alloc.a
ARCHIVES_gv-alloc := $(ALLOC)
LIBS_gv-alloc    := -lglpk -lgmp
ARCHIVES_gv-sim  := $(ALLOC)
LIBS_gv-sim      := -lglpk -lgmp
ARCHIVES_gv-tree := $(ALLOC)
LIBS_gv-tree     := -lglpk -lgmp
LIBS_unit        := -lglpk -lgmp

# ---- sources ----
LIB_ALL  := $(sort $(wildcard common/*/*.c common/*/*/*.c))
ALLOC_SRC := $(filter common/alloc/% common/lp/%,$(LIB_ALL))
ALLOC_OBJ := $(ALLOC_SRC:%.c=$(BUILD)/obj/%.o)
LIB_SRC  := $(filter-out $(ALLOC_SRC),$(LIB_ALL))
LIB_OBJ  := $(LIB_SRC:%.c=$(BUILD)/obj/%.o)
# the trainer's core a second time, in double, for gradient checks
NN64_OBJ := $(patsubst %.c,$(BUILD)/obj64/%.o,$(filter common/nn/%,$(LIB_SRC)))
CMD_SRC  := $(sort $(wildcard cmd/*/*.c cmd/*/*/*.c))
CMD_OBJ  := $(CMD_SRC:%.c=$(BUILD)/obj/%.o)
UNITS    := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(sort $(wildcard tests/unit/*.c)))
FUZZERS  := $(patsubst tests/fuzz/%.c,%,$(filter-out tests/fuzz/replay.c,$(sort $(wildcard tests/fuzz/*.c))))
REPLAYS  := $(FUZZERS:%=$(BUILD)/fuzz/%)
HELPERS  := $(patsubst tests/helpers/%.c,$(BUILD)/helpers/%,$(sort $(wildcard tests/helpers/*.c)))
PRELOADS := $(patsubst tests/preload/%.c,$(BUILD)/preload/%.so,$(sort $(wildcard tests/preload/*.c)))
BENCHES  := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(sort $(wildcard tests/bench/*.c)))
OUT      := $(PROGRAMS:%=$(BIN)/%)

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all help deps deps-test check check-long bench lint install install-files uninstall dist \
	demo reproduce clean tests fuzz mutate format kernels kernels-coverage cuda plugin check-gpu bench-gpu FORCE

all: $(OUT) plugin

# ---- rules; a line for each file made, the whole command with V=1 ----
ifdef V
Q :=
else ifneq ($(findstring s,$(firstword -$(MAKEFLAGS))),)
Q := @
else
Q = @echo "  make  $@";
endif

# PLUGIN, where there is nvcc; CUDA_FAKE, CUDA_TESTED
include gpu/cuda/rules.mk

$(BUILD)/deps.ok:
	@sh tests/deps.sh probe $(BUILD)

# Files that hold what was compiled with, rewritten when that changes, so that
# other flags, and another PREFIX, compile again what depends on them.
define remember
	@mkdir -p $(@D)
	@printf '%s\n' $(call quoted,$(1)) | cmp -s - $@ || printf '%s\n' $(call quoted,$(1)) >$@
endef
$(BUILD)/flags: FORCE
	$(call remember,$(CC) $(STD) $(HARDENING) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(SANFLAGS) $(VERSION))
$(BUILD)/datadir: FORCE
	$(call remember,$(datadir) $(libdir))

$(BUILD)/obj/common/base/datadir.o: GV_CPPFLAGS += -DGV_DATADIR=$(call quoted,"$(call c_string,$(datadir))") \
	-DGV_LIBDIR=$(call quoted,"$(call c_string,$(libdir))")
$(BUILD)/obj/common/base/datadir.o: $(BUILD)/datadir

$(BUILD)/obj/%.o: %.c $(BUILD)/flags | $(BUILD)/deps.ok
	@mkdir -p $(@D)
	$(Q)$(CC) $(GV_CPPFLAGS) $(GV_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/obj64/%.o: %.c $(BUILD)/flags | $(BUILD)/deps.ok
	@mkdir -p $(@D)
	$(Q)$(CC) $(GV_CPPFLAGS) -DGV_REAL_DOUBLE $(GV_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/libgv.a: $(LIB_OBJ)
	@rm -f $@
	$(Q)$(AR) rcD $@ $^

$(ALLOC): $(ALLOC_OBJ)
	@rm -f $@
	$(Q)$(AR) rcD $@ $^

$(BUILD)/libgv64.a: $(NN64_OBJ)
	@rm -f $@
	$(Q)$(AR) rcD $@ $^

# cmd/PROG/*.c, those of its rooms and the library make PROG
define program
$(BIN)/$(1): $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard cmd/$(1)/*.c cmd/$(1)/*/*.c))) \
		$(ARCHIVES_$(1)) $(BUILD)/libgv.a
	@mkdir -p $(BIN)
	$$(Q)$$(CC) $$(GV_LDFLAGS) -o $$@ $$^ $$(LIBS_$(1)) $$(LIBS_ALL)
endef
$(foreach p,$(PROGRAMS),$(eval $(call program,$(p))))

# tests/unit/NAME.c; PROG.NAME.c also sees the parts of PROG but its main;
# NAME_f64.c is linked with the double build of common/nn
parts = $(foreach p,$(filter $(PROGRAMS),$(firstword $(subst ., ,$(1)))),$(patsubst \
	%.c,$(BUILD)/obj/%.o,$(filter-out cmd/$(p)/$(p).c,$(sort $(wildcard cmd/$(p)/*.c cmd/$(p)/*/*.c)))))
define unit
$(BUILD)/unit/$(1): tests/unit/$(1).c $(call parts,$(1)) $(if $(filter cuda_%,$(1)),$(CUDA_TESTED)) \
	$(if $(filter %_f64,$(1)),$(BUILD)/libgv64.a) $(ALLOC) $(BUILD)/libgv.a
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(GV_CPPFLAGS) $(if $(filter %_f64,$(1)),-DGV_REAL_DOUBLE) -Itests/unit -Icmd \
		$(if $(filter cuda_%,$(1)),-Igpu -Itests/cuda) \
		$$(GV_CFLAGS) $$(GV_LDFLAGS) -MMD -MP -MF $$@.d -o $$@ tests/unit/$(1).c $$(filter %.o %.a,$$^) \
		$$(LIBS_unit) $$(LIBS_ALL)
endef
$(foreach u,$(UNITS),$(eval $(call unit,$(notdir $(u)))))

# tests/fuzz/NAME.c has LLVMFuzzerTestOneInput; here it replays its corpus; as in
# tests/unit, PROG.NAME.c also sees the parts of PROG
define fuzzer
$(BUILD)/fuzz/$(1): tests/fuzz/$(1).c tests/fuzz/replay.c $(call parts,$(1)) $(ALLOC) $(BUILD)/libgv.a
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(GV_CPPFLAGS) -Icmd $$(GV_CFLAGS) $$(GV_LDFLAGS) -o $$@ $$^ $$(LIBS_unit) \
		$$(LIBS_ALL)
endef
$(foreach f,$(FUZZERS),$(eval $(call fuzzer,$(f))))

# each archive linked as a whole, with those that it stands on: no name is there
# twice, and none is missing that its libraries do not have
WHOLE := $(BUILD)/whole/libgv $(BUILD)/whole/libgv-alloc
$(BUILD)/whole/libgv: $(BUILD)/libgv.a
$(BUILD)/whole/libgv-alloc: $(ALLOC) $(BUILD)/libgv.a
$(WHOLE):
	@mkdir -p $(@D)
	$(Q)echo 'int main(void) { return 0; }' | $(CC) $(GV_CFLAGS) $(GV_LDFLAGS) -o $@ -x c - -x none \
		-Wl,--whole-archive $^ -Wl,--no-whole-archive $(LIBS_$(patsubst lib%,%,$(@F))) $(LIBS_ALL)

include tests/kernels/rules.mk

# programs that only tests run: workers, benchmarks
$(BUILD)/helpers/%: tests/helpers/%.c $(BUILD)/libgv.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(GV_CPPFLAGS) $(GV_CFLAGS) $(GV_LDFLAGS) -o $@ $^ $(LIBS_ALL)

# as in tests/unit, PROG.NAME.c also sees the parts of PROG
define bench
$(BUILD)/bench/$(1): tests/bench/$(1).c $(call parts,$(1)) $(ALLOC) $(BUILD)/libgv.a
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(GV_CPPFLAGS) $$(GV_CFLAGS) $$(GV_LDFLAGS) -o $$@ $$^ $$(LIBS_unit) $$(LIBS_ALL)
endef
$(foreach b,$(BENCHES),$(eval $(call bench,$(notdir $(b)))))

# libraries to preload: the fault injector, a fake NVML
$(BUILD)/preload/%.so: tests/preload/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c17 -D_GNU_SOURCE -O2 -g $(WARN) -shared -fPIC -o $@ $< -ldl

-include $(LIB_OBJ:.o=.d) $(ALLOC_OBJ:.o=.d) $(CMD_OBJ:.o=.d) $(NN64_OBJ:.o=.d) $(UNITS:=.d)

# ---- targets ----
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## */\1\t/p' Makefile | expand -t 14

deps: ## install what is missing to build and test (apt-get; without root says how)
	@sh tests/deps.sh install $(BUILD)

tests: $(OUT) $(UNITS) $(KERNEL_TESTS) $(CUDA_FAKE) $(REPLAYS) $(HELPERS) $(PRELOADS) $(WHOLE)

deps-test: ## the same, and what only some tests need: Slurm
	@sh tests/deps.sh long $(BUILD)
# deps first and alone, then everything in parallel
check: deps ## build and run the tests
	@$(MAKE) --no-print-directory -j$$(nproc 2>/dev/null || echo 2) tests
	@GV_SAN='$(SAN)' sh tests/check.sh $(BUILD) $(BIN)

check-long: deps ## the long tests: faults, kill, valgrind, sanitizers, fuzzing
	@$(MAKE) --no-print-directory -j$$(nproc 2>/dev/null || echo 2) tests
	@sh tests/long.sh

bench: deps ## measure; prints ratios
	@$(MAKE) --no-print-directory -j$$(nproc 2>/dev/null || echo 2) $(OUT) $(BENCHES)
	@sh tests/bench.sh $(BUILD) $(BIN)

check-gpu: all ## operators and nets on a GPU against the CPU; skips without one
	@GV_BIN=$$(cd $(BIN) && pwd) GV_BUILD=$$(cd $(BUILD) && pwd) PART=$(call quoted,$(PART)) sh tests/gpu/check.sh

bench-gpu: all ## measure on a GPU, beside PyTorch and JAX where they are (GV_PYTHON)
	@GV_BIN=$$(cd $(BIN) && pwd) GV_BUILD=$$(cd $(BUILD) && pwd) PART=$(call quoted,$(PART)) sh tests/gpu/bench.sh

demo: deps ## train real jobs on this machine through the whole pipe
	@$(MAKE) --no-print-directory -j$$(nproc 2>/dev/null || echo 2) all
	@GV_BIN=$$(cd $(BIN) && pwd) sh examples/demo/demo.sh

reproduce: all ## simulate Gavel's evaluation; DATA is the folder with its tables
	@GV_BIN=$$(cd $(BIN) && pwd) sh examples/gavel/reproduce.sh $(call quoted,$(or $(DATA),../shared/data/gavel))

lint: ## compilers' warnings, static analysers, manual pages, shell
	@sh tests/lint.sh

fuzz: ## fuzz every target for FUZZ_S seconds (default 60), with clang
	@sh tests/fuzz.sh

mutate: ## plant small changes in the cores, list those that no test notices
	@sh tests/mutate.sh

format: ## clang-format over the C sources
	git ls-files '*.c' '*.h' | xargs clang-format -i

# ---- installation: one list, so that uninstall removes exactly what install put there ----
MAN1    := $(sort $(wildcard man/*.1))
MAN5    := $(sort $(wildcard man/*.5))
MAN7    := $(sort $(wildcard man/*.7))
BASHC   := $(sort $(wildcard share/bash-completion/*))
ZSHC    := $(sort $(wildcard share/zsh/_*))
DATA    := $(patsubst share/%,%,$(sort $(shell find share -type f \
	! -path 'share/bash-completion/*' ! -path 'share/zsh/*' ! -name '*.pyc' 2>/dev/null)))
DOCS    := README.md NEWS LICENSE
EXAMPLES := $(sort $(shell find examples -type f 2>/dev/null))

install: all install-files ## install below PREFIX (and DESTDIR)

# where a directory is when installed; the folders that files are in, innermost first
to = $(call quoted,$(DESTDIR)$(1))
folders = $$(printf '%s\n' $(1) | awk -F/ '{ p = $$1; for (i = 2; i <= NF; i++) { print p; p = p "/" $$i } }' | sort -ru)

install-files: # what is built, without building
	install -d $(foreach d,bindir bashdir zshdir datadir docdir,$(call to,$($(d)))) \
		$(foreach n,1 5 7,$(call to,$(mandir)/man$(n)))
	install -m 755 $(OUT) $(call to,$(bindir))
	if [ -f $(BUILD)/plugin/gv-cuda.so ]; then \
		install -D -m 755 $(BUILD)/plugin/gv-cuda.so $(call to,$(libdir)/gv)/gv-cuda.so; fi
	$(if $(MAN1),install -m 644 $(MAN1) $(call to,$(mandir)/man1))
	$(if $(MAN5),install -m 644 $(MAN5) $(call to,$(mandir)/man5))
	$(if $(MAN7),install -m 644 $(MAN7) $(call to,$(mandir)/man7))
	$(if $(BASHC),install -m 644 $(BASHC) $(call to,$(bashdir)))
	$(if $(ZSHC),install -m 644 $(ZSHC) $(call to,$(zshdir)))
	install -m 644 $(DOCS) $(call to,$(docdir))
	for f in $(DATA); do install -D -m 644 share/$$f $(call to,$(datadir))/$$f || exit 1; done
	for f in $(EXAMPLES); do \
		install -D -m $$(test -x $$f && echo 755 || echo 644) $$f $(call to,$(docdir))/$$f || exit 1; \
	done

# Folders of others stay, and those of ours in which somebody keeps something.
remove = if cd $(call to,$(1)) 2>/dev/null; then rm -f $(2); fi
remove_whole = if cd $(call to,$(1)) 2>/dev/null; then rm -f $(2); \
	rmdir $(call folders,$(2)) "$$PWD" 2>/dev/null || true; fi

uninstall: ## remove what install put there
	$(call remove,$(bindir),$(PROGRAMS))
	$(call remove_whole,$(libdir)/gv,gv-cuda.so)
	$(call remove,$(mandir)/man1,$(notdir $(MAN1)))
	$(call remove,$(mandir)/man5,$(notdir $(MAN5)))
	$(call remove,$(mandir)/man7,$(notdir $(MAN7)))
	$(call remove,$(bashdir),$(notdir $(BASHC)))
	$(call remove,$(zshdir),$(notdir $(ZSHC)))
	$(call remove_whole,$(datadir),$(DATA))
	$(call remove_whole,$(docdir),$(DOCS) $(EXAMPLES))

dist: ## a reproducible archive of the committed tree
	@mkdir -p $(DIST)
	git archive --format=tar --prefix=gv-$(VERSION)/ HEAD | gzip -9n > $(DIST)/gv-$(VERSION).tar.gz

clean: ## remove what was built
	rm -rf build bin $(DIST)

# Kernels of GPUs on the CPU: gpu/cuda/kernels/*.cu as C++, with their launches and the
# emulator under the address sanitizer, whatever the rest is built with.  tests/kernels/NAME.c
# becomes build/unit/kernels_NAME.  COVERAGE=1: counts of lines for tests/kernels.t.
KERNEL_SRC   := $(sort $(wildcard gpu/cuda/kernels/*.cu))
KERNEL_DIR   := $(BUILD)/kernels$(if $(COVERAGE),-coverage)
KERNEL_OBJ   := $(KERNEL_SRC:gpu/cuda/kernels/%.cu=$(KERNEL_DIR)/%.o) \
	$(patsubst %.c,$(KERNEL_DIR)/%.o,$(notdir $(wildcard gpu/cuda/launch*.c)) emulator.c)
KERNEL_NAMES := $(patsubst tests/kernels/%.c,kernels_%,$(sort $(wildcard tests/kernels/*.c)))
# the thread sanitizer knows nothing of stacks that are changed
KERNEL_TESTS := $(if $(filter thread,$(SAN)),,$(if $(shell command -v $(firstword $(CXX))),$(KERNEL_NAMES:%=$(BUILD)/unit/%)))
KERNEL_CPP   := -D_GNU_SOURCE -Icommon -Igpu -Itests/unit -Itests/cuda -Itests/kernels
KERNEL_FLAGS  = -g $(if $(COVERAGE),-O0 --coverage,-O2) -ffp-contract=off -MMD -MP \
	$$(cat $(KERNEL_DIR)/sanitizer)

# the sanitizer, where the compiler has it and no other is asked for
$(KERNEL_DIR)/sanitizer: $(BUILD)/flags
	@mkdir -p $(@D)
	@echo 'int main() { return 0; }' >$@.cc
	@if [ -n '$(SANFLAGS)' ]; then echo '$(SANFLAGS)'; elif [ -n '$(COVERAGE)' ]; then :; \
	elif $(CXX) -fsanitize=address -o $@.out $@.cc 2>/dev/null; then echo -fsanitize=address; fi >$@

$(KERNEL_DIR)/%.o: gpu/cuda/kernels/%.cu $(KERNEL_DIR)/sanitizer
	$(Q)$(CXX) -x c++ -std=c++17 -Wall -Wextra -Wno-unused-function $(if $(WERROR),-Werror) \
		$(KERNEL_CPP) $(KERNEL_FLAGS) -c -o $@ $<
$(KERNEL_DIR)/%.o: gpu/cuda/%.c $(KERNEL_DIR)/sanitizer
	$(Q)$(CC) -std=$(STD) $(WARN) $(KERNEL_CPP) $(KERNEL_FLAGS) -c -o $@ $<
$(KERNEL_DIR)/%.o: tests/cuda/%.c $(KERNEL_DIR)/sanitizer
	$(Q)$(CC) -std=$(STD) $(WARN) $(KERNEL_CPP) $(KERNEL_FLAGS) -c -o $@ $<
$(KERNEL_DIR)/test_%.o: tests/kernels/%.c $(KERNEL_DIR)/sanitizer
	$(Q)$(CC) -std=$(STD) $(WARN) $(KERNEL_CPP) $(KERNEL_FLAGS) -c -o $@ $<
$(KERNEL_DIR)/kernels_%: $(KERNEL_DIR)/test_%.o $(KERNEL_OBJ) $(BUILD)/libgv.a
	$(Q)$(CXX) $$(cat $(KERNEL_DIR)/sanitizer) $(if $(COVERAGE),--coverage) -pthread -o $@ $^ $(LIBS_ALL)
$(BUILD)/unit/kernels_%: $(KERNEL_DIR)/kernels_%
	@mkdir -p $(@D)
	@cp $< $@

kernels: $(KERNEL_TESTS) ## tests of the GPU's kernels alone

kernels-coverage: ## lines of the GPU's kernels that tests run
	@$(MAKE) --no-print-directory COVERAGE=1 $(KERNEL_NAMES:%=$(BUILD)/kernels-coverage/%)
	@sh tests/kernels/coverage.sh $(BUILD)/kernels-coverage

-include $(wildcard $(KERNEL_DIR)/*.d)

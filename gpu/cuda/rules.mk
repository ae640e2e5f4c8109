# gv-cuda.so: the backend that programs open for GPUs.  It links nothing of CUDA; nvcc
# makes the kernels that are inside.  Without nvcc, and with CUDA=0, it is left out.
ifneq ($(CUDA),0)
NVCC := $(or $(shell command -v nvcc 2>/dev/null),$(wildcard /usr/local/cuda/bin/nvcc))
endif
PLUGIN   := $(if $(NVCC),$(BUILD)/plugin/gv-cuda.so)
CUDA_SRC := $(filter-out gpu/cuda/image.c,$(sort $(wildcard gpu/cuda/*.c)))
CUDA_KERNELS := $(sort $(wildcard gpu/cuda/kernels/*.cu))
# a plug-in has what it needs of the library itself
CUDA_OBJ := $(patsubst %.c,$(BUILD)/pic/%.o,$(CUDA_SRC) \
	$(addprefix common/base/,err.c mem.c utf8.c clock.c stderr.c nowait.c) common/nn/ops.c)
# which its link makes sure of; a sanitizer's own symbols come with the program
DEFINED := $(if $(SANFLAGS),,-Wl,-z,defs)

# Tests run the same over a fake driver and emulated kernels: in unit tests cuda_*, and
# as libraries that programs open: build/fake/
CUDA_FAKE_OBJ := $(CUDA_KERNELS:%.cu=$(BUILD)/pic/%.o) $(patsubst %.c,$(BUILD)/pic/%.o, \
	$(sort $(wildcard tests/cuda/*.c)))
CUDA_TESTED := $(BUILD)/libgv-cuda.a
CUDA_FAKE   := $(addprefix $(BUILD)/fake/,gv-cuda.so libcuda.so.1 libcublas.so.13 libnccl.so.2)
ifeq ($(shell command -v $(lastword $(CXX))),)
CUDA_FAKE :=
UNITS := $(filter-out $(BUILD)/unit/cuda_%,$(UNITS))
endif

# Lists of launches are compared byte by byte, holes of parameters too: none holds garbage.
NO_HOLES := $(shell echo 'int x;' | $(CC) -ftrivial-auto-var-init=zero -x c -c -o /dev/null - 2>/dev/null && \
	echo -ftrivial-auto-var-init=zero)
$(BUILD)/pic/gpu/cuda/%.o: CFLAGS += $(NO_HOLES)
$(BUILD)/pic/%: CUDA_CPP = -Igpu -Icommon -Itests/cuda -I. -Igpu/cuda/kernels
$(BUILD)/pic/%: CUDA_VISIBILITY = -fvisibility=hidden
$(BUILD)/pic/tests/%: CUDA_VISIBILITY = -D_GNU_SOURCE -Wno-unused-variable
$(BUILD)/pic/%.o: %.c $(BUILD)/flags | $(BUILD)/deps.ok
	@mkdir -p $(@D)
	$(Q)$(CC) $(GV_CPPFLAGS) $(CUDA_CPP) $(filter-out -fPIE -fpie,$(GV_CFLAGS)) -fPIC \
		$(CUDA_VISIBILITY) -MMD -MP -c -o $@ $<
$(BUILD)/pic/%.o: %.cu $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(CXX) -x c++ -std=c++17 -O2 -g -Wall -Wextra -Wno-unused-function $(if $(WERROR),-Werror) \
		-ffp-contract=off -fno-exceptions -fno-rtti -fPIC $(SANFLAGS) $(CUDA_CPP) -MMD -MP -c -o $@ $<

# all kernels in one go, each file in a name space of its own: nvcc takes as long for one
$(BUILD)/cuda/kernels.fatbin: $(CUDA_KERNELS) $(wildcard gpu/cuda/*.h gpu/cuda/kernels/*.h)
	@mkdir -p $(@D)
	@{ printf '#include "%s"\n' $(wildcard gpu/cuda/kernels/*.h); for f in $(CUDA_KERNELS); do \
		printf 'namespace k_%s {\n#include "%s"\n}\n' "$$(basename $$f .cu)" $$f; done; } >$(@D)/kernels.cu
	$(Q)$(NVCC) -fatbin -O3 -fmad=false -std=c++17 $(CUDA_CPP) --threads 0 \
		$(foreach a,$(CUDA_ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) \
		-gencode arch=compute_$(lastword $(CUDA_ARCHS)),code=compute_$(lastword $(CUDA_ARCHS)) \
		-o $@ $(@D)/kernels.cu
$(BUILD)/cuda/%: CUDA_CPP = -Igpu -Icommon -I. -Igpu/cuda/kernels
# as cuDriverGetVersion counts: 13.0 is 13000
CUDA_BUILT = $(shell $(lastword $(NVCC)) --version | sed -n 's/.*release \([0-9]*\)\.\([0-9]*\).*/\1 \2/p' | \
	awk '{ print $$1 * 1000 + $$2 * 10 }')
$(BUILD)/cuda/image.o: gpu/cuda/image.c $(BUILD)/cuda/kernels.fatbin
	$(Q)$(CC) $(GV_CPPFLAGS) $(CUDA_CPP) -fPIC -c -o $@ $< -DGV_CUDA_BUILT=$(or $(CUDA_BUILT),0) \
		-DGV_CUDA_IMAGE=$(call quoted,"$(call c_string,$(BUILD)/cuda/kernels.fatbin)")
$(BUILD)/fake/image.o: gpu/cuda/image.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(GV_CPPFLAGS) -Igpu -Icommon -fPIC -fvisibility=hidden -DGV_CUDA_BUILT=13000 -c -o $@ $<

define shared
	@mkdir -p $(@D)
	$(Q)$(CC) -shared $(filter-out -pie,$(HARDEN_LDFLAGS)) $(LDFLAGS) -pthread $(SANFLAGS) \
		$(if $(filter %/gv-cuda.so,$@),$(DEFINED)) -o $@ $(filter %.o,$^) -lm -ldl
endef
$(BUILD)/plugin/gv-cuda.so: $(CUDA_OBJ) $(BUILD)/cuda/image.o
	$(shared)
$(BUILD)/fake/gv-cuda.so: $(CUDA_OBJ) $(BUILD)/fake/image.o
	$(shared)
$(BUILD)/fake/libcuda.so.1: $(CUDA_FAKE_OBJ) $(patsubst %.c,$(BUILD)/pic/%.o,$(wildcard gpu/cuda/launch.c))
	$(shared)
$(BUILD)/fake/libcublas.so.13 $(BUILD)/fake/libnccl.so.2: $(BUILD)/fake/libcuda.so.1
	@ln -sf libcuda.so.1 $@
$(CUDA_TESTED): $(patsubst %.c,$(BUILD)/pic/%.o,$(CUDA_SRC)) $(BUILD)/fake/image.o $(CUDA_FAKE_OBJ)
	@rm -f $@
	$(Q)$(AR) rcD $@ $^

fakes: $(CUDA_FAKE)
plugin: $(PLUGIN)
cuda: $(BUILD)/plugin/gv-cuda.so ## support for GPUs alone: gv-cuda.so (needs nvcc)
-include $(CUDA_OBJ:.o=.d) $(CUDA_FAKE_OBJ:.o=.d)

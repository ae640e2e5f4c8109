#!/bin/sh
# What the emulation of GPU kernels notices: defects planted in copies of the sources must
# make the tests of kernels fail, each in its way.  Long: every plant, the lines that are
# run, and nvcc on all kernels.
. "${0%/*}/lib.sh"

if ! have c++; then
	skip "no c++ for the kernels"
	done_testing
	exit
fi
case ${GV_SAN:-} in
thread)
	skip "sanitizer: that of threads knows nothing of stacks that are changed"
	done_testing
	exit
	;;
esac

dir=$build/kernels flags="-g -O0 -std=c++17 -ffp-contract=off -w"
sanitizer=$(cat "$dir/sanitizer")
(cd "$src" && cp -R gpu/cuda/kernels "$scratch/kernels")

# build FILE TEST: the test with this kernel file of ours
build() {
	others=$(find "$dir" -name '*.o' ! -name "$1.o" ! -name 'test_*' | tr '\n' ' ')
	# shellcheck disable=SC2086
	c++ -x c++ $flags $sanitizer -I"$src/common" -I"$src/gpu" -I"$src/tests/cuda" -c -o "$1.o" \
		"kernels/$1.cu" && c++ $sanitizer -pthread -o "$2" "$1.o" "$dir/test_$2.o" $others \
		"$build/libgv.a" -lcsv -lz -lm -ldl
}
# plant NAME SOURCE SED FILE TEST WANT: the edit of SOURCE, of which FILE is made, is
# noticed by TEST with words among which WANT is
plant() {
	name=$1 source=$2 edit=$3 file=$4 test=$5 want=$6
	cp "$src/gpu/cuda/kernels/$source" kernels/
	sed -i "$edit" "kernels/$source"
	if cmp -s "$src/gpu/cuda/kernels/$source" "kernels/$source"; then
		ran="sed $edit" status=0
		fail "$name: nothing was planted"
		return
	fi
	if ! run build "$file" "$test" || [ "$status" -ne 0 ]; then
		fail "$name: does not compile" err
	else
		run "./$test"
		if [ "$status" -ne 0 ] && grep -qE -- "$want" out err; then pass "$name"; else fail "$name" out err; fi
	fi
	cp "$src/gpu/cuda/kernels/$source" kernels/
}
# only where the address sanitizer is: plant_bounds as plant
plant_bounds() {
	case $sanitizer in
	*address*) plant "$@" ;;
	*) skip "no address sanitizer" ;;
	esac
}

# the n-th line that holds PATTERN goes: sed over the whole file
without() { printf ':a;N;$!ba;s/\\n[^\\n]*%s[^\\n]*//%d' "$1" "$2"; }

# as they are they pass, so that it is the plants that fail
run build sums bn && run ./bn
is_status 0 "the copy without a plant passes"

plant "a missing barrier: a tree reads what is not yet added" \
	sums.cu "$(without 'gv_sync();' 2)" sums bn '^not ok .* bn,'
plant "a number that nobody has written" \
	sums.cu "$(without 's\.v\[warp()\]\[lane()\] = v;' 1)" sums bn '^not ok .* bn,'
plant "lanes that part at a shuffle" \
	head.cu 's/^\ttop = over_block/\tif (gv_thread < 100) top = over_block/' head heads \
	'#.*|(lanes of a warp|threads of a block) part'
plant_bounds "one row too many" gather.cu 's/step < a\.n/step <= a.n/' gather tools \
	'heap-buffer-overflow.*|gather.cu'
plant "tensor cores: a copy that nobody waits for" \
	flash.cu "$(without 'gv_copies_wait<1>();' 1)" flash sequences '^not ok .*bf16: (attention|causal)'
plant "tensor cores: a missing barrier before a tile of a conv is used" \
	tensor.h "$(without 'gv_sync();' 2)" conv rows '^not ok .*bf16: (linear|conv)'

if [ -z "${GV_LONG:-}" ]; then
	skip "long: twenty more plants, lines that are run, nvcc"
	done_testing
	exit
fi
plant "a missing barrier: shared memory is read before it is written" \
	head.cu "$(without 'gv_sync();' 2)" head heads '^not ok .* xent'
plant_bounds "one place too many" pool.cu 's/z < columns\.last; z++/z <= columns.last; z++/' pool rows \
	'heap-buffer-overflow|^not ok .*pool'
plant "lanes that do not wait for each other" \
	attention.cu "$(without 'gv_sync_warp();' 1)" attention sequences '^not ok .*(attention|causal)'
plant "tensor cores: a missing barrier before values are multiplied" \
	flash.cu "$(without 'gv_sync();' 3)" flash sequences '^not ok .*bf16: (attention|causal)'
plant "tensor cores: rows that nobody has fetched" \
	flash.cu "$(without 'h\.fetch_dy(s\.own' 1)" flash sequences '^not ok .*bf16: (attention|causal)'
plant_bounds "tensor cores: one row too many" \
	matrix.h 's/bool there = at < n /bool there = at <= n /' flash sequences 'heap-buffer-overflow'
plant "a missing barrier before a tile is used" \
	product.h "$(without 'gv_sync();' 2)" gemm tools '^not ok .*gemm'
plant "a missing barrier before a tile is written again" \
	product.h "$(without 'gv_sync();' 1)" gemm tools '^not ok .*gemm'
plant "a missing barrier before keys are fetched again" \
	attention.cu "$(without 'gv_sync();' 2)" attention sequences '^not ok .*(attention|causal)'
plant "a group of shards that is too small" \
	sums.cu 's/step < n; step/2 * step < n; step/' sums bn '^not ok .* bn,'
plant_bounds "one column too many" gemm.cu 's/return i < n ? v/return i <= n ? v/' gemm tools \
	'heap-buffer-overflow'
plant "a chain in another order" conv.cu \
	's/h\.taps - 1 - t \/ w\.taps),/t \/ w.taps),/; s/(h\.taps - 1 - t \/ w\.taps) \* v\.s/t \/ w.taps * v.s/' \
	conv rows '^not ok .*conv'

plant "tensor cores: a missing barrier before a tile is fetched again" \
	flash.cu "$(without 'gv_sync();' 4)" flash sequences '^not ok .*bf16: (attention|causal)'
plant "tensor cores: a missing barrier on the way back" \
	flash.cu "$(without 'gv_sync();' 6)" flash sequences '^not ok .*bf16: (attention|causal)'
plant "tensor cores: a place too many is seen" \
	flash.cu 's/return i < n \&\& j < n/return i < n \&\& j <= n/' flash sequences '^not ok .*bf16: attention'

plant "tensor cores: a missing barrier before a tile of a conv is written again" \
	tensor.h "$(without 'gv_sync();' 3)" conv rows '^not ok .*bf16: (linear|conv)'
plant "tensor cores: a missing barrier, tf32" \
	tensor.h "$(without 'gv_sync();' 5)" conv rows '^not ok .*tf32 in place'
plant "tensor cores: a tile that nobody has fetched" \
	tensor.h "$(without 'columns.fetch(s\.b\[0\]' 1)" conv rows '^not ok .*bf16: (linear|conv)'
plant "tensor cores: a copy of a conv that nobody waits for" \
	tensor.h "$(without 'gv_copies_wait<1>();' 1)" conv rows '^not ok .*bf16: (linear|conv)'
plant "tensor cores: eight numbers too many" \
	tensor.h 's/l < end ? operand.chunk/l <= end ? operand.chunk/' conv rows '^not ok .*bf16: (linear|conv)|heap-buffer-overflow'

run make -s -C "$src" BUILD="$build" kernels-coverage
awk '{ print "# " $0 }' out
is_status 0 "the tests run at least 95 % of the lines of kernels"

nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
if [ -z "$nvcc" ]; then
	skip "no nvcc"
else
	for f in "$src"/gpu/cuda/kernels/*.cu; do echo "#include \"$f\""; done >all.cu
	for arch in 80 90 100; do
		run "$nvcc" -arch=sm_$arch -std=c++17 -fmad=false -Werror all-warnings -I "$src/gpu" \
			-I "$src/gpu/cuda/kernels" -cubin -o all.cubin all.cu
		is_status 0 "nvcc compiles all kernels for sm_$arch without a warning"
	done
fi
done_testing

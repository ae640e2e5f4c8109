/*
 * Loops over many numbers.  GV_HOT before a function has gcc vectorise it, once
 * for each kind of x86 vector, chosen at run time.  None of its copies may
 * reorder or fuse operations (-ffp-contract=off), so all give the same bits.
 * Nobody asks which exceptions operations raise; with them gcc would not compute what a
 * choice leaves out, and without AVX-512 go number by number instead.  What such a
 * function is to have inlined is GV_INLINE: flags differ.
 */
#ifndef GV_NN_CPU_SIMD_H
#define GV_NN_CPU_SIMD_H

#if defined(__GNUC__) && !defined(__clang__)
#define GV_O3 optimize("O3", "no-trapping-math")
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
#define GV_HOT __attribute__((GV_O3, target_clones("avx512f", "avx2", "default")))
#else
#define GV_HOT __attribute__((GV_O3))
#endif
#else
#define GV_HOT
#endif

#ifdef __GNUC__
#define GV_INLINE __attribute__((always_inline))
#else
#define GV_INLINE
#endif

#endif

#include "subnormal.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#elif defined(__aarch64__)
#include <stdint.h>
#endif

void
gv_subnormal_flush(void)
{
#if defined(__SSE2__)
	enum { FLUSH_TO_ZERO = 0x8000, DENORMALS_ARE_ZERO = 0x40 };

	_mm_setcsr(_mm_getcsr() | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO);
#elif defined(__aarch64__)
	uint64_t control;

	__asm__ volatile("mrs %0, fpcr" : "=r"(control));
	control |= UINT64_C(1) << 24; /* FZ */
	__asm__ volatile("msr fpcr, %0" : : "r"(control));
#endif
}

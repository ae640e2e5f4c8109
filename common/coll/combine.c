/* Element by element. */
#include "coll/coll.h"

const char *const gv_coll_type_name[GV_COLL_TYPES] = {"float", "double"};
const char *const gv_coll_op_name[GV_COLL_OPS] = {"sum", "max", "min"};

size_t
gv_coll_type_size(enum gv_coll_type t)
{
	return t == GV_COLL_FLOAT ? sizeof(float) : sizeof(double);
}

#define COMBINE(T)                                                                 \
	static void combine_##T(                                                   \
	    enum gv_coll_op op, T to[], const T *a, const T *b, size_t n)          \
	{                                                                          \
		size_t i;                                                          \
                                                                                   \
		switch (op) {                                                      \
		case GV_COLL_MAX:                                                  \
			for (i = 0; i < n; i++)                                    \
				to[i] = a[i] > b[i] || b[i] != b[i] ? a[i] : b[i]; \
			break;                                                     \
		case GV_COLL_MIN:                                                  \
			for (i = 0; i < n; i++)                                    \
				to[i] = a[i] < b[i] || b[i] != b[i] ? a[i] : b[i]; \
			break;                                                     \
		default:                                                           \
			for (i = 0; i < n; i++)                                    \
				to[i] = a[i] + b[i];                               \
		}                                                                  \
	}

COMBINE(float)
COMBINE(double)

void
gv_coll_combine(enum gv_coll_type t, enum gv_coll_op op, void *to, const void *a,
    const void *b, size_t n)
{
	if (t == GV_COLL_FLOAT)
		combine_float(op, to, a, b, n);
	else
		combine_double(op, to, a, b, n);
}

/* Sizes of an lstm.  Private to common/nn/cpu. */
#ifndef GV_NN_CPU_LSTM_H
#define GV_NN_CPU_LSTM_H

#include "nn/cpu/parts.h"

/* Places of the sequence; numbers of a place of the input, the output, one way's state, all gates. */
struct gv_cpu_lstm {
	size_t steps, in, out, state, gates;
};
struct gv_cpu_lstm gv_cpu_lstm_sizes(const struct gv_nn_row *r);

#endif

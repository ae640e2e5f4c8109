/* The backends of nets of floats. */
#include "nn_backend.h"

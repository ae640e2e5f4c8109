/* The backends of nets of doubles. */
#include "nn_backend.h"

#ifndef GANNET_CMALLOC_SHIM_H
#define GANNET_CMALLOC_SHIM_H

/* Swift's own module for the C library leaves this header out. */
#include <malloc.h>

#endif

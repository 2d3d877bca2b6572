#ifndef GANNET_CBROTLI_SHIM_H
#define GANNET_CBROTLI_SHIM_H

#include <brotli/decode.h>

#endif

#ifndef GANNET_CBROTLIENCODER_SHIM_H
#define GANNET_CBROTLIENCODER_SHIM_H

#include <brotli/encode.h>

#endif

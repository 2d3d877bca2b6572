#ifndef GANNET_CZLIB_SHIM_H
#define GANNET_CZLIB_SHIM_H

#include <zlib.h>

/* Swift sees no macro with a call in it. */
static inline int gannet_inflate_init(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}

#endif

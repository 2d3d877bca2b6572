#ifndef GANNET_CZLIB_SHIM_H
#define GANNET_CZLIB_SHIM_H

#include <zlib.h>

/* Swift sees no macro with a call in it. */
static inline int gannet_inflate_init(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}

static inline int gannet_deflate_init(z_stream *stream, int level, int window_bits) {
    return deflateInit2(stream, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
}

#endif

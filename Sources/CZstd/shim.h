#ifndef GANNET_CZSTD_SHIM_H
#define GANNET_CZSTD_SHIM_H

#include <zstd.h>
#include <zstd_errors.h>

#endif

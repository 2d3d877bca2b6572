#ifndef GANNET_CHIREDIS_SHIM_H
#define GANNET_CHIREDIS_SHIM_H

// Only the reply parser is used: the socket, TLS and the loop around it are the room's own. The parser's interface
// is the same from hiredis 0.14 (Debian 12) to 1.3, but for one callback's parameter.
#if __has_include(<hiredis/hiredis.h>)
#include <hiredis/hiredis.h>
#else
#include <hiredis.h>
#endif

#if HIREDIS_MAJOR >= 1
typedef size_t gannet_element_count;
#else
typedef int gannet_element_count;
#endif

#endif

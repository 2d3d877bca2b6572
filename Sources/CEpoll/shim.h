#ifndef GANNET_CEPOLL_SHIM_H
#define GANNET_CEPOLL_SHIM_H

/* Swift's own module for the C library leaves this header out. */
#include <sys/epoll.h>

#endif

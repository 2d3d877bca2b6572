#ifndef GANNET_CEPOLL_SHIM_H
#define GANNET_CEPOLL_SHIM_H

/* Linux only; Swift's own module for the C library leaves this header out. */
#ifdef __linux__
#include <sys/epoll.h>
#endif

#endif

#ifndef GANNET_CMICROHTTPD_SHIM_H
#define GANNET_CMICROHTTPD_SHIM_H

#include <microhttpd.h>
#include <sys/socket.h>

/* Swift cannot call variadic C functions. The server listens on one address, and has a thread for each of a bounded number of connections.
 * `each` bounds the connections of one client address (0: no bound). A connection ends after `idle_seconds` without traffic. */
static inline struct MHD_Daemon *gannet_http_start(
    const struct sockaddr *address, unsigned int connections, unsigned int each, unsigned int idle_seconds, size_t memory, MHD_AccessHandlerCallback handler,
    void *context) {
    unsigned int flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ITC;
    if (address->sa_family == AF_INET6) flags |= MHD_USE_IPv6;
    return MHD_start_daemon(flags, 0, NULL, NULL, handler, context, MHD_OPTION_SOCK_ADDR, address, MHD_OPTION_CONNECTION_LIMIT,
        connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT, each, MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory, MHD_OPTION_END);
}

static inline int gannet_http_socket(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_LISTEN_FD);
    return info ? info->listen_fd : -1;
}

#endif

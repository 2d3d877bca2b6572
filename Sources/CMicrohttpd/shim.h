#ifndef GANNET_CMICROHTTPD_SHIM_H
#define GANNET_CMICROHTTPD_SHIM_H

#include <microhttpd.h>
#include <sys/socket.h>

/* Swift cannot call variadic C functions. */
struct gannet_http_options {
    unsigned int connections;   /* at a time. */
    unsigned int idle_seconds;  /* A connection ends after this time without traffic. */
    size_t memory;              /* For the head of a request, and for its answer's. */
    const char *certificate;    /* PEM; NULL is plain HTTP. */
    const char *key;
};

/* Listens on one address, or takes connections from a socket that listens there; -1 is none. Connections may be suspended.
 * The caller's thread waits for gannet_http_epoll() and runs the daemon. A thread of libmicrohttpd waits once more where exactly
 * 128 connections are ready at once, and serves none of them for up to half a minute. */
static inline struct MHD_Daemon *gannet_http_start(
    const struct sockaddr *address, int socket, const struct gannet_http_options *options, MHD_AcceptPolicyCallback accept,
    MHD_AccessHandlerCallback handler, void *(*target)(void *, const char *, struct MHD_Connection *),
    MHD_RequestCompletedCallback completed, MHD_NotifyConnectionCallback connection, void *context) {
    unsigned int flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;
    if (address->sa_family == AF_INET6) flags |= MHD_USE_IPv6;
    if (options->certificate) flags |= MHD_USE_TLS;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)options->certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)options->key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)"NORMAL:-VERS-TLS1.0:-VERS-TLS1.1"},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem shared[] = {{MHD_OPTION_LISTEN_SOCKET, socket, NULL}, {MHD_OPTION_END, 0, NULL}};
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    return MHD_start_daemon(flags, 0, accept, context, handler, context, MHD_OPTION_SOCK_ADDR, address, MHD_OPTION_CONNECTION_LIMIT,
        options->connections, MHD_OPTION_CONNECTION_TIMEOUT, options->idle_seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, options->memory, MHD_OPTION_LISTEN_BACKLOG_SIZE, 4096u, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_URI_LOG_CALLBACK, target, context, MHD_OPTION_NOTIFY_COMPLETED, completed, context, MHD_OPTION_NOTIFY_CONNECTION,
        connection, context, MHD_OPTION_ARRAY, options->certificate ? tls : none, MHD_OPTION_ARRAY, socket < 0 ? none : shared, MHD_OPTION_END);
}

/* Readable when the daemon has something to do; -1 is none. */
static inline int gannet_http_epoll(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

/* Milliseconds until the daemon has to run in any case, `most` at most. */
static inline int gannet_http_time_left(struct MHD_Daemon *daemon, int most) {
    MHD_UNSIGNED_LONG_LONG left;
    return MHD_get_timeout(daemon, &left) == MHD_YES && left < (unsigned)most ? (int)left : most;
}

static inline int gannet_http_socket(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_LISTEN_FD);
    return info ? info->listen_fd : -1;
}

static inline int gannet_http_connection_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static inline const struct sockaddr *gannet_http_client(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

/* The bytes of a request's head, from its method on. */
static inline size_t gannet_http_head_size(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

static inline void *gannet_http_connection_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* Swift does not import this one, whose type differs between versions. */
#define GANNET_HTTP_SIZE_UNKNOWN ((uint64_t)-1LL)

#endif

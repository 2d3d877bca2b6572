#ifndef GANNET_CARES_SHIM_H
#define GANNET_CARES_SHIM_H

// Newer versions call half of what 1.18 has deprecated; their successors are not in 1.18.
#define CARES_NO_DEPRECATED

#include <ares.h>
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>

// A channel that reads no file and no cache: it knows only what it is told here. Answers come as they are, whatever they say.
static inline int gannet_ares_open(ares_channel *channel, const char *servers, int over_tcp, int timeout, int tries,
                                   ares_sock_state_cb on_socket, void *data) {
    struct ares_options options;
    struct in_addr unused = {0};
    int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_NDOTS | ARES_OPT_SERVERS | ARES_OPT_DOMAINS |
               ARES_OPT_LOOKUPS | ARES_OPT_SORTLIST | ARES_OPT_SOCK_STATE_CB | ARES_OPT_SOCK_RCVBUF | ARES_OPT_EDNSPSZ |
               ARES_OPT_RESOLVCONF | ARES_OPT_NOROTATE;
    int status;
    memset(&options, 0, sizeof options);
    options.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES | ARES_FLAG_NOCHECKRESP | ARES_FLAG_EDNS |
                    (over_tcp ? ARES_FLAG_USEVC : ARES_FLAG_IGNTC);
    options.timeout = timeout;
    options.tries = tries;
    options.ndots = 1;
    options.servers = &unused;
    options.nservers = 1;
    options.lookups = (char *)"b";
    options.sock_state_cb = on_socket;
    options.sock_state_cb_data = data;
    options.socket_receive_buffer_size = 1 << 20;
    // Fits every network without fragments (DNS flag day 2020).
    options.ednspsz = 1232;
    options.resolvconf_path = (char *)"/dev/null";
#ifdef ARES_OPT_QUERY_CACHE
    mask |= ARES_OPT_QUERY_CACHE;
    options.qcache_max_ttl = 0;
#endif
    status = ares_init_options(channel, &options, mask);
    if (status != ARES_SUCCESS) return status;
    status = ares_set_servers_ports_csv(*channel, servers);
    if (status != ARES_SUCCESS) ares_destroy(*channel);
    return status;
}

// The status codes are macros in one version and an enumeration, another type to Swift, in the next.
enum gannet_ares_outcome { gannet_ares_answered, gannet_ares_silent, gannet_ares_no_memory, gannet_ares_unreachable };

static inline enum gannet_ares_outcome gannet_ares_outcome(int status, const unsigned char *message, int length) {
    if (message != NULL && length > 0) return gannet_ares_answered;
    switch (status) {
    case ARES_ETIMEOUT: return gannet_ares_silent;
    case ARES_ENOMEM: return gannet_ares_no_memory;
    default: return gannet_ares_unreachable;
    }
}

// The kinds of sockets are an enumeration that Swift sees in whichever module it meets first, so they are kept out of its sight.
static inline int gannet_datagram_socket(int family) {
#ifdef SOCK_CLOEXEC
    return socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
#else
    return socket(family, SOCK_DGRAM, 0);
#endif
}

static inline int gannet_ares_start(void) { return ares_library_init(ARES_LIB_INIT_ALL) == ARES_SUCCESS; }

#endif

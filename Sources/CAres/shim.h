#ifndef GANNET_CARES_SHIM_H
#define GANNET_CARES_SHIM_H

#include <ares.h>
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/select.h>
#include <sys/socket.h>

#endif

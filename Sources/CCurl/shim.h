#ifndef GANNET_CCURL_SHIM_H
#define GANNET_CCURL_SHIM_H

#include <curl/curl.h>

#endif

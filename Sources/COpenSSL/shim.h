#ifndef GANNET_COPENSSL_SHIM_H
#define GANNET_COPENSSL_SHIM_H

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#endif

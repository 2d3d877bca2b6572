#ifndef GANNET_COPENSSL_SHIM_H
#define GANNET_COPENSSL_SHIM_H

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// A macro in OpenSSL 1.1, a function since.
static inline int gannet_error_reason(unsigned long code) { return ERR_GET_REASON(code); }

#endif

#ifndef GANNET_CCURL_SHIM_H
#define GANNET_CCURL_SHIM_H

#include <curl/curl.h>

/* Swift cannot call variadic C functions. One wrapper for each type of argument; the names of the libcurl functions are in
 * parentheses because curl.h also defines them as type-checking macros. */

static inline CURLcode gannet_easy_set_long(CURL *easy, CURLoption option, long value) {
    return (curl_easy_setopt)(easy, option, value);
}

static inline CURLcode gannet_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return (curl_easy_setopt)(easy, option, value);
}

static inline CURLcode gannet_easy_set_string(CURL *easy, CURLoption option, const char *value) {
    return (curl_easy_setopt)(easy, option, value);
}

static inline CURLcode gannet_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
    return (curl_easy_setopt)(easy, option, value);
}

static inline CURLcode gannet_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return (curl_easy_setopt)(easy, option, value);
}

static inline CURLcode gannet_easy_on_write(CURL *easy, curl_write_callback callback) {
    return (curl_easy_setopt)(easy, CURLOPT_WRITEFUNCTION, callback);
}

static inline CURLcode gannet_easy_on_header(CURL *easy, curl_write_callback callback) {
    return (curl_easy_setopt)(easy, CURLOPT_HEADERFUNCTION, callback);
}

static inline CURLcode gannet_easy_on_open_socket(CURL *easy, curl_opensocket_callback callback) {
    return (curl_easy_setopt)(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
}

static inline CURLcode gannet_easy_on_close_socket(CURL *easy, curl_closesocket_callback callback) {
    return (curl_easy_setopt)(easy, CURLOPT_CLOSESOCKETFUNCTION, callback);
}

static inline CURLcode gannet_easy_on_request(CURL *easy, curl_prereq_callback callback) {
    return (curl_easy_setopt)(easy, CURLOPT_PREREQFUNCTION, callback);
}

static inline CURLcode gannet_easy_on_debug(CURL *easy, curl_debug_callback callback) {
    return (curl_easy_setopt)(easy, CURLOPT_DEBUGFUNCTION, callback);
}

/* Only http and https, for the first request and for every redirect. libcurl older than 7.85 knows only the bit masks. */
static inline CURLcode gannet_easy_allow_http_only(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
    CURLcode code = (curl_easy_setopt)(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    if (code != CURLE_OK) return code;
    return (curl_easy_setopt)(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
    CURLcode code = (curl_easy_setopt)(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    if (code != CURLE_OK) return code;
    return (curl_easy_setopt)(easy, CURLOPT_REDIR_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

/* Lets a transfer be removed while getaddrinfo still runs for it; without this, removing it waits for the resolver. */
static inline CURLcode gannet_easy_leave_resolver_behind(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075700
    return (curl_easy_setopt)(easy, CURLOPT_QUICK_EXIT, 1L);
#else
    (void)easy;
    return CURLE_OK;
#endif
}

static inline CURLcode gannet_easy_get_long(CURL *easy, CURLINFO info, long *value) {
    return (curl_easy_getinfo)(easy, info, value);
}

static inline CURLcode gannet_easy_get_string(CURL *easy, CURLINFO info, char **value) {
    return (curl_easy_getinfo)(easy, info, value);
}

static inline CURLcode gannet_easy_get_pointer(CURL *easy, CURLINFO info, void **value) {
    return (curl_easy_getinfo)(easy, info, value);
}

static inline CURLcode gannet_easy_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return (curl_easy_getinfo)(easy, info, value);
}

/* OpenSSL's SSL of the transfer's connection; null without TLS, and where libcurl uses another library. */
static inline void *gannet_easy_session(CURL *easy) {
    struct curl_tlssessioninfo *info = NULL;
    CURLcode code = (curl_easy_getinfo)(easy, CURLINFO_TLS_SSL_PTR, &info);
    return code == CURLE_OK && info && info->backend == CURLSSLBACKEND_OPENSSL ? info->internals : NULL;
}

static inline CURLSHcode gannet_share_add(CURLSH *share, curl_lock_data data) {
    return (curl_share_setopt)(share, CURLSHOPT_SHARE, data);
}

static inline CURLMcode gannet_multi_on_socket(CURLM *multi, curl_socket_callback callback) {
    return (curl_multi_setopt)(multi, CURLMOPT_SOCKETFUNCTION, callback);
}

static inline CURLMcode gannet_multi_on_timer(CURLM *multi, curl_multi_timer_callback callback) {
    return (curl_multi_setopt)(multi, CURLMOPT_TIMERFUNCTION, callback);
}

static inline CURLMcode gannet_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
    return (curl_multi_setopt)(multi, option, value);
}

static inline CURLMcode gannet_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return (curl_multi_setopt)(multi, option, value);
}

#endif

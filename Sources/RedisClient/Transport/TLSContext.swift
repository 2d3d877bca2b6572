internal import COpenSSL

/// The settings one connection's TLS sessions share: TLS 1.2 or newer, peers verified.
final class TLSContext {
    let context: OpaquePointer

    init(_ options: RedisTLS) throws(RedisError) {
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw Self.failure("TLS cannot be set up") }
        self.context = context
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        // SSL_CTX_set_min_proto_version and SSL_CTX_set_mode are macros over this call.
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER), nil)
        let trusted =
            if let file = options.authorityFile {
                SSL_CTX_load_verify_locations(context, file, nil)
            } else {
                SSL_CTX_set_default_verify_paths(context)
            }
        guard trusted == 1 else {
            let what = options.authorityFile.map { "the CA file \($0) cannot be read" } ?? "the system's certificates cannot be read"
            throw Self.failure(what)
        }
    }

    deinit { SSL_CTX_free(context) }

    private static func failure(_ what: String) -> RedisError {
        RedisError(.tlsFailed, [what, TLSErrors.takeFirst()].compactMap { $0 }.joined(separator: ": "))
    }
}

/// libssl keeps a queue of errors for each thread.
enum TLSErrors {
    /// The first reason in the queue, which is emptied.
    static func takeFirst() -> String? {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else { return nil }
        if let reason = ERR_reason_error_string(code) { return String(cString: reason) }
        return "error \(code)"
    }
}

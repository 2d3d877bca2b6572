internal import COpenSSL
internal import GannetBase

/// A TLS session over a socket.
final class TLSTransport: Transport {
    private let socket: Socket
    private let session: OpaquePointer
    private let serverName: String
    private var isEstablished = false

    init(_ socket: Socket, context: TLSContext, serverName: String) throws(RedisError) {
        guard let session = SSL_new(context.context) else { throw RedisError(.tlsFailed, "a session cannot be made") }
        self.socket = socket
        self.session = session
        self.serverName = serverName
        // libssl accepts every certificate for an empty name, and cuts a name at a NUL.
        guard !serverName.isEmpty, !serverName.utf8.contains(0) else {
            throw RedisError(.invalidConfiguration, "The server name for the certificate is empty or has a NUL in it.")
        }
        // An address is checked against the certificate's addresses, and not sent as a server name.
        let isAddress = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), serverName) == 1
        if !isAddress {
            guard SSL_set1_host(session, serverName) == 1 else {
                throw RedisError(.tlsFailed, "the server name \(serverName) cannot be checked")
            }
            var name = Array(serverName.utf8CString)
            name.withUnsafeMutableBytes { bytes in
                _ = SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), bytes.baseAddress)
            }
        }
        guard SSL_set_fd(session, socket.descriptor) == 1 else { throw RedisError(.tlsFailed, "the socket cannot be used") }
        SSL_set_connect_state(session)
    }

    deinit {
        if isEstablished { SSL_shutdown(session) }
        SSL_free(session)
    }

    func prepare() -> TransportOutcome? {
        if isEstablished { return nil }
        ERR_clear_error()
        let result = SSL_do_handshake(session)
        if result == 1 {
            isEstablished = true
            return nil
        }
        return outcome(of: result)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> TransportOutcome {
        ERR_clear_error()
        var count = 0
        let result = SSL_read_ex(session, buffer.baseAddress, buffer.count, &count)
        return result == 1 ? .bytes(count) : outcome(of: result)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> TransportOutcome {
        ERR_clear_error()
        var count = 0
        let result = SSL_write_ex(session, bytes.baseAddress, bytes.count, &count)
        return result == 1 ? .bytes(count) : outcome(of: result)
    }

    private func outcome(of result: Int32) -> TransportOutcome {
        let systemError = errno
        switch SSL_get_error(session, result) {
        case SSL_ERROR_WANT_READ: return .needsRead
        case SSL_ERROR_WANT_WRITE: return .needsWrite
        case SSL_ERROR_ZERO_RETURN: return isEstablished ? .ended : .failed(Self.leftInHandshake)
        default: return .failed(failure(systemError))
        }
    }

    private func failure(_ systemError: Int32) -> RedisError {
        // The session must not be shut down after a fatal error.
        defer { isEstablished = false }
        let reason = TLSErrors.takeFirst()
        if isEstablished {
            return RedisError(.connectionLost, reason ?? (systemError == 0 ? "" : Descriptor.message(systemError)))
        }
        let verdict = SSL_get_verify_result(session)
        if verdict != Int(X509_V_OK), let text = X509_verify_cert_error_string(verdict) {
            return RedisError(.tlsFailed, "the certificate shown for \(serverName) is refused: \(String(cString: text))")
        }
        if reason == "wrong version number" || reason == "packet length too long" {
            return RedisError(.tlsFailed, "the server does not speak TLS; use redis:// if the network is trusted")
        }
        // Without a reason from TLS, the network failed or the server hung up, as it does at its maxclients.
        if reason == nil || reason == "unexpected eof while reading" { return Self.leftInHandshake }
        return RedisError(.tlsFailed, reason ?? "")
    }

    private static var leftInHandshake: RedisError {
        RedisError(
            .unreachable, "it closed the connection while TLS was set up: its maxclients may be reached, or it does not speak TLS")
    }
}

/// The settings of TLS sessions: TLS 1.2 or newer, with verified peers.
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

/// libssl's queue of errors, which each thread has.
enum TLSErrors {
    /// Returns the first reason and empties the queue.
    static func takeFirst() -> String? {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else { return nil }
        if let reason = ERR_reason_error_string(code) { return String(cString: reason) }
        return "error \(code)"
    }
}

internal import COpenSSL
internal import GannetBasics

/// Bytes through TLS over a socket.
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
        // libssl takes an empty name for "any", and a name ends at its first NUL.
        guard !serverName.isEmpty, !serverName.utf8.contains(0) else {
            throw RedisError(.invalidConfiguration, "The server name that the certificate must carry is empty or has a NUL in it.")
        }
        // An address is not a name: it is checked against the certificate's addresses and not sent as an indication.
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
        // Without a reason of TLS' own it was the network, or a server that hung up: one that is at its maxclients says nothing else.
        if reason == nil || reason == "unexpected eof while reading" { return Self.leftInHandshake }
        return RedisError(.tlsFailed, reason ?? "")
    }

    private static var leftInHandshake: RedisError {
        RedisError(
            .unreachable, "it closed the connection while TLS was set up: its maxclients may be reached, or it does not speak TLS")
    }
}

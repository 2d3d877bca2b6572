internal import COpenSSL
internal import GannetBase

/// A socket of the web that never blocks, with TLS or without.
struct WebStream {
    let descriptor: Int32
    /// Nil without TLS.
    private let ssl: OpaquePointer?
    private(set) var isReady: Bool

    enum Result {
        case bytes(Int)
        case wantsRead
        case wantsWrite
        case ended
    }

    /// - Parameter identity: The certificate to show. Without one it speaks no TLS.
    init?(_ descriptor: Int32, _ identity: TLSIdentity?) {
        self.descriptor = descriptor
        isReady = identity == nil
        guard let identity else {
            ssl = nil
            return
        }
        guard let ssl = identity.session() else { return nil }
        self.ssl = ssl
        SSL_set_fd(ssl, descriptor)
        SSL_set_accept_state(ssl)
        // Macros in C: a write may be of a part, from another place, and an idle connection keeps no buffers.
        _ = SSL_ctrl(ssl, SSL_CTRL_MODE, 0x1 | 0x2 | 0x10, nil)
    }

    /// Goes on with the handshake. Nil when it is done.
    mutating func shakeHands() -> Result? {
        guard let ssl, !isReady else { return nil }
        ERR_clear_error()
        let status = SSL_do_handshake(ssl)
        guard status != 1 else {
            isReady = true
            return nil
        }
        return failure(of: status)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Result {
        guard let ssl else {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .bytes(count) }
            return count < 0 && (errno == EAGAIN || errno == EINTR) ? .wantsRead : .ended
        }
        ERR_clear_error()
        let count = SSL_read(ssl, buffer.baseAddress, Int32(buffer.count))
        return count > 0 ? .bytes(Int(count)) : failure(of: count)
    }

    /// Writes some bytes of a head, and of the body behind it.
    func write(_ head: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer) -> Result {
        guard let ssl else {
            let count = withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2) { parts in
                parts[0] = iovec(iov_base: UnsafeMutableRawPointer(mutating: head.baseAddress), iov_len: head.count)
                parts[1] = iovec(iov_base: UnsafeMutableRawPointer(mutating: body.baseAddress), iov_len: body.count)
                return writev(descriptor, parts.baseAddress, 2)
            }
            if count >= 0 { return .bytes(count) }
            return errno == EAGAIN || errno == EINTR ? .wantsWrite : .ended
        }
        let part = head.isEmpty ? body : head
        ERR_clear_error()
        let count = SSL_write(ssl, part.baseAddress, Int32(clamping: part.count))
        return count > 0 ? .bytes(Int(count)) : failure(of: count)
    }

    private func failure(of status: Int32) -> Result {
        switch SSL_get_error(ssl, status) {
        case SSL_ERROR_WANT_READ: .wantsRead
        case SSL_ERROR_WANT_WRITE: .wantsWrite
        default: .ended
        }
    }

    /// - Parameter resets: Whether the peer gets a reset in place of an end.
    func close(resets: Bool = false) {
        if let ssl {
            if !resets, isReady {
                ERR_clear_error()
                SSL_shutdown(ssl)
            }
            SSL_free(ssl)
        }
        if resets {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        closeSocket(descriptor)
    }
}

internal import COpenSSL
internal import GannetBase

/// The certificate and settings that a TLS server shows to all of its peers.
final class TLSIdentity: @unchecked Sendable {
    // libssl counts its references under a lock of its own, and nothing changes it after `init`.
    private let context: OpaquePointer

    /// - Parameter speaksHTTP2: Whether it chooses `h2` of what a peer offers.
    /// - Parameter isOutdated: Whether it speaks TLS 1.0 and nothing newer.
    init(_ certificate: Certificates.Certificate, speaksHTTP2: Bool = false, isOutdated: Bool = false) throws(KitError) {
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw KitError("libssl has no memory") }
        self.context = context
        guard SSL_CTX_use_certificate_chain_file(context, certificate.certificate) == 1,
            SSL_CTX_use_PrivateKey_file(context, certificate.key, SSL_FILETYPE_PEM) == 1
        else { throw KitError("libssl does not take \(certificate.certificate)") }
        // These are macros in C.
        if isOutdated {
            SSL_CTX_set_cipher_list(context, "DEFAULT@SECLEVEL=0")
            SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_VERSION), nil)
            SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_VERSION), nil)
        }
        if speaksHTTP2 { SSL_CTX_set_alpn_select_cb(context, chooseHTTP2, nil) }
    }

    deinit {
        SSL_CTX_free(context)
    }

    /// A connection's own state; nil without memory. The caller frees it.
    func session() -> OpaquePointer? { SSL_new(context) }
}

/// A socket under TLS, used by one thread.
final class TLSStream: ByteStream {
    let descriptor: Int32
    private let ssl: OpaquePointer

    /// Shakes hands as the server; nil when that fails.
    init?(_ descriptor: Int32, as identity: TLSIdentity) {
        guard let ssl = identity.session() else { return nil }
        self.descriptor = descriptor
        self.ssl = ssl
        SSL_set_fd(ssl, descriptor)
        ERR_clear_error()
        guard SSL_accept(ssl) == 1 else { return nil }
    }

    deinit {
        SSL_free(ssl)
    }

    func sendAll(_ bytes: [UInt8]) throws(KitError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            ERR_clear_error()
            let count = rest.withUnsafeBytes { SSL_write(ssl, $0.baseAddress, Int32(clamping: $0.count)) }
            guard count > 0 else { throw KitError("cannot send under TLS") }
            rest = rest.dropFirst(Int(count))
        }
    }

    func receive() throws(KitError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        ERR_clear_error()
        // A peer that leaves without a farewell has left all the same.
        return Array(buffer[..<Int(max(0, SSL_read(ssl, &buffer, Int32(buffer.count))))])
    }

    func finish() { SSL_shutdown(ssl) }
}

private func chooseHTTP2(
    _ ssl: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ length: UnsafeMutablePointer<UInt8>?,
    _ offered: UnsafePointer<UInt8>?, _ offeredLength: UInt32, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    // Names with a byte of length before each. The chosen one has to be a part of what was offered, or outlive the call.
    var names = UnsafeBufferPointer(start: offered, count: Int(offeredLength))[...]
    while let size = names.first, names.count > Int(size) {
        let name = names.dropFirst().prefix(Int(size))
        if name.elementsEqual("h2".utf8), let offered {
            chosen?.pointee = offered + name.startIndex
            length?.pointee = size
            return SSL_TLSEXT_ERR_OK
        }
        names = names.dropFirst(1 + Int(size))
    }
    return SSL_TLSEXT_ERR_NOACK
}

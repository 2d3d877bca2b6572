import CCurl
internal import GannetBase

// libcurl calls these on the engine's thread, from within its own calls. They must not touch the multi handle, nor answer a ticket.

func receiveBody(
    _ data: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let handle = EasyHandle.from(context), let transfer = handle.transfer else { return -1 }
    let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
    // libcurl keeps the bytes, reads no more of the connection, and offers them again when the transfer goes on.
    if let limit = handle.speedLimit, !limit.admits(transfer.id, bytes.count) {
        transfer.pace.isHeldBack(at: .now)
        return Int(CURL_WRITEFUNC_PAUSE)
    }
    return transfer.receive(bytes, hasher: handle.hasher) ? bytes.count : -1
}

func receiveHeader(
    _ data: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let handle = EasyHandle.from(context), let transfer = handle.transfer else { return -1 }
    let line = UnsafeRawBufferPointer(start: data, count: size * count)
    guard transfer.headerCame(line) else { return -1 }
    if line.count <= 2, line.allSatisfy({ $0 == 0x0d || $0 == 0x0a }) {
        // A proxy's answer before the request is for libcurl alone.
        guard transfer.state.phase.isAfterRequest else { return line.count }
        let status = handle.number(CURLINFO_RESPONSE_CODE)
        // A server that sends a body with 204 or 205, or a body of unclear length, may send its rest as the next answer.
        if status == 204 || status == 205 || handle.connections.isFull || !transfer.isWellFramed { handle.forbidReuse() }
        if transfer.target.isSecure, let ends = transfer.ends {
            let isInTurn = handle.number(CURLINFO_HTTP_VERSION) < CURL_HTTP_VERSION_2_0
            if isInTurn { handle.connections.answersInTurn(ends) }
            if transfer.sharesConnections { handle.connections.sharing?.answers(transfer.server, in: isInTurn ? .one : .two) }
        }
        guard transfer.headersEnded(status: status, handle.protocolName) else { return -1 }
        if transfer.state.phase == .body { handle.liftTimeout() }
    }
    return line.count
}

func requestStarts(
    _ context: UnsafeMutableRawPointer?, _ address: UnsafeMutablePointer<CChar>?, _ localAddress: UnsafeMutablePointer<CChar>?,
    _ port: Int32, _ localPort: Int32
) -> Int32 {
    guard let handle = EasyHandle.from(context), let transfer = handle.transfer else { return CURL_PREREQFUNC_ABORT }
    // Bytes that are there before the request were left by an earlier answer, and must not become the next one. Under TLS they may belong
    // to the session or to another stream, unless the connection has answered one request after the other.
    let remote = address.map { String(cString: $0) } ?? ""
    let ends = Connections.Ends(
        localPort: UInt16(truncatingIfNeeded: localPort), remotePort: UInt16(truncatingIfNeeded: port), remote: remote)
    (transfer.ends, transfer.readBefore) = (ends, nil)
    let isClean =
        handle.connections.unreadBytes(ends) == 0 || transfer.target.isSecure && !handle.connections.hasAnsweredInTurn(ends)
    guard isClean else {
        transfer.state.foundLeftover(onNewConnection: transfer.state.hasOpenedSocket)
        return CURL_PREREQFUNC_ABORT
    }
    if transfer.sharesConnections { handle.connections.uses(ends, to: transfer.server) }
    if transfer.target.isSecure { handle.connections.asks(ends, transfer.id) }
    transfer.requestStarts(to: remote)
    return CURL_PREREQFUNC_OK
}

/// libcurl hands over whatever `curl -v` would show. Only the request's head is wanted, which it tells nowhere else.
func receiveDebug(
    _ easy: UnsafeMutableRawPointer?, _ kind: curl_infotype, _ data: UnsafeMutablePointer<CChar>?, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    if kind == CURLINFO_HEADER_OUT {
        EasyHandle.from(context)?.transfer?.requestHeadGoes(UnsafeRawBufferPointer(start: data, count: count))
    }
    return 0
}

func openSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let handle = EasyHandle.from(context), let transfer = handle.transfer, let address,
        let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr)
    else { return -1 }
    // The field is declared as the smallest socket address; an IPv6 one continues behind it.
    let peer = IPAddress(socketAddress: UnsafeRawPointer(address) + offset, length: Int(address.pointee.addrlen))
    guard transfer.permits(peer) else { return -1 }
    // Programs that this process starts must not inherit it.
    let descriptor = socket(address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), address.pointee.protocol)
    guard descriptor >= 0 else {
        transfer.state.socketError = errno
        return -1
    }
    handle.connections.opened(descriptor)
    return descriptor
}

func closeSocket(_ context: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t) -> Int32 {
    if let context { Unmanaged<Connections>.fromOpaque(context).takeUnretainedValue().closed(descriptor) }
    return close(descriptor)
}

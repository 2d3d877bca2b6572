import CCurl

/// libcurl's multi handle: registers its sockets with the poller, and takes the poller's events.
final class MultiHandle {
    private let multi: UnsafeMutableRawPointer
    private let poller: Poller
    /// Hears of every socket that is closed, even of the last ones, which close with the multi handle.
    let connections: Connections
    private let stallGuard: StallGuard
    private var calls: UInt64 = 0
    /// When libcurl wants to be called although nothing has happened.
    private(set) var deadline: ContinuousClock.Instant?

    /// Nil when there is no memory, thread or descriptor.
    init?(_ poller: Poller, places: Int) {
        guard Self.isLibraryReady, let stallGuard = StallGuard() else { return nil }
        self.stallGuard = stallGuard
        guard let multi = curl_multi_init() else {
            stallGuard.stop()
            return nil
        }
        self.multi = multi
        self.poller = poller
        connections = Connections(poller, stallGuard)
        let me = Unmanaged.passUnretained(self).toOpaque()
        gannet_multi_on_socket(multi) { _, socket, what, context, _ in
            MultiHandle.from(context)?.watch(socket, what)
            return 0
        }
        gannet_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, me)
        gannet_multi_on_timer(multi) { _, milliseconds, context in
            MultiHandle.from(context)?.deadline = milliseconds < 0 ? nil : .now + .milliseconds(milliseconds)
            return 0
        }
        gannet_multi_set_pointer(multi, CURLMOPT_TIMERDATA, me)
        // Never reached; see `Connections.isFull`.
        gannet_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 8 * places)
    }

    deinit {
        stallGuard.stop()
        // The poller need not hear of the last connections.
        gannet_multi_on_socket(multi, nil)
        gannet_multi_on_timer(multi, nil)
        curl_multi_cleanup(multi)
    }

    /// False when there is no memory. The handle takes its first step in the next `actOnTime`.
    func add(_ handle: EasyHandle) -> Bool { curl_multi_add_handle(multi, handle.easy) == CURLM_OK }

    /// Closes the connection of an unfinished transfer. A finished one's connection is kept for the next.
    func remove(_ handle: EasyHandle) { curl_multi_remove_handle(multi, handle.easy) }

    func act(on event: Poller.Event) {
        let what =
            (event.isReadable ? CURL_CSELECT_IN : 0) | (event.isWritable ? CURL_CSELECT_OUT : 0) | (event.hasFailed ? CURL_CSELECT_ERR : 0)
        var running: Int32 = 0
        calls += 1
        stallGuard.watching(call: calls) { _ = curl_multi_socket_action(multi, event.descriptor, what, &running) }
    }

    func actOnTime() {
        deadline = nil
        var running: Int32 = 0
        // -1 is CURL_SOCKET_TIMEOUT: a macro that Swift does not see.
        calls += 1
        stallGuard.watching(call: calls) { _ = curl_multi_socket_action(multi, -1, 0, &running) }
    }

    /// Lets a paused transfer go on. An error is its end, which `nextEnded` may not tell.
    func goOn(_ handle: EasyHandle) -> CURLcode {
        calls += 1
        var code = CURLE_OK
        stallGuard.watching(call: calls) { code = curl_easy_pause(handle.easy, CURLPAUSE_CONT) }
        return code
    }

    /// A transfer that has come to its end.
    func nextEnded() -> (EasyHandle, CURLcode)? {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            // The message is gone once its handle is removed.
            let code = message.pointee.data.result
            var pointer: UnsafeMutableRawPointer?
            gannet_easy_get_pointer(easy, CURLINFO_PRIVATE, &pointer)
            if let handle = EasyHandle.from(pointer) { return (handle, code) }
        }
        return nil
    }

    private func watch(_ socket: curl_socket_t, _ what: Int32) {
        if what == CURL_POLL_REMOVE {
            poller.unwatch(socket, .transfers)
            connections.unwatched(socket)
        } else {
            poller.watch(socket, .transfers, reads: what & CURL_POLL_IN != 0, writes: what & CURL_POLL_OUT != 0)
        }
    }

    private static func from(_ pointer: UnsafeMutableRawPointer?) -> MultiHandle? {
        pointer.map { Unmanaged<MultiHandle>.fromOpaque($0).takeUnretainedValue() }
    }
}

// libcurl's state for the whole process.
extension MultiHandle {
    /// Whether an easy handle may be used for another transfer.
    ///
    /// From 7.83 to 8.1.0 a handle keeps a pointer to the freed headers of its last transfer. An answer whose first header line begins with a
    /// blank makes libcurl use that pointer: any origin could end the process.
    static let mayReuseHandles: Bool = {
        guard let version = curl_version_info(CURLVERSION_FIRST)?.pointee.version_num else { return false }
        return version < 0x07_53_00 || version >= 0x08_01_01
    }()

    /// Sets libcurl up on first use. It stays for the life of the process, because another part of the program may use it too.
    static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
}

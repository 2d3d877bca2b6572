import CCurl

/// The engine's thread: owns the multi handle and every transfer in it. Nothing of it is seen by another thread.
final class TransferLoop {
    private let options: DownloaderOptions
    private let inbox: TransferInbox
    private let multi: UnsafeMutableRawPointer
    private var running: [UInt64: EasyHandle] = [:]
    private var waiting = WaitingLine()
    /// Handles without a transfer, kept for the next ones.
    private var spare: [EasyHandle] = []
    /// Answers of this turn, given when libcurl has returned.
    private var answers: [(TransferTicket, TransferTicket.Outcome)] = []

    static let maximumSpare = 256

    /// Runs until the inbox says stop; then everything unfinished is cancelled.
    static func run(_ options: DownloaderOptions, _ inbox: TransferInbox) {
        guard let loop = TransferLoop(options, inbox) else {
            for ticket in inbox.close() {
                ticket.finish(.failure(FetchError(kind: .systemLimit, url: ticket.request.url, detail: "libcurl could not be started")))
            }
            return
        }
        // libcurl converts international host names by the thread's locale.
        ThreadLocale.withUTF8 { loop.run() }
    }

    private init?(_ options: DownloaderOptions, _ inbox: TransferInbox) {
        guard CurlLibrary.isReady, let multi = curl_multi_init() else { return nil }
        // Without a descriptor for it libcurl makes a handle that cannot be woken, and the thread would sleep through its work.
        guard curl_multi_wakeup(multi) == CURLM_OK else {
            curl_multi_cleanup(multi)
            return nil
        }
        self.options = options
        self.inbox = inbox
        self.multi = multi
        // libcurl closes the idle connection used longest ago when there are more than this.
        gannet_multi_set_long(multi, CURLMOPT_MAXCONNECTS, options.maximumInFlight)
    }

    deinit {
        curl_multi_cleanup(multi)
    }

    private func run() {
        inbox.open(waking: UInt(bitPattern: multi))
        while turn() {
            // libcurl returns earlier when one of its own timers is due. It fails only for want of memory, or a broken descriptor:
            // going on would be a busy loop.
            guard curl_multi_poll(multi, nil, 0, 60_000, nil) == CURLM_OK else { break }
        }
        for ticket in inbox.close() { answers.append((ticket, .failure(ticket.cancellation))) }
        while let ticket = waiting.popFirst() { answers.append((ticket, .failure(ticket.cancellation))) }
        for handle in Array(running.values) { cancel(handle) }
        giveAnswers()
    }

    /// False when told to stop.
    private func turn() -> Bool {
        let batch = inbox.take()
        guard !batch.stops else {
            for ticket in batch.starts { answers.append((ticket, .failure(ticket.cancellation))) }
            return false
        }
        for ticket in batch.starts { waiting.append(ticket) }
        for id in batch.cancellations {
            if let ticket = waiting.remove(id) {
                answers.append((ticket, .failure(ticket.cancellation)))
            } else if let handle = running[id] {
                cancel(handle)
            }
        }
        fill()
        var active: Int32 = 0
        while true {
            curl_multi_perform(multi, &active)
            let ended = collect()
            // What has just been freed is used at once: the transfer must be known to libcurl before the thread sleeps.
            guard ended, !waiting.isEmpty else { break }
            fill()
        }
        giveAnswers()
        return true
    }

    private func fill() {
        while running.count < options.maximumInFlight, let ticket = waiting.popFirst() { start(ticket) }
    }

    private func start(_ ticket: TransferTicket) {
        guard let handle = spare.popLast() ?? EasyHandle(options) else {
            answers.append((ticket, .failure(FetchError(kind: .systemLimit, url: ticket.request.url, detail: "no libcurl handle"))))
            return
        }
        let isReady = handle.begin(Transfer(ticket, options: options, hasher: handle.hasher))
        guard isReady, curl_multi_add_handle(multi, handle.easy) == CURLM_OK else {
            handle.end()
            answers.append((ticket, .failure(FetchError(kind: .engine, url: ticket.request.url, detail: "no memory for the request"))))
            return
        }
        running[ticket.id] = handle
    }

    /// True when a transfer has ended.
    private func collect() -> Bool {
        var ended = false
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            // The message is gone once its handle is removed.
            let code = message.pointee.data.result
            var pointer: UnsafeMutableRawPointer?
            gannet_easy_get_pointer(easy, CURLINFO_PRIVATE, &pointer)
            guard let handle = EasyHandle.from(pointer), let transfer = handle.transfer else { continue }
            answers.append((transfer.ticket, handle.outcome(code, options)))
            retire(handle)
            ended = true
        }
        return ended
    }

    private func cancel(_ handle: EasyHandle) {
        guard let ticket = handle.transfer?.ticket else { return }
        retire(handle)
        answers.append((ticket, .failure(ticket.cancellation)))
    }

    /// Takes the handle out of libcurl, which closes the connection of an unfinished transfer, and frees what the transfer held.
    private func retire(_ handle: EasyHandle) {
        if let id = handle.transfer?.ticket.id { running[id] = nil }
        curl_multi_remove_handle(multi, handle.easy)
        handle.end()
        if spare.count < Self.maximumSpare { spare.append(handle) }
    }

    private func giveAnswers() {
        for (ticket, outcome) in answers { ticket.finish(outcome) }
        answers.removeAll(keepingCapacity: true)
    }
}

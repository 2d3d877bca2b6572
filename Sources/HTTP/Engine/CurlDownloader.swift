internal import GannetBase

/// The live engine: all transfers on one thread of its own, around libcurl's multi interface.
///
/// Connections are kept and used again. Nothing else passes from one transfer to another: no cookies, no credentials, no learnt redirects.
package final class CurlDownloader: Downloader {
    private let inbox: TransferInbox
    private let thread: Mutex<OwnedThread?>

    /// Starts the thread.
    package init(_ settings: FetchSettings = FetchSettings()) throws(InvalidOptions) {
        let settings = try EngineSettings(settings)
        guard MultiHandle.isLibraryReady else { throw InvalidOptions("libcurl could not be started.") }
        guard let inbox = TransferInbox() else { throw InvalidOptions("\(SystemLimit.sentence(errno)).") }
        self.inbox = inbox
        let thread = OwnedThread(name: "http") { TransferLoop.run(settings, inbox) }
        guard let thread else { throw InvalidOptions("The system gives no thread to the HTTP engine.") }
        self.thread = Mutex(thread)
    }

    deinit {
        shutdown()
    }

    package func download(_ request: DownloadRequest, through gate: (any HopGate)?) async throws(FetchError) -> Download {
        try await end(of: request, through: gate).result.get()
    }

    /// Thousands of tasks wait here, and each keeps the variables of this function.
    package func end(of request: DownloadRequest, through gate: (any HopGate)?) async -> DownloadEnd {
        let ticket: TransferTicket
        switch begin(request, gate) {
        case .success(let begun): ticket = begun
        case .failure(let error): return DownloadEnd(.failure(error))
        }
        await withTaskCancellationHandler {
            var heard = await news(of: ticket) { inbox.start(ticket) }
            while case .atGate(let hop) = heard {
                // The gate belongs to the caller's task, which waits there itself: nothing is left behind when it is cancelled.
                let isAdmitted = await gate?.admits(hop) ?? true
                heard = await news(of: ticket) { if isAdmitted { inbox.goOn(ticket) } else { inbox.cancel(ticket) } }
            }
        } onCancel: {
            if ticket.cancel() { inbox.cancel(ticket) }
        }
        return ticket.takeEnd()
    }

    @inline(never) private func begin(_ request: DownloadRequest, _ gate: (any HopGate)?) -> Result<TransferTicket, FetchError> {
        do throws(RequestRejection) {
            let target = try CanonicalURL(request.url)
            return .success(inbox.makeTicket(for: request, to: target, asksAtEachHop: gate?.asksAtEachHop))
        } catch {
            return .failure(FetchError(kind: .invalidURL, url: request.url, detail: error.description))
        }
    }

    /// Tells the engine's thread something, and waits for what it says of the ticket next.
    private func news(of ticket: TransferTicket, after message: () -> Void) async -> TransferTicket.News {
        await withCheckedContinuation { continuation in
            if ticket.start(continuation) { message() }
        }
    }

    package var lag: Duration { inbox.lag.average() }

    /// Ends the thread and waits for it, which takes milliseconds. Unfinished downloads, and later ones, fail as cancelled.
    package func shutdown() {
        inbox.stop()
        thread.withLock { $0.take() }?.join()
    }
}

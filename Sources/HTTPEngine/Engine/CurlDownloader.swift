internal import Threads

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The live engine: all transfers on one thread of its own, around libcurl's multi interface.
///
/// Connections are kept and used again. Nothing else passes from one transfer to another: no cookies, no credentials, no learnt
/// redirects.
package final class CurlDownloader: Downloader {
    private let inbox: TransferInbox
    private let thread: Mutex<OwnedThread?>

    /// Starts the thread.
    package init(_ options: DownloaderOptions = DownloaderOptions()) throws(DownloaderOptions.Invalid) {
        try options.validate()
        guard CurlLibrary.isReady else { throw .init(description: "libcurl could not be started.") }
        guard let inbox = TransferInbox() else { throw .init(description: "\(SystemLimit.sentence(errno)).") }
        self.inbox = inbox
        let thread = OwnedThread(name: "http") { TransferLoop.run(options, inbox) }
        guard let thread else { throw .init(description: "The system gives no thread to the HTTP engine.") }
        self.thread = Mutex(thread)
    }

    deinit {
        shutdown()
    }

    package func download(_ request: DownloadRequest) async throws(FetchError) -> Download {
        let target: RequestTarget
        do throws(URLRejection) {
            target = try RequestTarget(request.url)
        } catch {
            throw FetchError(kind: .invalidURL, url: request.url, detail: error.description)
        }
        let ticket = inbox.makeTicket(for: request, to: target)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if ticket.start(continuation) { inbox.start(ticket) }
            }
        } onCancel: {
            if ticket.cancel() { inbox.cancel(ticket) }
        }
        return try outcome.get()
    }

    /// Ends the thread and waits for it, which takes milliseconds; what has not finished fails as cancelled, and so does what comes later.
    package func shutdown() {
        inbox.stop()
        let running = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        running?.join()
    }
}

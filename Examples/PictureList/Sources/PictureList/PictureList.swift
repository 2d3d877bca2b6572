import Foundation
import GannetFetch

/// The rows of a list of pictures: what a view shows while they come, and when one does not.
@MainActor public final class PictureList {
    public enum Row: Sendable {
        case placeholder
        case picture(FetchedImage)
        case failed(FetchError)
    }

    public let urls: [URL]
    public private(set) var rows: [URL: Row] = [:]
    /// Told of each row that has changed.
    public var changed: (URL) -> Void = { _ in }

    private let fetcher: Fetcher
    private var loading: [URL: Task<Void, Never>] = [:]
    /// Tells a row's load from one that was begun after it had left the view and come back.
    private var loads: [URL: Int] = [:]

    public init(_ urls: [URL], fetcher: Fetcher) {
        self.urls = urls
        self.fetcher = fetcher
    }

    /// A row has come into view: its picture is fetched, unless it is there.
    public func appeared(_ url: URL) {
        if case .picture = rows[url] { return }
        guard loading[url] == nil else { return }
        show(.placeholder, for: url)
        let number = loads[url, default: 0] + 1
        loads[url] = number
        loading[url] = Task {
            do throws(FetchError) {
                let image = try await fetcher.image(for: FetchRequest(url) { $0.priority = .high })
                show(.picture(image), for: url)
            } catch {
                // A picture that was scrolled out of view has not failed.
                if error.kind != .cancelled { show(.failed(error), for: url) }
            }
            if loads[url] == number { loading[url] = nil }
        }
    }

    /// A row has left the view: what it waits for is no longer wanted here.
    public func disappeared(_ url: URL) { loading.removeValue(forKey: url)?.cancel() }

    /// Returns when nothing is under way any more.
    public func settled() async {
        for task in loading.values { await task.value }
    }

    private func show(_ row: Row, for url: URL) {
        rows[url] = row
        changed(url)
    }
}

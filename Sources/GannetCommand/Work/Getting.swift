import ClusterState
import CommandLineKit
import Gannet
import GannetBasics
import HTTPEngine

/// `gannet get` at work.
struct Getting: Sendable {
    private let options: GetOptions
    private let settings: FetchSettings
    private let cluster: ClusterState
    private let console: Console

    init(_ options: GetOptions, _ settings: FetchSettings, _ cluster: ClusterState, _ console: Console) {
        self.options = options
        self.settings = settings
        self.cluster = cluster
        self.console = console
    }

    func run() async throws(CommandFailure) -> ExitStatus {
        guard !options.fetches else { return try await fetch() }
        let asked = try? RequestedURL(options.url, headers: options.headers)
        let found = try await CommandFailure.wrapping {
            if let asked, let page = try await cluster.page(asked.id) { (page, try await cluster.now()) } else { nil as (Page, Int)? }
        }
        guard let (page, now) = found else {
            console.error("Nothing is known of this URL; '--fetch' fetches it.")
            return .someFailed
        }
        if options.showsMeta {
            try console.print(PageReport(page: page, now: now).json.text)
            return .done
        }
        if let failure = page.failure {
            console.complain("failed: \(failure.sentence)")
            return .someFailed
        }
        let folder = try options.store.folder.map { path throws(CommandFailure) in try WorkFolder.reading(path) }
        let body = try await CommandFailure.wrapping { try await cluster.body(of: page, in: folder) }
        guard let body else {
            let hint =
                page.content.fields[.file] == nil ? "it is not kept any more" : "it is in a worker's folder: name that with '--store'"
            console.error("The URL was fetched, but its body is not here: \(hint). '--fetch' fetches it again.")
            return .someFailed
        }
        return try deliver(body)
    }

    private func fetch() async throws(CommandFailure) -> ExitStatus {
        options.fetch.sayWhatProxyMeans(console)
        var fetching = options.fetch.fetching(options.store)
        fetching.concurrency = 1
        fetching.headers = options.headers
        fetching.refresh = options.refresh
        fetching.maximumAge = options.maximumAge
        let how = fetching
        let fetch = try await CommandFailure.wrapping { try await ClusterFetch(cluster, settings, how) }
        let fetched = await fetch.body(of: options.url)
        await fetch.close()
        switch fetched {
        case .success(let bytes): return try deliver(bytes)
        case .failure where Task.isCancelled: return .someFailed
        case .failure(let error):
            console.complain("failed: \(error.description)")
            return .someFailed
        }
    }

    private func deliver(_ body: [UInt8]) throws(CommandFailure) -> ExitStatus {
        if let path = options.output, path != "-" {
            try OutputFile.write(body, to: path)
            console.detail("wrote \(Amounts.bytes(body.count)) to \(path)")
            return .done
        }
        guard isatty(STDOUT_FILENO) == 0 || options.output == "-" || !body.contains(0) else {
            throw CommandFailure(.wrongUsage, "The body is no text, which would disturb this terminal: '-o <file>' writes it to a file.")
        }
        try console.print(bytes: body)
        return .done
    }
}

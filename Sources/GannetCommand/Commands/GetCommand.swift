import Crawl
import GannetBase
import GannetHTTP
import GannetQueue
import Results

/// `gannet get URL`: the body of a URL that was fetched.
struct GetCommand {
    private static let output = Flag("output", short: "o", .file(), "The file that receives the body instead of standard output.")
    private static let fetch = Toggle("fetch", "Fetch the URL when its body is not kept. Other callers in the cluster share the fetch.")
    private static let meta = Toggle("meta", "Print the outcome of the URL as one JSON object, instead of the body.")
    private static let maxAge = Flag(
        "max-age", .duration(in: .zero...(.seconds(365 * 86_400))),
        "With '--fetch': how old the kept body may be, whatever its origin says."
    )
    private static let refresh = Toggle("refresh", "With '--fetch': ask the origin, whatever is kept.")

    static let spec = CommandSpec(
        "get",
        summary: "Print the body of a URL that was fetched, or fetch it.",
        positional: URLArgument.positional,
        flags: [output.entry, fetch.entry, meta.entry, maxAge.entry, refresh.entry, HeaderOption.header.entry] + StoreOptions.flagsToRead
            + FetchOptions.flagsForCalls + QueueTarget.flagsWithoutQueue,
        mostUsed: ["output", "fetch", "meta"],
        examples: [
            "gannet get https://example.com/a.jpg -o a.jpg": "Writes the body of a URL that was fetched into a file.",
            "gannet get https://example.com/a.jpg --fetch > a.jpg": "Fetches the URL when its body is not kept.",
        ]
    ) { try await GetCommand($0).run() }

    private let url: URLArgument
    private let output: String?
    private let fetches: Bool
    private let showsMeta: Bool
    private let maximumAge: Duration?
    private let refresh: Bool
    private let store: StoreOptions
    private let fetch: FetchOptions
    private let target: QueueTarget

    private var console: Console { target.console }

    private init(_ arguments: Arguments) throws {
        output = try arguments.optional(Self.output)
        fetches = arguments.isSet(Self.fetch)
        showsMeta = arguments.isSet(Self.meta)
        maximumAge = try arguments.optional(Self.maxAge)
        refresh = arguments.isSet(Self.refresh)
        store = try StoreOptions(arguments)
        fetch = try FetchOptions(arguments, forJobs: false)
        target = try QueueTarget(arguments)
        if fetches, showsMeta { throw arguments.usageError("'--meta' shows what is known; it does not fetch.") }
        if !fetches, refresh || maximumAge != nil { throw arguments.usageError("'--refresh' and '--max-age' need '--fetch'.") }
        url = try URLArgument(arguments)
    }

    private func run() async throws -> ExitStatus {
        let settings = try fetch.checkedSettings()
        return try await target.connection.withAccess(console, patience: .zero, looking: !fetches) { access, interruption in
            let outcome = await interruption.cancelling {
                let (url, text) = try await url.find(in: access.cluster, queue: target.queue, console)
                return fetches ? try await fetch(url, text, access.cluster, settings) : try await look(url, access.cluster)
            }
            return try outcome.get(unlessInterrupted: interruption) ?? interruption.status
        }
    }

    private func look(_ url: RequestedURL, _ cluster: ClusterState) async throws -> ExitStatus {
        // The folder of a run or an export has a record of its own, whatever Redis still knows.
        var reason: String?
        for folder in store.folders {
            switch try WorkFolder.reading(folder).recordedBody(of: url.id) {
            case .success(let body) where !showsMeta: return try deliver(body)
            case .failure(let failure): reason = reason ?? failure.sentence
            default: break
            }
        }
        guard let outcome = try await cluster.outcome(url.id, host: url.host) else {
            console.error(reason ?? "Nothing is known of this URL; '--fetch' fetches it.")
            return .someFailed
        }
        if showsMeta {
            try console.print(Self.json(outcome, now: try await cluster.now()).text)
            return .done
        }
        if let failure = outcome.failure {
            console.complain("failed: \(failure.sentence)")
            return .someFailed
        }
        let stores = try store.openToRead()
        guard let body = try await cluster.body(of: outcome, in: stores) else {
            let place = outcome.content.place
            let isGone = place == .redis || stores.contains { $0.keeps(place) }
            let hint = isGone ? "it is not kept any more" : "a worker has put it into a folder: name that with '--store'"
            console.error(reason ?? "The URL was fetched, but its body is not here: \(hint). '--fetch' fetches it again.")
            return .someFailed
        }
        return try deliver(body)
    }

    /// - Parameter text: The URL as it was given or enqueued: with its credentials.
    private func fetch(
        _ url: RequestedURL, _ text: String, _ cluster: ClusterState, _ settings: FetchSettings
    ) async throws -> ExitStatus {
        guard !url.hasOtherHeaders else {
            throw CommandFailure(
                .wrongUsage, "The requests of this URL have headers, which only its batch knows: name the URL with its '--header'.")
        }
        fetch.sayWhatProxyMeans(console)
        var fetching = fetch.fetching(cacheLimit: store.cacheLimit)
        fetching.concurrency = 1
        fetching.headers = url.headers
        fetching.refresh = refresh
        fetching.maximumAge = maximumAge
        let client = try await ClusterFetch(cluster, settings, fetching)
        let (fetched, remembered) = await client.body(of: text)
        await client.close()
        switch fetched {
        case .success(let bytes): return try deliver(bytes)
        case .failure where Task.isCancelled: return .someFailed
        case .failure(let error):
            if let remembered {
                console.complain(
                    "failed \(Amounts.time(remembered.age)) ago: \(error.description) This is remembered for another \(Amounts.time(remembered.remaining)); '--refresh' asks again."
                )
            } else {
                console.complain("failed: \(error.description)")
            }
            if error.kind == .refusedAddress, let network = AddressGuard.network(refusedIn: error.description) {
                console.note(WorkTally.advice(for: network))
            }
            return .someFailed
        }
    }

    private func deliver(_ body: [UInt8]) throws -> ExitStatus {
        if let output, output != "-" {
            try OutputFile.write(body, to: output)
            console.detail("wrote \(Amounts.bytes(body.count)) to \(output)")
            return .done
        }
        guard isatty(Surroundings.current.output) == 0 || output == "-" || !body.contains(0) else {
            throw CommandFailure(.wrongUsage, "The body is no text, which would disturb this terminal: '-o <file>' writes it to a file.")
        }
        try console.print(bytes: body)
        return .done
    }

    /// The outcome of a URL, for scripts. The names are a contract.
    private static func json(_ outcome: URLOutcome, now: Int) -> JSONValue {
        let content = outcome.content
        return [
            "url": .string(RedactedURL.withoutSecrets(content.url)), "outcome": .string(outcome.isNegative ? "failed" : "fetched"),
            "httpStatus": JSONValue(content.httpStatus), "bytes": .integer(content.size),
            "sha256": JSONValue(content.digest?.hexadecimal), "contentType": JSONValue(content.fields[.contentType]),
            "file": JSONValue(content.fields[.file]), "ageSeconds": JSONValue(outcome.age(at: now)),
            "freshSeconds": JSONValue(max(.zero, outcome.freshFor(at: now))),
            "error": outcome.failure.map { ["class": .string($0.kind), "message": .string($0.sentence)] } ?? .null,
        ]
    }
}

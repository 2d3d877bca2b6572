internal import Crawl
internal import GannetBase
internal import GannetHTTP
internal import GannetQueue
internal import Lists

/// A list of URLs that a client sends into a queue. Its memory does not grow with the list: nothing more is read from the client than Redis takes.
struct JobUpload: Sendable {
    private let body: RequestBody
    private let queue: FetchQueue
    private let name: String?
    private let format: ListFormat
    private let options: BatchOptions
    /// Of the whole list, as the client announces it.
    private let length: String

    /// The bytes at a list's beginning by which it is known again.
    private static let known = 64 << 10

    /// Throws for a type of list that is not read here.
    init(_ request: EndpointRequest, queue: FetchQueue) throws(Problem) {
        let type = request.request.header("content-type").map { $0.prefix { $0 != ";" }.lowercased().replacing(" ", with: "") }
        switch type {
        case "text/plain"?, nil: format = .text
        case "application/x-ndjson"?, "application/jsonl"?, "application/json-lines"?: format = .jsonl
        default:
            throw Problem(
                415, "list-type", "Send 'Content-Type: text/plain' with one URL on each line, or application/x-ndjson with a field 'url'.")
        }
        name = request.items["batch"]
        length = request.request.header("content-length") ?? "streamed"
        self.queue = queue
        body = request.request.body
        var options = BatchOptions()
        options.refresh = request.items.flag("refresh")
        if let priority = request.items["priority"].flatMap({ Priority(rawValue: $0) }) { options.priority = priority }
        if request.items["robots"] == Manners.Robots.obey.rawValue { options.manners = .obeying }
        if let optOuts = request.items["optOuts"].flatMap({ Manners.OptOuts(rawValue: $0) }) { options.manners.optOuts = optOuts }
        if request.items.flag("keepWire") { options.keeping = .wire }
        if request.items.flag("cache") { options.keeping = .cache }
        self.options = options
    }

    func answer() async -> HTTPServiceAnswer {
        let batch = name ?? String(UInt64.random(in: .min ... .max), radix: 36)
        do {
            let summary = try await feed(batch)
            let json: JSONValue = [
                "schema": 1, "queue": .string(queue.name), "batch": summary.accepted > 0 ? .string(batch) : .null,
                "accepted": .integer(summary.accepted), "invalid": .integer(summary.invalid),
                "complaints": .array(summary.complaints.map { ["place": .string("\($0.place)"), "reason": .string($0.reason)] }),
            ]
            return HTTPServiceAnswer(json: json, status: summary.accepted > 0 || summary.invalid == 0 ? 200 : 422)
        } catch let error as ListError {
            return Problem(422, "list", "The list cannot be read: \(Self.reason(error)).").answer
        } catch {
            // A batch without a name of the client's cannot go on. The URLs that were accepted stay.
            if name == nil { try? await queue.close(batch: batch) }
            return Problem(error).answer
        }
    }

    /// A gateway reads no tables and no XML, so the other errors of lists do not come here.
    private static func reason(_ error: ListError) -> String {
        switch error {
        case .other(let what): "it is \(what)"
        case .jsonArray: "it is a JSON array, and not an object on each line"
        case .packed: "it is packed with gzip. Send it unpacked"
        default: "it is damaged"
        }
    }

    private func feed(_ batch: String) async throws -> EnqueueSummary {
        var beginning: [[UInt8]] = []
        var size = 0
        while size < Self.known, let piece = try await body.next() {
            beginning.append(piece)
            size += piece.count
        }
        let source = name == nil ? "" : source(beginning)
        var rows = UploadedRows(beginning, of: body, format)
        // A list without a URL begins no batch.
        var refused = RefusedRows()
        var first = try await rows.next()
        while let batch = first, refused.add(all: batch) { first = try await rows.next() }
        guard first != nil else { return refused.summary }
        var producer = try await Producer(queue, batch: batch, from: source, options: options, behind: refused)
        // The rows of another list would be skipped, as if they had been accepted.
        guard producer.origin == source else {
            throw Problem(409, "other-list", "The batch '\(batch)' was begun with another list. Send this one under another name.")
        }
        while let batch = first {
            for row in batch { try await producer.add(row) }
            first = try await rows.next()
        }
        try await producer.finish()
        return producer.summary
    }

    /// The same for the same list, whatever pieces it comes in.
    private func source(_ beginning: [[UInt8]]) -> String {
        let digest = SHA256Digest(of: Array(beginning.joined().prefix(Self.known)))
        return "gateway-\(digest.description.prefix(32))-\(length)"
    }
}

/// The rows of a list as they come, from the pieces of a body.
private struct UploadedRows {
    private let body: RequestBody
    private let reader: ListReader
    private var beginning: ArraySlice<[UInt8]>
    /// The rest of the last piece, which has to be read.
    private var piece: ArraySlice<UInt8> = []
    private var isOver = false

    /// - Parameter beginning: The pieces that were taken from the body before.
    init(_ beginning: [[UInt8]], of body: RequestBody, _ format: ListFormat) {
        self.body = body
        self.beginning = beginning[...]
        var list = ListOptions()
        list.format = format
        // The client could have the gateway unpack for hours what it sends in a moment.
        list.unpacks = false
        reader = ListReader(list)
    }

    /// The next rows, perhaps none; nil at the end.
    mutating func next() async throws -> RowBatch? {
        if isOver { return nil }
        try Task.checkCancellation()
        var rows = RowBatch()
        if piece.isEmpty {
            let next = try await beginning.isEmpty ? body.next() : beginning.removeFirst()
            guard let next else {
                isOver = true
                try reader.finish(into: &rows)
                return rows
            }
            piece = next[...]
        }
        let (isMore, left) = try piece.withUnsafeBytes { bytes in
            var chunk = bytes
            let isMore = try reader.read(&chunk, into: &rows)
            return (isMore, chunk.count)
        }
        piece = isMore ? piece.suffix(left) : []
        return rows
    }
}

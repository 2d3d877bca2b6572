import CCurl
internal import GannetBase

/// The exchange of a transfer's current hop, while it goes on. It lives on the engine's thread.
struct WireHop {
    private let record: WireRecord
    private var exchange = WireRecord.Exchange()
    private var bytes: [UInt8] = []
    private var file: BodyFile?
    private var count = 0

    init(_ record: WireRecord) { self.record = record }

    /// libcurl may send a request again on another connection. Nothing of the earlier one counts.
    /// - Parameter address: That of the origin; nil where it is unknown.
    mutating func requestStarts(to address: String?) {
        self = WireHop(record)
        exchange.remoteAddress = address
    }

    mutating func requestHeadGoes(_ part: UnsafeRawBufferPointer) { exchange.requestHead += part }

    /// - Parameter isFirst: For a status line. It follows an interim answer where there was one.
    mutating func headerCame(_ line: UnsafeRawBufferPointer, isFirst: Bool) {
        if isFirst { exchange.answerHead.removeAll(keepingCapacity: true) }
        exchange.answerHead += line
    }

    mutating func headersEnded(_ protocolName: String) { exchange.protocolName = protocolName }

    mutating func bodyCame(_ part: UnsafeRawBufferPointer, upTo most: Int = .max) throws(StorageFailure) {
        let part = UnsafeRawBufferPointer(rebasing: part.prefix(max(0, most - count)))
        count += part.count
        if file == nil, record.takeMemory(part.count) {
            bytes += part
            return
        }
        try openFile().write(part)
    }

    private mutating func openFile() throws(StorageFailure) -> BodyFile {
        if let file { return file }
        let new = try BodyFile(in: record.folder)
        try new.write(bytes)
        file = new
        bytes = []
        return new
    }

    /// Adds the exchange to the record, and is ready for the next hop.
    /// - Parameter isDownloaded: Whether the caller gets the very bytes of the body.
    mutating func ended(_ url: String, isDownloaded: Bool, cut: WireRecord.Cut?) throws(StorageFailure) {
        (exchange.url, exchange.cut) = (url, cut)
        exchange.requestHead = Self.withoutSecrets(exchange.requestHead)
        if !isDownloaded {
            exchange.body = .bytes(bytes)
            if let file { exchange.body = .file(WireFile(try file.keep()), count: count) }
        }
        record.add(exchange)
        self = WireHop(record)
    }

    /// A copy of the request goes to people who were not asked for these.
    static func withoutSecrets(_ head: [UInt8]) -> [UInt8] {
        var kept: [UInt8] = []
        for line in head.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let name = line.element.prefix { $0 != UInt8(ascii: ":") }
            if line.offset > 0, name.count < line.element.count, SecretNames.hasHeader(String(decoding: name, as: UTF8.self)) { continue }
            if line.offset > 0, !kept.isEmpty { kept.append(UInt8(ascii: "\n")) }
            kept += line.element
        }
        return kept
    }
}

/// The exchange of the current hop, for a request that wants it.
extension Transfer {
    /// A proxy's own request comes before the phase of the answer.
    func requestHeadGoes(_ part: UnsafeRawBufferPointer) {
        if state.phase == .response { wire?.requestHeadGoes(part) }
    }

    /// Keeps bytes of a body that the caller does not get as they are. False ends the transfer.
    func keepOnWire(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard wire != nil, !state.isSuccess || decoder != nil else { return true }
        do throws(StorageFailure) {
            try wire?.bodyCame(bytes, upTo: state.isSuccess ? .max : state.mostOfOthers)
            return true
        } catch {
            state.stop = .storage(error)
            return false
        }
    }

    /// The current hop has ended in libcurl. Keeps its exchange, if its answer was taken as far as it is wanted.
    func keepExchange(_ code: CURLcode) {
        guard wire != nil, state.phase == .body, state.stop == nil || state.stop == .uninteresting else { return }
        let isWhole = code == CURLE_OK
        if state.isSuccess, !isWhole { return }
        let cut: WireRecord.Cut? = state.stop == .uninteresting ? .length : isWhole ? nil : .disconnect
        do throws(StorageFailure) {
            try wire?.ended(
                RedactedURL.withoutUserInfo(target.text), isDownloaded: state.isSuccess && decoder == nil, cut: cut)
        } catch {
            state.stop = .storage(error)
        }
    }
}

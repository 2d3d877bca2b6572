internal import GannetBase

/// The exchange of a transfer's current hop, while it goes on. It lives on the engine's thread.
struct WireHop {
    private let record: WireRecord
    private var date = Date()
    private var remoteAddress: String?
    private var requestHead: [UInt8] = []
    private var answerHead: [UInt8] = []
    private var protocolName = ""
    private var bytes: [UInt8] = []
    private var file: BodyFile?
    private var count = 0

    init(_ record: WireRecord) { self.record = record }

    /// libcurl may send a request again on another connection. Nothing of the earlier one counts.
    /// - Parameter address: That of the origin; nil where it is unknown.
    mutating func requestStarts(to address: String?) {
        self = WireHop(record)
        remoteAddress = address
    }

    mutating func requestHeadGoes(_ part: UnsafeRawBufferPointer) { requestHead += part }

    /// - Parameter isFirst: For a status line. It follows an interim answer where there was one.
    mutating func headerCame(_ line: UnsafeRawBufferPointer, isFirst: Bool) {
        if isFirst { answerHead.removeAll(keepingCapacity: true) }
        answerHead += line
    }

    mutating func headersEnded(_ protocolName: String) { self.protocolName = protocolName }

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
        var failure: StorageFailure?
        bytes.withUnsafeBytes { bytes in
            do throws(StorageFailure) { try new.write(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
        file = new
        bytes = []
        return new
    }

    /// Adds the exchange to the record, and is ready for the next hop.
    /// - Parameter isDownloaded: Whether the caller gets the very bytes of the body.
    mutating func ended(_ url: String, isDownloaded: Bool, cut: WireRecord.Cut?) throws(StorageFailure) {
        let body: WireRecord.Body
        if isDownloaded {
            body = .downloaded
        } else if let file {
            body = .file(WireFile(try file.keep()), count: count)
        } else {
            body = .bytes(bytes)
        }
        record.add(
            WireRecord.Exchange(
                url: url, date: date, requestHead: Self.withoutSecrets(requestHead), answerHead: answerHead, body: body, cut: cut,
                protocolName: protocolName, remoteAddress: remoteAddress))
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

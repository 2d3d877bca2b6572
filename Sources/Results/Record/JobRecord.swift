internal import GannetBase
internal import GannetPictures
package import GannetQueue

/// How a URL ended: a worker tells it to its output, a folder's journal keeps it as a line, and the manifest's line is made of it.
package struct JobRecord: Sendable, Equatable {
    /// How a job or a row ended. A journal tells only the failed ones from the others.
    package enum Outcome: String, Sendable {
        case fetched
        /// The origin confirmed that the body of an earlier run is current.
        case revalidated
        /// The body was fetched by an earlier run or for another job.
        case there = "cached"
        /// An earlier row has the same URL.
        case repeated
        case failed
        /// The run ended before the URL did.
        case pending
        /// The row is no URL.
        case invalid
    }

    /// A thing that an answer may say about itself, in the order of a line.
    package enum Fact: Int, Sendable {
        /// The URL that answered, where it is not the one that was asked.
        case finalURL
        case entityTag, lastModified, cacheControl, expires, age
    }

    /// The manifest's keys of the facts.
    static let factKeys = ["finalUrl", "etag", "lastModified", "cacheControl", "expires", "age"]
    private static let noFacts = factKeys.map { _ in "" }

    struct Failure: Sendable, Equatable {
        let errorClass: String
        let message: String
    }

    package let id: URLID
    package var outcome: Outcome
    package var status = 0
    package var bytes = 0
    package var digest: [UInt8]?
    package var milliseconds = 0
    /// The body's path within the folder, or its place in an archive or a shard (``PackedPlace``).
    package var file = ""
    var contentType = ""
    package var errorClass = ""
    /// Of a body that was stored, it is the reservation that the answer made of its use.
    package var errorMessage = ""
    /// The picture in the file, where that is not the body itself.
    package var picture: StoredPicture?
    /// The URL without credentials. Only an export records it, because the list of a run can be read again.
    package var url = ""
    /// When the answer was there, in ms since 1970; 0 for an answer of which that is not known.
    package var fetchedAt = 0
    /// A text for each ``Fact``, or none at all.
    private(set) var facts: [String] = []
    /// When the origin said last that the body has not changed, in ms since 1970; 0 where it was not asked again.
    var checkedAt = 0
    /// The digest of the body that an earlier run has fetched last; nil where there was none.
    var lastDigest: [UInt8]?
    /// Why the body could not be asked for again, where it has stayed since an earlier run.
    var staleness: Failure?
    /// The clause about a body that was served as a picture and is none, such as `it looks like HTML`; empty for others.
    package var typeMismatch = ""
    /// The MD5 of the body, where a run has compared it with its list.
    package var md5: [UInt8]?

    package init(_ id: URLID, _ outcome: Outcome = .fetched) { (self.id, self.outcome) = (id, outcome) }

    /// - Parameters:
    ///   - content: Status, size, digest and file of the body, or the error.
    ///   - duration: That of the last attempt; zero if this job made none.
    package init(_ id: URLID, _ outcome: Outcome, _ content: OutcomeContent, duration: Duration = .zero) {
        self.init(id, outcome)
        (status, bytes, digest, milliseconds) = (content.status, content.size, content.digest, Int(duration / .milliseconds(1)))
        file = content.fields[.file] ?? ""
        contentType = content.fields[.contentType] ?? ""
        errorClass = content.fields[.errorClass] ?? ""
        errorMessage = isFailed ? content.failureSentence : content.fields[.optOut] ?? ""
    }
}

extension JobRecord {
    package var isFailed: Bool {
        get { outcome == .failed }
        set { outcome = newValue ? .failed : .fetched }
    }

    /// Whether the body was fetched and is not stored, because its picture is outside the run's bounds. The next run need not fetch it again.
    var isUnfit: Bool { !isFailed && !errorClass.isEmpty }

    /// The body is in a shard or an archive.
    var isPacked: Bool { PackedPlace(file) != nil }

    /// The content of the file: the body, or the picture that was made of it.
    var stored: (bytes: Int, digest: [UInt8]?, contentType: String) {
        picture.map { ($0.bytes, $0.digest, $0.format.mediaType) } ?? (bytes, digest, contentType)
    }

    /// When the body was known to be that of its origin, in ms since 1970; 0 where nothing says so.
    var knownAt: Int { max(fetchedAt, checkedAt) }

    /// Empty for a fact that the answer has not told.
    package subscript(fact: Fact) -> String {
        get { facts.isEmpty ? "" : facts[fact.rawValue] }
        set {
            if facts.isEmpty { facts = Self.noFacts }
            facts[fact.rawValue] = newValue
        }
    }

    /// Whether the origin can be asked if the body has changed since.
    var hasConditions: Bool { !self[.entityTag].isEmpty || !self[.lastModified].isEmpty }

    /// The outcome that this record was made of.
    package func content(of url: String) -> OutcomeContent {
        var content = OutcomeContent(url: url)
        (content.digest, content.status, content.size) = (digest, status, bytes)
        for (field, text) in [(OutcomeContent.Field.file, file), (.contentType, contentType), (.optOut, errorMessage)] where !text.isEmpty {
            content.fields[field] = text
        }
        return content
    }

    /// Longer texts are no facts. A tag that was cut would be another tag.
    private static let longestFact = 512
    private static let longestURL = 4096
    private static let headers: [(Fact, String)] = [
        (.entityTag, "etag"), (.lastModified, "last-modified"), (.cacheControl, "cache-control"), (.expires, "expires"), (.age, "age"),
    ]

    /// Notes the answer's own words about itself.
    /// - Parameters:
    ///   - url: The URL that was asked, without user and password.
    ///   - finalURL: The URL that answered, without user and password.
    ///   - header: The value of a header of the answer.
    package mutating func noteAnswer(at moment: Int, of url: String, from finalURL: String, header: (String) -> String?) {
        fetchedAt = moment
        if finalURL != url, finalURL.utf8.count <= Self.longestURL { self[.finalURL] = finalURL }
        for (fact, name) in Self.headers {
            guard let value = header(name), 1...Self.longestFact ~= value.utf8.count, value.utf8.allSatisfy({ 0x20...0x7e ~= $0 }) else {
                continue
            }
            self[fact] = value
        }
    }
}

/// One record is one line with tabs between its fields. They are id, `+` or `-`, status, bytes, SHA-256, milliseconds, file, content type,
/// error class and error message. The URL may follow, and a picture behind it. In a long line both do, perhaps empty. Then come the last
/// digest, the times of the fetch and of the last check, the answer's facts, and class and message of a failed check. The contradiction to
/// the type comes next, and only where there is one or an MD5 follows. A dot is the last field. Readers skip all other lines, such as those that a killed process or a power cut left.
extension JobRecord {
    private static let shortCounts = 10...12
    private static let longCount = 24
    private static let longCounts = longCount...(longCount + 2)
    private static let tab = UInt8(ascii: "\t")
    /// The last field of a long line. Two lines that ran together have none.
    private static let end = "."

    /// The record's line in the journal, including its line break.
    package var line: [UInt8] {
        var fields = [
            id.bytes.hexadecimal, isFailed ? "-" : "+", String(status), String(bytes), digest?.hexadecimal ?? "", String(milliseconds),
            file, contentType, errorClass, errorMessage,
        ]
        let last = md5.map { [typeMismatch, $0.hexadecimal] } ?? (typeMismatch.isEmpty ? [] : [typeMismatch])
        if fetchedAt != 0 || !facts.isEmpty || checkedAt > 0 || lastDigest != nil || staleness != nil || !last.isEmpty {
            fields += [url, picture?.text ?? "", lastDigest?.hexadecimal ?? "", String(fetchedAt), String(checkedAt)]
            fields += facts.isEmpty ? Self.noFacts : facts
            fields += [staleness?.errorClass ?? "", staleness?.message ?? ""] + last + [Self.end]
        } else {
            fields += picture.map { [url, $0.text] } ?? (url.isEmpty ? [] : [url])
        }
        var line: [UInt8] = []
        for (index, field) in fields.enumerated() {
            if index > 0 { line.append(Self.tab) }
            Self.append(field, to: &line)
        }
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// - Parameter line: Without its line break.
    package init?(line: UnsafeRawBufferPointer) {
        guard let (id, isFailed, fields) = Self.fields(of: line) else { return nil }
        self.init(id, isFailed ? .failed : .fetched)
        func number(_ place: Int) -> Int { Self.number(fields[place]) ?? 0 }
        func hash(_ place: Int) -> [UInt8]? { fields[place].isEmpty ? nil : [UInt8](hexadecimal: fields[place]) }
        func text(_ place: Int) -> String { Self.text(fields[place]) }
        (status, bytes, digest, milliseconds) = (number(2), number(3), hash(4), number(5))
        (file, contentType, errorClass, errorMessage) = (text(6), text(7), text(8), text(9))
        if fields.count > 10 { url = text(10) }
        if fields.count > 11 { picture = StoredPicture(text(11)) }
        guard Self.longCounts.contains(fields.count) else { return }
        (lastDigest, fetchedAt, checkedAt) = (hash(12), number(13), number(14))
        if fields[15...20].contains(where: { !$0.isEmpty }) { facts = (15...20).map(text) }
        if !fields[21].isEmpty { staleness = Failure(errorClass: text(21), message: text(22)) }
        if fields.count > Self.longCount { typeMismatch = text(23) }
        if fields.count > Self.longCount + 1 { md5 = hash(24) }
    }

    /// The part of a line that an index needs; `nil` if the line is not a record. A damaged line must not stand for its URL: no run would fetch that.
    package static func key(of line: UnsafeRawBufferPointer) -> (id: URLID, isFailed: Bool)? {
        fields(of: line).map { ($0.id, $0.isFailed) }
    }

    /// The id, the mark, and all fields, which are valid. An index reads many lines, and makes no texts of them.
    private static func fields(of line: UnsafeRawBufferPointer) -> (id: URLID, isFailed: Bool, all: [UnsafeRawBufferPointer])? {
        guard line.count > 34, line[32] == tab, line[34] == tab, line[33] == UInt8(ascii: "+") || line[33] == UInt8(ascii: "-"),
            let bytes = [UInt8](hexadecimal: line[..<32]), let id = URLID(bytes)
        else { return nil }
        var fields: [UnsafeRawBufferPointer] = []
        fields.reserveCapacity(longCount)
        var start = 0
        for place in line.indices where line[place] == tab {
            fields.append(UnsafeRawBufferPointer(rebasing: line[start..<place]))
            start = place + 1
            if fields.count == longCounts.upperBound { return nil }
        }
        fields.append(UnsafeRawBufferPointer(rebasing: line[start...]))
        let isLong = longCounts.contains(fields.count)
        guard isLong ? fields[fields.count - 1].elementsEqual(end.utf8) : shortCounts.contains(fields.count), number(fields[2]) != nil,
            number(fields[3]) != nil, number(fields[5]) != nil, isDigest(fields[4]), isFile(fields[6]),
            !isLong || isDigest(fields[12]) && number(fields[13]) != nil && number(fields[14]) != nil,
            fields.count <= longCount + 1 || fields[24].count == 32 && fields[24].allSatisfy({ $0.hexadecimalDigit != nil })
        else { return nil }
        let hasPicture = isLong ? !fields[11].isEmpty : fields.count > 11
        if hasPicture, StoredPicture(text(fields[11])) == nil { return nil }
        return (id, line[33] == UInt8(ascii: "-"), fields)
    }

    /// Escapes tabs and line breaks, which separate fields and records.
    private static func append(_ field: String, to line: inout [UInt8]) {
        for byte in field.utf8 {
            switch byte {
            case tab: line += Array(#"\t"#.utf8)
            case UInt8(ascii: "\n"): line += Array(#"\n"#.utf8)
            case UInt8(ascii: "\\"): line += Array(#"\\"#.utf8)
            default: line.append(byte)
            }
        }
    }

    /// Sums of many such numbers are not too large.
    private static func number(_ field: UnsafeRawBufferPointer) -> Int? {
        guard 1...16 ~= field.count, field.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        let number = field.reduce(0) { $0 * 10 + Int($1) - 0x30 }
        return number < 1 << 53 ? number : nil
    }

    private static func isDigest(_ field: UnsafeRawBufferPointer) -> Bool {
        field.isEmpty || field.count == 64 && field.allSatisfy { $0.hexadecimalDigit != nil }
    }

    private static func isFile(_ field: UnsafeRawBufferPointer) -> Bool {
        field.isEmpty || (field.contains(UInt8(ascii: "\\")) ? BodyFolder.isWithin(text(field)) : BodyFolder.isWithin(field))
    }

    private static func text(_ field: UnsafeRawBufferPointer) -> String {
        guard field.contains(UInt8(ascii: "\\")) else { return String(decoding: field, as: UTF8.self) }
        var bytes: [UInt8] = []
        var isEscaped = false
        for byte in field {
            if isEscaped {
                bytes.append(byte == UInt8(ascii: "t") ? tab : byte == UInt8(ascii: "n") ? UInt8(ascii: "\n") : byte)
            } else if byte != UInt8(ascii: "\\") {
                bytes.append(byte)
            }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

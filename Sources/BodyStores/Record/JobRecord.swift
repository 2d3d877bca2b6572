package import ClusterState
internal import GannetBasics
internal import HTTPEngine
internal import ThumbnailMessages

/// How a URL ended when it was last fetched, as a folder's journal records it.
package struct JobRecord: Sendable, Equatable {
    package let id: URLID
    package var isFailed = false
    package var status = 0
    package var bytes = 0
    var digest: [UInt8]?
    package var milliseconds = 0
    /// The body's path within the folder, or its place in an archive (``ArchivePlace``) or a shard (``SamplePlace``).
    package var file = ""
    var contentType = ""
    var errorClass = ""
    /// Of a body that was stored, it is the reservation that the answer made of its use.
    var errorMessage = ""
    /// The picture in the file, where that is not the body itself.
    package var picture: StoredPicture?
    /// The URL without credentials. Only an export records it, because the list of a run can be read again.
    var url = ""

    package init(_ id: URLID) { self.id = id }

    init(_ id: URLID, _ end: JobEnd) {
        self.id = id
        let content = end.content
        isFailed = end.outcome == .failed
        status = content.status
        bytes = content.size
        digest = content.digest
        milliseconds = Int(end.duration / .milliseconds(1))
        file = content.fields[.file] ?? ""
        contentType = content.fields[.contentType] ?? ""
        errorClass = content.fields[.errorClass] ?? ""
        picture = end.picture
        errorMessage = isFailed ? content.failureSentence : content.fields[.optOut] ?? ""
    }
}

extension JobRecord {
    /// Whether the body was fetched and is not stored, because its picture is outside the run's bounds. The next run need not fetch it again.
    var isUnfit: Bool { !isFailed && !errorClass.isEmpty }

    /// The content of the file: the body, or the picture that was made of it.
    var stored: (bytes: Int, digest: [UInt8]?, contentType: String) {
        picture.map { ($0.bytes, $0.digest, $0.format.mediaType) } ?? (bytes, digest, contentType)
    }
}

/// One record is one line with tabs between its fields. They are id, `+` or `-`, status, bytes, SHA-256, milliseconds, file, content type,
/// error class and error message. The URL may follow, and a picture behind it. Readers skip all other lines, such as those that a killed
/// process or a power cut left.
extension JobRecord {
    private static let fieldCounts = 10...12
    private static let tab = UInt8(ascii: "\t")

    /// The record's line in the journal, including its line break.
    package var line: [UInt8] {
        let fields = [
            id.bytes.hexadecimal, isFailed ? "-" : "+", String(status), String(bytes), digest?.hexadecimal ?? "", String(milliseconds),
            file, contentType, errorClass, errorMessage,
        ]
        var line: [UInt8] = []
        let more = picture.map { [url, $0.text] } ?? (url.isEmpty ? [] : [url])
        for (index, field) in (fields + more).enumerated() {
            if index > 0 { line.append(Self.tab) }
            Self.append(field, to: &line)
        }
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// - Parameter line: Without its line break.
    package init?(line: UnsafeRawBufferPointer) {
        guard let (id, isFailed, _) = Self.head(of: line) else { return nil }
        let fields = line.split(separator: Self.tab, omittingEmptySubsequences: false)
        guard let status = Self.number(fields[2]), let bytes = Self.number(fields[3]), let milliseconds = Self.number(fields[5]),
            Self.isDigest(fields[4]), let digest = [UInt8](hexadecimal: fields[4])
        else { return nil }
        self.init(id)
        self.isFailed = isFailed
        self.status = status
        self.bytes = bytes
        self.milliseconds = milliseconds
        self.digest = digest.isEmpty ? nil : digest
        (file, contentType) = (Self.text(fields[6]), Self.text(fields[7]))
        (errorClass, errorMessage) = (Self.text(fields[8]), Self.text(fields[9]))
        if fields.count > 10 { url = Self.text(fields[10]) }
        if fields.count > 11 {
            picture = StoredPicture(Self.text(fields[11]))
            if picture == nil { return nil }
        }
        guard file.isEmpty || BodyFolder.isWithin(file) else { return nil }
    }

    /// The part of a line that an index needs; `nil` if the line is not a record. A damaged line must not stand for its URL: no run would fetch that.
    package static func key(of line: UnsafeRawBufferPointer) -> (id: URLID, isFailed: Bool)? {
        guard let (id, isFailed, tabs) = head(of: line) else { return nil }
        func field(_ number: Int) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: line[(tabs[number - 1] + 1)..<(number < tabs.count ? tabs[number] : line.count)])
        }
        let file = field(6)
        // Few lines have these, and all of such a line is read.
        guard tabs.count + 1 < fieldCounts.upperBound, !file.contains(UInt8(ascii: "\\")) else {
            return JobRecord(line: line).map { ($0.id, $0.isFailed) }
        }
        guard number(field(2)) != nil, number(field(3)) != nil, number(field(5)) != nil, isDigest(field(4)),
            file.isEmpty || BodyFolder.isWithin(file)
        else { return nil }
        return (id, isFailed)
    }

    /// The id, the mark, and the places of the tabs.
    private static func head(of line: UnsafeRawBufferPointer) -> (id: URLID, isFailed: Bool, tabs: [Int])? {
        guard line.count > 34, line[32] == tab, line[34] == tab, line[33] == UInt8(ascii: "+") || line[33] == UInt8(ascii: "-"),
            let bytes = [UInt8](hexadecimal: line[..<32]), let id = URLID(bytes)
        else { return nil }
        var tabs: [Int] = []
        tabs.reserveCapacity(fieldCounts.upperBound)
        for place in line.indices where line[place] == tab {
            tabs.append(place)
            if tabs.count == fieldCounts.upperBound { return nil }
        }
        return fieldCounts.contains(tabs.count + 1) ? (id, line[33] == UInt8(ascii: "-"), tabs) : nil
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
    private static func number(_ field: some Collection<UInt8>) -> Int? {
        guard 1...16 ~= field.count, field.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        let number = field.reduce(0) { $0 * 10 + Int($1) - 0x30 }
        return number < 1 << 53 ? number : nil
    }

    private static func isDigest(_ field: some Collection<UInt8>) -> Bool {
        field.isEmpty || field.count == 64 && field.allSatisfy { $0.hexadecimalDigit != nil }
    }

    private static func text(_ field: Slice<UnsafeRawBufferPointer>) -> String {
        guard field.contains(UInt8(ascii: "\\")) else { return String(decoding: field, as: UTF8.self) }
        var bytes: [UInt8] = []
        var isEscaped = false
        for byte in field {
            if isEscaped {
                bytes.append(byte == UInt8(ascii: "t") ? tab : byte == UInt8(ascii: "n") ? UInt8(ascii: "\n") : byte)
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

internal import GannetBase
package import GannetQueue

/// One record is one line with tabs between its fields. They are id, `+` or `-`, status, bytes, SHA-256, milliseconds, file, content type,
/// error class and error message. The URL may follow, and a picture behind it. In a long line both do, perhaps empty. Then come the last
/// digest, the times of the fetch and of the last check, the words of the answer (``AnswerFacts``), and class and message of a failed check. A dot is
/// the last field. Readers skip all other lines, such as those that a killed process or a power cut left.
extension JobRecord {
    private static let shortCounts = 10...12
    private static let longCount = 24
    private static let tab = UInt8(ascii: "\t")
    /// The last field of a long line. Two lines that ran together have none.
    private static let end = "."

    /// The record's line in the journal, including its line break.
    package var line: [UInt8] {
        var fields = [
            id.bytes.hexadecimal, isFailed ? "-" : "+", String(status), String(bytes), digest?.hexadecimal ?? "", String(milliseconds),
            file, contentType, errorClass, errorMessage,
        ]
        if isLong {
            fields += [
                url, picture?.text ?? "", lastDigest?.hexadecimal ?? "", String(answer.fetchedAt), String(checkedAt), answer.finalURL,
                answer.entityTag, answer.lastModified, answer.cacheControl, answer.expires, answer.age, staleness?.errorClass ?? "",
                staleness?.message ?? "", Self.end,
            ]
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

    private var isLong: Bool { answer != AnswerFacts() || checkedAt > 0 || lastDigest != nil || staleness != nil }

    /// - Parameter line: Without its line break.
    package init?(line: UnsafeRawBufferPointer) {
        guard let (id, isFailed, _) = Self.head(of: line) else { return nil }
        let fields = line.split(separator: Self.tab, omittingEmptySubsequences: false)
        guard let status = Self.number(fields[2]), let bytes = Self.number(fields[3]), let milliseconds = Self.number(fields[5]),
            let digest = Self.digest(fields[4])
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
        if fields.count > 11, fields.count < Self.longCount || !fields[11].isEmpty {
            picture = StoredPicture(Self.text(fields[11]))
            if picture == nil { return nil }
        }
        if fields.count == Self.longCount {
            guard let last = Self.digest(fields[12]), let fetchedAt = Self.number(fields[13]), let checkedAt = Self.number(fields[14])
            else { return nil }
            lastDigest = last.isEmpty ? nil : last
            self.checkedAt = checkedAt
            answer.fetchedAt = fetchedAt
            (answer.finalURL, answer.entityTag) = (Self.text(fields[15]), Self.text(fields[16]))
            (answer.lastModified, answer.cacheControl) = (Self.text(fields[17]), Self.text(fields[18]))
            (answer.expires, answer.age) = (Self.text(fields[19]), Self.text(fields[20]))
            if !fields[21].isEmpty { staleness = Staleness(errorClass: Self.text(fields[21]), message: Self.text(fields[22])) }
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
        let isLong = tabs.count + 1 == longCount
        // Few lines have these, and all of such a line is read.
        guard isLong ? field(11).isEmpty : tabs.count + 1 < shortCounts.upperBound, !file.contains(UInt8(ascii: "\\")) else {
            return JobRecord(line: line).map { ($0.id, $0.isFailed) }
        }
        guard number(field(2)) != nil, number(field(3)) != nil, number(field(5)) != nil, isDigest(field(4)),
            !isLong || isDigest(field(12)) && number(field(13)) != nil && number(field(14)) != nil,
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
        tabs.reserveCapacity(longCount)
        for place in line.indices where line[place] == tab {
            tabs.append(place)
            if tabs.count == longCount { return nil }
        }
        let isWhole =
            tabs.count + 1 == longCount
            ? line[(tabs[tabs.count - 1] + 1)...].elementsEqual(end.utf8) : shortCounts.contains(tabs.count + 1)
        return isWhole ? (id, line[33] == UInt8(ascii: "-"), tabs) : nil
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

    /// Empty where the field is; nil for text that is no digest.
    private static func digest(_ field: some Collection<UInt8>) -> [UInt8]? {
        isDigest(field) ? [UInt8](hexadecimal: field) : nil
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

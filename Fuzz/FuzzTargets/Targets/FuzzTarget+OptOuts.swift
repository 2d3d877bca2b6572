import GannetHTTP

extension FuzzTarget {
    /// The input is header lines of an answer, each a name and a value. The verdict has to follow from what the lines say.
    static let optOuts = FuzzTarget(name: "opt-outs", maximumLength: 512) {
        [
            "X-Robots-Tag: noai, otherbot: noindex, none\nx-robots-tag:gannet: nofollow,noimageai",
            "tdm-reservation: 1\nX-Robots-Tag: *: noml",
            "X-Robots-Tag: unavailable_after: Sunday, 06-Nov-94 08:49:37 GMT, noimageindex",
            "X-Robots-Tag: max-snippet: 20, a: b: Gannet/1 : NONE",
        ].map { Array($0.utf8) }
    } check: { (input) throws(BrokenInvariant) in
        let fields = String(decoding: input, as: UTF8.self).split(separator: "\n").map { line in
            let name = String(line.prefix { $0 != ":" })
            return (name: name, value: String(line.dropFirst(name.count + 1)))
        }
        let forPage = OptOut.refusal(in: fields, for: "gannet", isImage: false)
        let forImage = OptOut.refusal(in: fields, for: "gannet", isImage: true)
        try require(forPage == nil || forImage != nil, "\(forPage ?? "") refuses a page and no image")
        for (refusal, isImage) in [(forPage, false), (forImage, true)] {
            try require(refusal == slowRefusal(fields, isImage: isImage), "\(fields): \(refusal ?? "nothing") refuses")
            try require(OptOut.refusal(in: fields, for: "GANNET/2", isImage: isImage) == refusal, "the agent's case or version counts")
            // The parser reads each field alone, and names the first that refuses.
            let single = fields.lazy.compactMap { OptOut.refusal(in: [$0], for: "gannet", isImage: isImage) }.first
            try require(single == refusal, "a field depends on another")
            let shouted = fields.map { (name: upper($0.name), value: upper($0.value)) }
            try require(OptOut.refusal(in: shouted, for: "gannet", isImage: isImage) == refusal, "the case of a header counts")
            guard let refusal else { continue }
            let name = refusal.prefix { $0 != ":" }
            let again = OptOut.refusal(in: [(String(name), String(refusal.dropFirst(name.count + 2)))], for: "gannet", isImage: isImage)
            try require(again == refusal, "\(refusal) is not a refusal itself")
        }
    }

    /// In ASCII alone: the case of other letters can make them ASCII's.
    private static func upper(_ text: String) -> String {
        String(decoding: text.utf8.map { 0x61...0x7a ~= $0 ? $0 & 0xdf : $0 }, as: UTF8.self)
    }

    private static func lower(_ text: some StringProtocol) -> String {
        String(decoding: text.utf8.map { 0x41...0x5a ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        return String(decoding: text.utf8.drop(while: isBlank).reversed().drop(while: isBlank).reversed(), as: UTF8.self)
    }

    /// A list as pairs of an agent and a directive, from which the first refusal is chosen.
    private static func slowRefusal(_ fields: [(name: String, value: String)], isImage: Bool) -> String? {
        for field in fields {
            let elements = lower(field.value).utf8.split(separator: 0x2c).map { trimmed(Substring($0)) }
            switch lower(field.name) {
            case "tdm-reservation": if elements.contains("1") { return "tdm-reservation: 1" }
            case "x-robots-tag":
                let refusing = ["noai", "noindex", "noml", "none"] + (isImage ? ["noimageai", "noimageindex"] : [])
                for (agent, directive) in pairs(elements) where refusing.contains(directive) {
                    if agent == "*" { return "X-Robots-Tag: \(directive)" }
                    if agent == "gannet" { return "X-Robots-Tag: gannet: \(directive)" }
                }
            default: break
            }
        }
        return nil
    }

    private static func pairs(_ elements: [String]) -> [(agent: String, directive: String)] {
        var agent = "*"
        var pairs: [(agent: String, directive: String)] = []
        var isBehindDate = false
        for element in elements {
            let isDate = isBehindDate && element.utf8.first.map { 0x30...0x39 ~= $0 } ?? false
            isBehindDate = false
            if isDate { continue }
            // Names, and a directive or a value at the end.
            var parts = element.utf8.split(separator: 0x3a, omittingEmptySubsequences: false).map { trimmed(Substring($0)) }
            while parts.count > 1, parts[0] != "unavailable_after", !parts[0].hasPrefix("max-") {
                let name = parts.removeFirst()
                agent = name == "*" ? name : String(decoding: name.utf8.prefix(while: isPartOfName), as: UTF8.self)
            }
            isBehindDate = parts.count > 1 && parts[0] == "unavailable_after"
            if parts.count == 1 { pairs.append((agent, parts[0])) }
        }
        return pairs
    }

    private static func isPartOfName(_ byte: UInt8) -> Bool {
        0x30...0x39 ~= byte || 0x61...0x7a ~= byte || [0x2d, 0x2e, 0x5f].contains(byte)
    }
}

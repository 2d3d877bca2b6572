/// Refusals in the headers of an answer: its origin does not want it used.
///
/// `X-Robots-Tag` has a list of directives. A name and a colon before a directive mean that this directive and all behind it are for that
/// agent. That ends with the next name, and with the field. So `noai, otherbot: noindex, none` says `noai` to all, and the rest to
/// `otherbot`. `*` names everybody. A directive for all also holds for an agent that is named elsewhere. Nothing takes a refusal back:
/// of contradictory directives the strictest holds.
///
/// `tdm-reservation: 1` reserves the right to mine text and data, for all agents.
package enum OptOut {
    /// The first refusal as a person can read it, such as `X-Robots-Tag: noai`, or nil.
    ///
    /// - Parameters:
    ///   - fields: In the order of the wire. Names may be in any case.
    ///   - agent: The product token, such as `gannet`.
    ///   - isImage: Whether `noimageai` and `noimageindex` count.
    package static func refusal(in fields: [(name: String, value: String)], for agent: String, isImage: Bool) -> String? {
        let agent = ProductToken.name(in: Array(agent.utf8)[...])
        for field in fields {
            if isNamed(field.name.utf8, "x-robots-tag") {
                if let refusal = directive(in: Array(field.value.utf8), for: agent, isImage: isImage) { return "X-Robots-Tag: \(refusal)" }
            } else if isNamed(field.name.utf8, "tdm-reservation") {
                let elements = field.value.utf8.split(separator: comma)
                if elements.contains(where: { ArraySlice($0).trimmedOfBlanks.elementsEqual("1".utf8) }) { return "tdm-reservation: 1" }
            }
        }
        return nil
    }

    private static let forAll: Set<String> = ["noai", "noindex", "noml", "none"]
    private static let forImages: Set<String> = ["noimageai", "noimageindex"]

    /// The first directive of a field that refuses, with the agent before it where one is named.
    private static func directive(in value: [UInt8], for agent: [UInt8]?, isImage: Bool) -> String? {
        // The text before a refusal; nil where the directives are not for us.
        var prefix: String? = ""
        var isBehindDate = false
        for element in value.split(separator: comma) {
            var element = element.trimmedOfBlanks
            // A date may have a comma, and its second half may have colons: "Sunday, 06-Nov-94 08:49:37 GMT".
            let isDate = isBehindDate && element.first?.isDigit ?? false
            isBehindDate = false
            if isDate { continue }
            // Several names may stand before one directive; the last one counts.
            while let colon = element.firstIndex(of: UInt8(ascii: ":")) {
                let name = element[..<colon].trimmedOfBlanks
                if isDirectiveWithValue(name) {
                    isBehindDate = isNamed(name, "unavailable_after")
                    element = []
                } else {
                    prefix = self.prefix(name, agent: agent)
                    element = element[(colon + 1)...].trimmedOfBlanks
                }
            }
            guard let prefix, element.count <= 12 else { continue }
            let directive = String(decoding: element.map(\.lowercased), as: UTF8.self)
            if forAll.contains(directive) || isImage && forImages.contains(directive) { return prefix + directive }
        }
        return nil
    }

    /// The text before a refusal that is for the agent of this name; nil where it is for others.
    private static func prefix(_ name: ArraySlice<UInt8>, agent: [UInt8]?) -> String? {
        if name.elementsEqual([UInt8(ascii: "*")]) { return "" }
        guard let agent, ProductToken.name(in: name) == agent else { return nil }
        return "\(String(decoding: agent, as: UTF8.self)): "
    }

    /// `unavailable_after: date`, `max-snippet: 20` and their like: their colon stands before a value.
    private static func isDirectiveWithValue(_ name: ArraySlice<UInt8>) -> Bool {
        isNamed(name, "unavailable_after") || name.prefix(4).map(\.lowercased).elementsEqual("max-".utf8)
    }

    private static let comma = UInt8(ascii: ",")

    private static func isNamed(_ name: some Collection<UInt8>, _ other: String) -> Bool {
        name.count == other.utf8.count && name.lazy.map(\.lowercased).elementsEqual(other.utf8)
    }
}

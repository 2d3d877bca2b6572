/// What comes before a document's root element, and its name.
enum MarkupRoot {
    /// The name as written, with the prefix of its namespace.
    case element([UInt8])
    case html
    /// There is none, or the text ends before it.
    case none

    /// Leaves the text behind the name.
    init(_ text: inout Markup, _ source: inout ByteSource) {
        self = Self.find(&text, &source)
    }

    private static func find(_ text: inout Markup, _ source: inout ByteSource) -> MarkupRoot {
        while true {
            text.skipBlanks(&source)
            guard text.take("<", &source) else { return .none }
            if text.take("?", &source) {
                guard text.skipInstruction(&source) else { return .none }
            } else if text.take("!--", &source) {
                guard text.skipComment(&source) else { return .none }
            } else if text.take("!", &source) {
                guard let keyword = text.name(&source), lowercase(keyword) == Array("doctype".utf8) else { return .none }
                text.skipBlanks(&source)
                guard let name = text.name(&source) else { return .none }
                if lowercase(name) == Array("html".utf8) { return .html }
                guard text.skipDocumentType(&source) else { return .none }
            } else {
                guard let name = text.name(&source), let first = name.first, Markup.isLetter(first) else { return .none }
                return htmlElements.contains(String(decoding: lowercase(name), as: UTF8.self)) ? .html : .element(name)
            }
        }
    }

    private static func lowercase(_ name: [UInt8]) -> [UInt8] { name.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 } }

    /// What pages and fragments of pages begin with when they have no document type.
    private static let htmlElements: Set<String> = [
        "html", "head", "body", "title", "meta", "link", "base", "style", "script", "noscript", "div", "p", "span", "h1", "h2", "h3",
        "center",
        "table", "a", "b", "i", "br", "hr", "ul", "ol", "pre", "form", "img", "iframe", "font", "strong", "main", "section", "header",
    ]
}

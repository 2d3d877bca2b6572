/// As much of XML as it takes to tell elements from text, byte by byte. It is fed chunks as they come and refuses a DTD, where `ImageProbe`'s `Markup`
/// reads backwards and forwards in three encodings, skips megabytes by `memchr`, and passes over a DTD.
struct MarkupScanner {
    enum Event: Equatable {
        /// Outside of tags; entities are as they are written.
        case text(UInt8)
        /// In a CDATA section: entities mean nothing.
        case verbatim(UInt8)
        /// The section's end. Its two brackets have been events like the section's text.
        case verbatimEnd
        /// A name without its prefix, and the line on which the tag begins.
        case start([UInt8], line: Int)
        case end
        /// `<name/>`
        case empty([UInt8], line: Int)
    }

    private enum State: Equatable {
        case text
        /// Behind a `<`.
        case opened
        case name
        case attributes(quote: UInt8?, isSlashed: Bool)
        case closing
        /// `<? … ?>`
        case instruction(isAsked: Bool)
        /// `<!` and the characters behind it, until they tell which of the next three it is.
        case declaration
        case comment(dashes: Int)
        case verbatim(brackets: Int)
        case documentType(quote: UInt8?)
    }

    private(set) var hasRoot = false
    private var state = State.text
    private var word: [UInt8] = []
    private var begun = 0

    /// No name in a sitemap is nearly as long. A longer one is cut, and then it is not `loc`.
    private static let longestName = 256

    /// Outside of any markup.
    var isBetween: Bool { state == .text }

    mutating func take(_ byte: UInt8, line: Int) throws -> Event? {
        switch state {
        case .text:
            guard byte == UInt8(ascii: "<") else { return .text(byte) }
            state = .opened
            begun = line
            word.removeAll(keepingCapacity: true)
        case .opened: try open(byte, line)
        case .name: return try takeName(byte)
        case .attributes(let quote, let isSlashed): return try takeAttribute(byte, quote, isSlashed)
        case .closing:
            guard byte == UInt8(ascii: ">") else { break }
            state = .text
            return .end
        case .instruction(let isAsked):
            state = isAsked && byte == UInt8(ascii: ">") ? .text : .instruction(isAsked: byte == UInt8(ascii: "?"))
        case .declaration: try takeDeclaration(byte, line)
        case .comment(let dashes):
            let isEnd = dashes >= 2 && byte == UInt8(ascii: ">")
            state = isEnd ? .text : .comment(dashes: byte == UInt8(ascii: "-") ? dashes + 1 : 0)
        case .verbatim: return takeVerbatim(byte)
        case .documentType(let quote): try takeDocumentType(byte, quote, line)
        }
        return nil
    }

    private mutating func open(_ byte: UInt8, _ line: Int) throws {
        switch byte {
        case UInt8(ascii: "/"): state = .closing
        case UInt8(ascii: "?"): state = .instruction(isAsked: false)
        case UInt8(ascii: "!"): state = .declaration
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), 0x80...:
            state = .name
            word.append(byte)
        default: throw ListError.badXML(line: line)
        }
    }

    private mutating func takeName(_ byte: UInt8) throws -> Event? {
        switch byte {
        case UInt8(ascii: ">"), UInt8(ascii: "/"), 0x20, 0x09, 0x0A, 0x0D:
            try checkRoot()
            state = .attributes(quote: nil, isSlashed: false)
            return try takeAttribute(byte, nil, false)
        default:
            if word.count < Self.longestName { word.append(byte) }
            return nil
        }
    }

    private mutating func checkRoot() throws {
        let name = localName
        // Behind a comment, or the `<?xml …?>` of XHTML.
        if !hasRoot, name == Array("html".utf8) { throw ListError.webPage }
        if !hasRoot, name != Array("urlset".utf8), name != Array("sitemapindex".utf8) {
            throw ListError.otherDocument(root: String(decoding: word.prefix(40), as: UTF8.self))
        }
        hasRoot = true
    }

    private var localName: [UInt8] {
        word.firstIndex(of: UInt8(ascii: ":")).map { Array(word[($0 + 1)...]) } ?? word
    }

    private mutating func takeAttribute(_ byte: UInt8, _ quote: UInt8?, _ isSlashed: Bool) throws -> Event? {
        if let quote {
            if byte == quote { state = .attributes(quote: nil, isSlashed: false) }
            return nil
        }
        switch byte {
        case UInt8(ascii: ">"):
            state = .text
            return isSlashed ? .empty(localName, line: begun) : .start(localName, line: begun)
        case UInt8(ascii: "<"): throw ListError.badXML(line: begun)
        case UInt8(ascii: "\""), UInt8(ascii: "'"): state = .attributes(quote: byte, isSlashed: false)
        default: state = .attributes(quote: nil, isSlashed: byte == UInt8(ascii: "/"))
        }
        return nil
    }

    private mutating func takeDeclaration(_ byte: UInt8, _ line: Int) throws {
        word.append(byte)
        let known: [(String, State)] = [
            ("--", .comment(dashes: 0)), ("[CDATA[", .verbatim(brackets: 0)), ("DOCTYPE", .documentType(quote: nil)),
        ]
        for (text, next) in known {
            if word == Array(text.utf8) { state = next }
            if text.utf8.starts(with: word) { return }
        }
        throw ListError.badXML(line: line)
    }

    private mutating func takeVerbatim(_ byte: UInt8) -> Event? {
        guard case .verbatim(let brackets) = state else { return nil }
        if brackets >= 2, byte == UInt8(ascii: ">") {
            state = .text
            return .verbatimEnd
        }
        state = .verbatim(brackets: byte == UInt8(ascii: "]") ? brackets + 1 : 0)
        return .verbatim(byte)
    }

    private mutating func takeDocumentType(_ byte: UInt8, _ quote: UInt8?, _ line: Int) throws {
        if let quote {
            if byte == quote { state = .documentType(quote: nil) }
            return
        }
        switch byte {
        case UInt8(ascii: "["): throw ListError.ownEntities(line: line)
        case UInt8(ascii: ">"): state = .text
        case UInt8(ascii: "\""), UInt8(ascii: "'"): state = .documentType(quote: byte)
        default: break
        }
    }
}

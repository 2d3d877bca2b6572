/// An SVG is an XML document whose root element is `svg`, and it is whole when that is closed. Entities are not expanded, so their content does not
/// matter.
extension ImageReader {
    mutating func svgSize() throws -> ImageSize? {
        guard var text = Markup(source) else { throw ImageProbeError.notAnImage(Resemblance(of: source)) }
        let root = MarkupRoot(&text)
        guard case .element(let name) = root, name == Array("svg".utf8) || name.suffix(4) == Array(":svg".utf8) else {
            if case .html = root { throw ImageProbeError.notAnImage(.html) }
            throw ImageProbeError.notAnImage(.xml)
        }
        part = "the end of its first tag"
        var sides = SVGSides()
        let isEmpty = try takeAttributes(of: &text, into: &sides)
        let size = try sides.size(in: self)
        if !isEmpty { try skipContent(of: &text, root: name) }
        return size
    }

    /// Behind the root's name: whether the root is empty.
    private func takeAttributes(of text: inout Markup, into sides: inout SVGSides) throws -> Bool {
        while true {
            text.skipBlanks()
            if text.take(">") { return false }
            let isEnd = text.take("/")
            if isEnd, text.take(">") { return true }
            guard !isEnd, let attribute = text.attribute() else {
                throw text.peek() == nil ? truncated() : malformed("its first tag is damaged")
            }
            sides.take(attribute.name, attribute.value)
        }
    }

    /// Elements are counted, not compared: where one is not closed, the root is not either.
    private mutating func skipContent(of text: inout Markup, root: [UInt8]) throws {
        part = "its end tag"
        var depth = 1
        while text.skip(past: UInt8(ascii: "<")) {
            if text.take("/") {
                depth -= 1
                if depth == 0 { return try takeEnd(of: &text, root: root) }
            } else if text.take("!--") {
                guard text.skipComment() else { break }
            } else if text.take("![CDATA[") {
                guard text.skipVerbatim() else { break }
            } else if text.take("?") {
                guard text.skipInstruction() else { break }
            } else {
                guard let isEmpty = text.skipTag() else { break }
                if !isEmpty { depth += 1 }
            }
        }
        throw truncated()
    }

    private func takeEnd(of text: inout Markup, root: [UInt8]) throws {
        let name = text.name()
        text.skipBlanks()
        let end = text.next()
        guard let end, let name else { throw truncated() }
        guard end == UInt8(ascii: ">"), name == root else { throw malformed("its last end tag is not that of its root") }
    }
}

/// The name of a document's root element, found behind everything that may precede it.
enum MarkupRoot {
    /// The name as written, with the prefix of its namespace.
    case element([UInt8])
    case html
    /// There is none, or the text ends before it.
    case none

    /// Leaves the text behind the name.
    init(_ text: inout Markup) {
        self = Self.find(&text)
    }

    private static func find(_ text: inout Markup) -> MarkupRoot {
        while true {
            text.skipBlanks()
            guard text.take("<") else { return .none }
            if text.take("?") {
                guard text.skipInstruction() else { return .none }
            } else if text.take("!--") {
                guard text.skipComment() else { return .none }
            } else if text.take("!") {
                guard let keyword = text.name(), lowercase(keyword) == Array("doctype".utf8) else { return .none }
                text.skipBlanks()
                guard let name = text.name() else { return .none }
                if lowercase(name) == Array("html".utf8) { return .html }
                guard text.skipDocumentType() else { return .none }
            } else {
                guard let name = text.name(), let first = name.first, Markup.isLetter(first) else { return .none }
                return htmlElements.contains(String(decoding: lowercase(name), as: UTF8.self)) ? .html : .element(name)
            }
        }
    }

    private static func lowercase(_ name: [UInt8]) -> [UInt8] { name.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 } }

    /// The first elements of pages, and of parts of pages, without a document type.
    private static let htmlElements: Set<String> = [
        "html", "head", "body", "title", "meta", "link", "base", "style", "script", "noscript", "div", "p", "span", "h1", "h2", "h3",
        "center",
        "table", "a", "b", "i", "br", "hr", "ul", "ol", "pre", "form", "img", "iframe", "font", "strong", "main", "section", "header",
    ]
}

/// The size that the root element of an SVG gives.
struct SVGSides {
    private var width: Double?
    private var height: Double?
    private var box: (width: Double, height: Double)?

    mutating func take(_ name: [UInt8], _ value: [UInt8]) {
        switch String(decoding: name, as: UTF8.self) {
        case "width": width = Self.length(value)
        case "height": height = Self.length(value)
        case "viewBox": box = Self.box(value)
        default: break
        }
    }

    /// In CSS pixels. A side that is not given, or relative to something that is not known here, follows from the shape of the view box.
    func size(in reader: ImageReader) throws -> ImageSize? {
        switch (width, height, box) {
        case (let width?, let height?, _): return try reader.size(Self.pixels(width), Self.pixels(height))
        case (let width?, nil, let box?): return try reader.size(Self.pixels(width), Self.pixels(width * box.height / box.width))
        case (nil, let height?, let box?): return try reader.size(Self.pixels(height * box.width / box.height), Self.pixels(height))
        case (nil, nil, let box?):
            // Its numbers are coordinates, which may be as fine as one likes: too many pixels are no reason to refuse it.
            let size = ImageSize(width: Self.pixels(box.width), height: Self.pixels(box.height))
            return reader.limits.permit(size) ? size : nil
        default: return nil
        }
    }

    /// A part of a pixel is a pixel, unless it comes of the arithmetic of units.
    private static func pixels(_ length: Double) -> Int {
        // Infinity ends here, too.
        guard length < 1e12 else { return 1_000_000_000_000 }
        return max(1, Int((length - 1e-6).rounded(.up)))
    }

    private static func length(_ text: [UInt8]) -> Double? {
        var rest = text[...]
        skip(&rest) { Markup.isBlank($0) }
        guard let number = number(&rest), let factor = units[String(decoding: rest.filter { !Markup.isBlank($0) }, as: UTF8.self)] else {
            return nil
        }
        return number > 0 ? number * factor : nil
    }

    /// Of four numbers the last two.
    private static func box(_ text: [UInt8]) -> (width: Double, height: Double)? {
        var rest = text[...]
        var numbers: [Double] = []
        while numbers.count < 4 {
            skip(&rest) { Markup.isBlank($0) || $0 == UInt8(ascii: ",") }
            guard let number = number(&rest) else { return nil }
            numbers.append(number)
        }
        return numbers[2] > 0 && numbers[3] > 0 ? (numbers[2], numbers[3]) : nil
    }

    private static func number(_ rest: inout ArraySlice<UInt8>) -> Double? {
        let start = rest
        skip(&rest) { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
        skip(&rest) { isDigit($0) || $0 == UInt8(ascii: ".") }
        // "em" is a unit, "e3" is an exponent.
        var behind = rest.dropFirst()
        if rest.first.map({ $0 | 0x20 }) == UInt8(ascii: "e") {
            if behind.first == UInt8(ascii: "-") || behind.first == UInt8(ascii: "+") { behind = behind.dropFirst() }
            if behind.first.map(isDigit) == true {
                skip(&behind) { isDigit($0) }
                rest = behind
            }
        }
        guard let value = Double(String(decoding: start[..<rest.startIndex], as: UTF8.self)), value.isFinite else { return nil }
        return value
    }

    private static func isDigit(_ unit: UInt8) -> Bool { (0x30...0x39).contains(unit) }

    private static func skip(_ rest: inout ArraySlice<UInt8>, while condition: (UInt8) -> Bool) {
        rest = rest.drop(while: condition)
    }

    private static let units: [String: Double] = [
        "": 1, "px": 1, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6, "pt": 96 / 72, "pc": 16,
    ]
}

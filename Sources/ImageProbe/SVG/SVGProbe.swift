/// An SVG is an XML document whose root element is `svg`, and it is whole when that is closed. Entities are not expanded, so what they hold does not
/// matter.
enum SVGProbe {
    static func size(in reader: inout ImageReader) throws(ImageProbeError) -> ImageSize? {
        guard var text = Markup(&reader.source) else { throw .notAnImage(Resemblance(of: &reader.source)) }
        let root = MarkupRoot(&text, &reader.source)
        guard case .element(let name) = root, name == Array("svg".utf8) || name.suffix(4) == Array(":svg".utf8) else {
            if case .html = root { throw .notAnImage(.html) }
            throw .notAnImage(.xml)
        }
        reader.part = "the end of its first tag"
        var sides = SVGSides()
        let isEmpty = try takeAttributes(of: &text, into: &sides, &reader)
        let size = try sides.size(in: reader)
        if !isEmpty { try skipContent(of: &text, root: name, &reader) }
        return size
    }

    /// Behind the root's name: whether the root is empty.
    private static func takeAttributes(
        of text: inout Markup, into sides: inout SVGSides, _ reader: inout ImageReader
    ) throws(ImageProbeError) -> Bool {
        while true {
            text.skipBlanks(&reader.source)
            if text.take(">", &reader.source) { return false }
            let isEnd = text.take("/", &reader.source)
            if isEnd, text.take(">", &reader.source) { return true }
            guard !isEnd, let attribute = text.attribute(&reader.source) else {
                throw text.peek(&reader.source) == nil ? reader.truncated() : reader.malformed("its first tag is damaged")
            }
            sides.take(attribute.name, attribute.value)
        }
    }

    /// Elements are counted, not compared: where one is not closed, the root is not either.
    private static func skipContent(of text: inout Markup, root: [UInt8], _ reader: inout ImageReader) throws(ImageProbeError) {
        reader.part = "its end tag"
        var depth = 1
        while text.skip(past: UInt8(ascii: "<"), &reader.source) {
            if text.take("/", &reader.source) {
                depth -= 1
                if depth == 0 { return try takeEnd(of: &text, root: root, &reader) }
            } else if text.take("!--", &reader.source) {
                guard text.skipComment(&reader.source) else { break }
            } else if text.take("![CDATA[", &reader.source) {
                guard text.skipVerbatim(&reader.source) else { break }
            } else if text.take("?", &reader.source) {
                guard text.skipInstruction(&reader.source) else { break }
            } else {
                guard let isEmpty = text.skipTag(&reader.source) else { break }
                if !isEmpty { depth += 1 }
            }
        }
        throw reader.truncated()
    }

    private static func takeEnd(of text: inout Markup, root: [UInt8], _ reader: inout ImageReader) throws(ImageProbeError) {
        let name = text.name(&reader.source)
        text.skipBlanks(&reader.source)
        let end = text.next(&reader.source)
        guard let end, let name else { throw reader.truncated() }
        guard end == UInt8(ascii: ">"), name == root else { throw reader.malformed("its last end tag is not that of its root") }
    }
}

/// What the root element of an SVG says about its size.
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
    func size(in reader: borrowing ImageReader) throws(ImageProbeError) -> ImageSize? {
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
        // What is not a number any more ends here, too.
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

/// Unicode in letters, digits and hyphens (RFC 3492).
enum Punycode {
    private static let base: UInt32 = 36
    private static let firstBias: UInt32 = 72
    private static let delimiter = UInt32(UInt8(ascii: "-"))

    /// The characters behind a text; nil when it is no Punycode.
    /// - Parameter text: In ASCII and small letters.
    static func decoded(_ text: ArraySlice<UInt32>) -> [UInt32]? {
        let split = text.lastIndex(of: delimiter)
        var result = split.map { Array(text[..<$0]) } ?? []
        var rest = split.map { text[($0 + 1)...] } ?? text
        var character: UInt32 = 0x80
        var place: UInt32 = 0
        var bias = firstBias
        while !rest.isEmpty {
            let before = place
            var weight: UInt32 = 1
            for step in 1... {
                guard let digit = rest.popFirst().flatMap(digit) else { return nil }
                let (product, isTooLarge) = digit.multipliedReportingOverflow(by: weight)
                let (sum, overflows) = place.addingReportingOverflow(product)
                guard !isTooLarge, !overflows else { return nil }
                place = sum
                let threshold = threshold(step, bias)
                if digit < threshold { break }
                let (heavier, isTooHeavy) = weight.multipliedReportingOverflow(by: base - threshold)
                guard !isTooHeavy else { return nil }
                weight = heavier
            }
            let count = UInt32(result.count) + 1
            bias = adapted(place - before, count, isFirst: before == 0)
            let (next, overflows) = character.addingReportingOverflow(place / count)
            guard !overflows, Unicode.Scalar(next) != nil else { return nil }
            character = next
            place %= count
            result.insert(character, at: Int(place))
            place += 1
        }
        return result
    }

    /// - Parameter characters: At most some thousand, so no number overflows.
    static func encoded(_ characters: ArraySlice<UInt32>) -> [UInt8] {
        var result = characters.filter { $0 < 0x80 }.map { UInt8($0) }
        let plainCount = UInt32(result.count)
        var count = plainCount
        if plainCount > 0 { result.append(UInt8(ascii: "-")) }
        var character: UInt32 = 0x80
        var delta: UInt32 = 0
        var bias = firstBias
        while let next = characters.lazy.filter({ $0 >= character }).min() {
            delta += (next - character) * (count + 1)
            character = next
            for other in characters {
                if other < character { delta += 1 }
                guard other == character else { continue }
                append(delta, bias, to: &result)
                bias = adapted(delta, count + 1, isFirst: count == plainCount)
                delta = 0
                count += 1
            }
            delta += 1
            character += 1
        }
        return result
    }

    private static func append(_ delta: UInt32, _ bias: UInt32, to result: inout [UInt8]) {
        var rest = delta
        for step in 1... {
            let threshold = threshold(step, bias)
            guard rest >= threshold else { break }
            result.append(letter(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
        }
        result.append(letter(rest))
    }

    private static func threshold(_ step: Int, _ bias: UInt32) -> UInt32 {
        let position = UInt32(step) * base
        return position <= bias + 1 ? 1 : min(position - bias, 26)
    }

    private static func adapted(_ delta: UInt32, _ count: UInt32, isFirst: Bool) -> UInt32 {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var bias: UInt32 = 0
        while delta > 35 * 26 / 2 {
            delta /= 35
            bias += base
        }
        return bias + 36 * delta / (delta + 38)
    }

    private static func digit(_ character: UInt32) -> UInt32? {
        switch character {
        case 0x61...0x7a: character - 0x61
        case 0x30...0x39: character - 0x30 + 26
        default: nil
        }
    }

    private static func letter(_ digit: UInt32) -> UInt8 { UInt8(digit < 26 ? digit + 0x61 : digit - 26 + 0x30) }
}

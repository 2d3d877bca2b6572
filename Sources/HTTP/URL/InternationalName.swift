import CUnistring

/// Host names that are more than ASCII letters: the standard's "domain to ASCII".
///
/// It is UTS 46 without the transitional mappings, with its checks of joiners and of writing direction, and without those of hyphens and
/// lengths. A character that this machine's tables do not know yet is refused, as every unassigned one is.
enum InternationalName {
    /// Whether a name has bytes beyond ASCII, or a label in Punycode. All other names only turn to small letters.
    static func isOne(_ name: ArraySlice<UInt8>) -> Bool {
        var labelStart = name.startIndex
        for index in name.indices {
            let byte = name[index]
            if byte >= 0x80 { return true }
            if byte == UInt8(ascii: ".") { labelStart = index + 1 }
            if byte == UInt8(ascii: "-"), index == labelStart + 3,
                name[labelStart..<index].lazy.map({ $0 | 0x20 }).elementsEqual("xn-".utf8)
            {
                return true
            }
        }
        return false
    }

    /// The name in ASCII; nil when it is invalid.
    static func ascii(_ name: ArraySlice<UInt8>) -> [UInt8]? {
        guard let mapped = mapped(name), mapped.count <= longest, let composed = composed(mapped) else { return nil }
        var labels: [NameLabel] = []
        for text in composed.split(separator: 0x2e, omittingEmptySubsequences: false) {
            guard let label = NameLabel(text) else { return nil }
            labels.append(label)
        }
        // If one label is written from right to left, all labels must keep the rules of writing direction.
        guard !labels.contains(where: \.isRightToLeft) || labels.allSatisfy(\.keepsDirection) else { return nil }
        return Array(labels.map(\.ascii).joined(separator: [UInt8(ascii: ".")]))
    }

    /// In characters. The standard has no limit, DNS has 253 bytes, and Punycode takes time by the square.
    private static let longest = 1000

    /// The name's characters in their compatible and small forms, without the characters that the standard ignores; nil if one is forbidden.
    private static func mapped(_ name: ArraySlice<UInt8>) -> [UInt32]? {
        var result: [UInt32] = []
        for scalar in String(decoding: name, as: UTF8.self).unicodeScalars {
            if scalar.isASCII {
                result.append(0x41...0x5a ~= scalar.value ? scalar.value | 0x20 : scalar.value)
                continue
            }
            guard let characters = mapping(of: scalar.value) else { return nil }
            result += characters
        }
        return result
    }

    /// Whether a label may have the character: its mapping is itself.
    static func isValid(_ character: UInt32) -> Bool { character < 0x80 || mapping(of: character) == [character] }

    /// The characters that stand for one beyond ASCII; nil when no name may have it.
    private static func mapping(of character: UInt32) -> [UInt32]? {
        switch character {
        // The sharp s in both sizes, the last sigma, and the joiners have meant other letters, and mean themselves now.
        case 0xdf, 0x3c2, 0x200c, 0x200d: return [character]
        case 0x1e9e: return [0xdf]
        // Full stops of East Asia.
        case 0x3002, 0xff0e, 0xff61: return [0x2e]
        // Invisible hyphens and joiners, and selectors of variants.
        case 0xad, 0x34f, 0x180b...0x180d, 0x180f, 0x200b, 0x2060, 0x2064, 0xfe00...0xfe0f, 0xfeff, 0x1bca0...0x1bca3, 0xe0100...0xe01ef:
            return []
        // A hyphen that was ignored once, marks that describe ideographs, and substitutes for what cannot be shown.
        case 0x1806, 0x2ff0...0x2fff, 0x31ef, 0xfffc, 0xfffd: return nil
        default: break
        }
        guard gannet_unicode_is_ignorable(character) == 0, let folded = folded(character) else { return nil }
        // A character that turns into a dot would split its label. A wide blank turns into a blank, which the host parser refuses later.
        guard !folded.contains(where: { $0 == 0x2e || $0 == 0x3002 || $0 > 0x20 && gannet_unicode_is_control_or_blank($0) != 0 })
        else { return nil }
        return folded.filter { gannet_unicode_is_ignorable($0) == 0 }
    }

    private static func folded(_ character: UInt32) -> [UInt32]? {
        var count = 0
        guard let characters = gannet_unicode_folded(character, &count) else { return nil }
        defer { free(characters) }
        return Array(UnsafeBufferPointer(start: characters, count: count))
    }

    /// The text in normal form C.
    static func composed(_ text: [UInt32]) -> [UInt32]? {
        guard !text.isEmpty else { return [] }
        var count = 0
        guard let characters = gannet_unicode_composed(text, text.count, &count) else { return nil }
        defer { free(characters) }
        return Array(UnsafeBufferPointer(start: characters, count: count))
    }
}

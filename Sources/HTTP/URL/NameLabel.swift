import CUnistring

/// One label of an international name that keeps the rules of UTS 46, with the options of the URL standard.
struct NameLabel {
    let ascii: [UInt8]
    private let characters: [UInt32]

    /// - Parameter text: Mapped and in normal form C. It may be Punycode.
    init?(_ text: ArraySlice<UInt32>) {
        let isASCII = text.allSatisfy { $0 < 0x80 }
        if text.starts(with: Self.mark) {
            guard isASCII, let characters = Punycode.decoded(text.dropFirst(4)), characters.contains(where: { $0 >= 0x80 }),
                InternationalName.composed(characters) == characters
            else { return nil }
            self.characters = characters
            ascii = text.map { UInt8($0) }
        } else {
            characters = Array(text)
            ascii = isASCII ? text.map { UInt8($0) } : Array("xn--".utf8) + Punycode.encoded(text)
        }
        guard characters.first.map({ gannet_unicode_is_mark($0) == 0 }) ?? true, characters.allSatisfy(InternationalName.isValid),
            joinersArePlaced
        else { return nil }
    }

    /// `xn--`
    private static let mark = "xn--".unicodeScalars.map(\.value)

    // MARK: Joiners (RFC 5892, appendix A)

    /// Whether joiners stand only where they change how letters look: behind a virama, or the non-joiner between letters that would join.
    private var joinersArePlaced: Bool {
        for (index, character) in characters.enumerated() where character == 0x200c || character == 0x200d {
            if index > 0, uc_combining_class(characters[index - 1]) == Int32(UC_CCC_VR) { continue }
            guard character == 0x200c, joins(characters[..<index].reversed(), [UC_JOINING_TYPE_L, UC_JOINING_TYPE_D]),
                joins(characters[(index + 1)...], [UC_JOINING_TYPE_R, UC_JOINING_TYPE_D])
            else { return false }
        }
        return true
    }

    /// Whether the first letter, marks aside, is of one of the types.
    private func joins(_ characters: some Sequence<UInt32>, _ types: [Int]) -> Bool {
        let first = characters.lazy.map { Int(uc_joining_type($0)) }.first { $0 != UC_JOINING_TYPE_T }
        return first.map(types.contains) ?? false
    }

    // MARK: Writing direction (RFC 5893, section 2)

    /// Whether a character is written from right to left.
    var isRightToLeft: Bool { characters.contains { [UC_BIDI_R, UC_BIDI_AL, UC_BIDI_AN].contains(Int(uc_bidi_class($0))) } }

    /// Whether the label keeps the rules of writing direction. A label of digits does: the standard's suite permits it beside any label.
    var keepsDirection: Bool {
        let classes = characters.map { Int(uc_bidi_class($0)) }
        guard let first = classes.first, !characters.allSatisfy({ 0x30...0x39 ~= $0 }),
            let last = classes.last(where: { $0 != UC_BIDI_NSM })
        else { return true }
        let neutral = [UC_BIDI_EN, UC_BIDI_ES, UC_BIDI_CS, UC_BIDI_ET, UC_BIDI_ON, UC_BIDI_BN, UC_BIDI_NSM]
        switch first {
        case UC_BIDI_L: return classes.allSatisfy((neutral + [UC_BIDI_L]).contains) && [UC_BIDI_L, UC_BIDI_EN].contains(last)
        case UC_BIDI_R, UC_BIDI_AL:
            return classes.allSatisfy((neutral + [UC_BIDI_R, UC_BIDI_AL, UC_BIDI_AN]).contains)
                && [UC_BIDI_R, UC_BIDI_AL, UC_BIDI_EN, UC_BIDI_AN].contains(last)
                && !(classes.contains(UC_BIDI_EN) && classes.contains(UC_BIDI_AN))
        default: return false
        }
    }
}

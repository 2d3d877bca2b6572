/// An entity tag: what an origin calls one state of a resource (RFC 9110, section 8.8.3).
package struct EntityTag: Sendable, Hashable {
    package let isWeak: Bool
    /// With its quotes.
    package let opaque: String

    /// The longest that is worth keeping, in bytes.
    package static let maximumLength = 1024

    /// As headers have it.
    package var text: String { isWeak ? "W/\(opaque)" : opaque }

    /// Nil for anything that is none: no quotes, a quote or a blank within them, `w/`. It would be sent back, so bytes that are no text make none either.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.maximumLength else { return nil }
        isWeak = bytes.starts(with: [0x57, 0x2f])
        let opaque = isWeak ? bytes.dropFirst(2) : bytes[...]
        guard opaque.count >= 2, opaque.first == 0x22, opaque.last == 0x22,
            opaque.dropFirst().dropLast().allSatisfy({ $0 == 0x21 || $0 >= 0x23 && $0 != 0x7f }),
            let text = String(validating: opaque, as: UTF8.self)
        else { return nil }
        self.opaque = text
    }

    /// Whether both mean the same bytes (RFC 9110, section 8.8.3.2).
    package func matchesStrongly(_ other: Self) -> Bool { !isWeak && !other.isWeak && opaque == other.opaque }

    /// Whether both mean the same for a reader.
    package func matchesWeakly(_ other: Self) -> Bool { opaque == other.opaque }
}

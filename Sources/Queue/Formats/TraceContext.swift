internal import GannetBase

/// The position of a batch in a distributed trace, as in the `traceparent` header of W3C Trace Context.
///
/// A header of a later version may have more fields. It is kept and sent as version `00`, without them.
package struct TraceContext: Sendable, Hashable {
    /// 32 hexadecimal digits in small letters.
    package let traceID: String
    /// The span that asks: 16 digits of the same kind.
    package let parentID: String
    private let flags: UInt8

    private static let known = "00"
    private static let length = 55

    /// The known flags: the trace is recorded, and its id is random. The standard clears all other flags when a trace is passed on.
    private static let knownFlags: UInt8 = 0b11
    private static let recorded: UInt8 = 0b01

    /// - Throws: An error whose description is the second half of a sentence.
    package init(_ text: String) throws(StateError) {
        let bytes = Array(text.utf8)
        let version = Self.digits(bytes.prefix(2))
        guard let version, bytes.count >= Self.length, bytes.count == Self.length || version != Self.known,
            [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
            bytes.count == Self.length || bytes[Self.length] == UInt8(ascii: "-"),
            let trace = Self.digits(bytes[3..<35]), let parent = Self.digits(bytes[36..<52]),
            let flags = Self.digits(bytes[53..<55]).flatMap({ UInt8($0, radix: 16) })
        else {
            throw .invalid("use 00-<32 digits>-<16 digits>-<2 digits>, hexadecimal ones in small letters.")
        }
        if version == "ff" { throw .invalid("there is no version ff.") }
        for (id, name) in [(trace, "trace"), (parent, "parent")] where id.utf8.allSatisfy({ $0 == UInt8(ascii: "0") }) {
            throw .invalid("its \(name) id is all zeros, which stands for none.")
        }
        traceID = trace
        parentID = parent
        self.flags = flags & (version == Self.known ? Self.knownFlags : Self.recorded)
    }

    private init(traceID: String, parentID: String, flags: UInt8) {
        self.traceID = traceID
        self.parentID = parentID
        self.flags = flags
    }

    /// The same trace, for a request that is made in it.
    /// - Parameter id: The id of the request's own span. Zero would stand for no span, so 1 is taken instead.
    package func child(_ id: UInt64) -> TraceContext {
        TraceContext(traceID: traceID, parentID: Self.digits(of: max(1, id), count: 16), flags: flags)
    }

    /// The header's value.
    package var text: String { "\(Self.known)-\(traceID)-\(parentID)-\(Self.digits(of: UInt64(flags), count: 2))" }

    private static func digits(_ bytes: ArraySlice<UInt8>) -> String? {
        bytes.allSatisfy(\.isSmallHexadecimalDigit) ? String(decoding: bytes, as: UTF8.self) : nil
    }

    private static func digits(of number: UInt64, count: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: count - digits.count) + digits
    }
}

extension TraceContext: CustomStringConvertible {
    package var description: String { text }
}

/// A URL of a made-up web's list.
package struct WebURL: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        case page
        /// 404.
        case missing
        /// A redirect to another host, which has the page.
        case redirect
        /// A redirect to the same URL.
        case selfRedirect = "self-redirect"
        /// The connection ends before the body does.
        case cut
        /// The body never ends.
        case endless
        /// The body says that it is compressed, and is not.
        case badEncoding = "bad-encoding"
    }

    /// Its place in the list.
    package let number: Int
    package let host: Int
    package let kind: Kind
    /// The size of its body in bytes.
    package let size: Int
    package let isDisallowed: Bool
    /// The host that has the page of a redirect.
    package let target: Int?

    package init(number: Int, host: Int, kind: Kind = .page, size: Int = 0, isDisallowed: Bool = false, target: Int? = nil) {
        self.number = number
        self.host = host
        self.kind = kind
        self.size = size
        self.isDisallowed = isDisallowed
        self.target = target
    }

    /// Below `/private/` is all that a robots.txt disallows.
    package var path: String { isDisallowed ? "/private/\(number).jpg" : "/\(number).jpg" }

    package var targetPath: String { "/to/\(number).jpg" }
}

/// The meaning of a path at a host of a made-up web.
package enum WebPath: Equatable, Sendable {
    case robots
    case url(Int)
    case target(Int)
    case other

    /// - Parameter path: The bytes between the two spaces of a request's first line.
    init(_ path: ArraySlice<UInt8>) {
        if path.elementsEqual("/robots.txt".utf8) {
            self = .robots
        } else if path.starts(with: "/to/".utf8) {
            self = Self.number(path.dropFirst(4)).map { .target($0) } ?? .other
        } else if path.starts(with: "/private/".utf8) {
            self = Self.number(path.dropFirst(9)).map { .url($0) } ?? .other
        } else {
            self = Self.number(path.dropFirst()).map { .url($0) } ?? .other
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        var number = 0
        var digits = 0
        for byte in bytes {
            if byte == UInt8(ascii: "."), digits > 0 { return number }
            guard 0x30...0x39 ~= byte, digits < 12 else { return nil }
            number = number * 10 + Int(byte - 0x30)
            digits += 1
        }
        return nil
    }
}

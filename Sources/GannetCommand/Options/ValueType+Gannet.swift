import Crawl
import GannetBase

extension ValueType where Value == String {
    /// The form alone is checked here; the client that connects reads the rest.
    static var redisURL: Self {
        Self("url") { text in
            let schemes = ["redis://", "rediss://", "redis+sentinel://", "rediss+sentinel://", "unix://"]
            guard schemes.contains(where: { text.hasPrefix($0) && text.count > $0.count }), !text.utf8.contains(where: { $0 <= 32 }) else {
                throw UsageError("use redis://host:port, rediss://host:port, redis+sentinel://host:port/name or unix:///path.")
            }
            return text
        }
    }

    /// A part of a Redis key. Braces would move the hash tag, colons would make two names one.
    static var keyName: Self {
        Self("name") { text in
            let allowed = { (byte: UInt8) in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: [UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ".")].contains(byte)
                }
            }
            guard 1...64 ~= text.utf8.count, text.utf8.allSatisfy(allowed) else {
                throw UsageError("use 1 to 64 letters, digits, dots, dashes and underscores.")
            }
            return text
        }
    }

    /// One line for an HTTP header: a line break in it would begin another header.
    static func headerValue(_ placeholder: String) -> Self {
        Self(placeholder) { text in
            guard 1...1000 ~= text.utf8.count, text.utf8.allSatisfy({ 32...126 ~= $0 }) else {
                throw UsageError("use 1 to 1000 printable ASCII characters.")
            }
            return text
        }
    }

    /// An IPv4 or IPv6 network as `address/prefix`, a single address, or `all`.
    static var network: Self {
        Self("cidr", completion: .choices(["all"])) { text in
            guard text != "all" else { return text }
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            let bits = addressBits(of: String(parts[0]))
            let digits = parts.count == 2 ? String(parts[1]) : "\(bits)"
            guard bits > 0, parts.count <= 2, let prefix = UInt8(digits), digits == "\(prefix)", Int(prefix) <= bits else {
                throw UsageError("use a network such as 10.0.0.0/8 or fd00::/8, or 'all'.")
            }
            return text
        }
    }
}

/// 32 for an IPv4 address, 128 for an IPv6 one, 0 for anything else.
private func addressBits(of text: String) -> Int {
    var storage = in6_addr()
    if inet_pton(AF_INET, text, &storage) == 1 { return 32 }
    return inet_pton(AF_INET6, text, &storage) == 1 ? 128 : 0
}

extension ValueType where Value == Duration {
    /// A number of requests a second, such as `2` or `0.5`, as the time from one request to the next. It is rounded up to the whole
    /// milliseconds that the fleet counts in.
    static var rate: Self {
        Self("rate") { text in
            let isPlain = text.utf8.allSatisfy { 0x30...0x39 ~= $0 || $0 == UInt8(ascii: ".") }
            guard isPlain, let rate = Double(text), 0.001...1000 ~= rate else {
                throw UsageError("use a number from 0.001 to 1000, such as 2 or 0.5.")
            }
            return .milliseconds(Int((1000 / rate).rounded(.up)))
        }
    }
}

extension ValueType {
    /// A value of another type, or nil for `auto`.
    static func orAuto<Wrapped>(_ type: ValueType<Wrapped>, _ placeholder: String) -> Self where Value == Wrapped? {
        Self(placeholder) { text in
            if text == "auto" { return nil }
            do {
                return try type.parse(text)
            } catch let error as UsageError {
                throw UsageError("\(error.message.dropLast()), or 'auto'.")
            }
        }
    }
}

/// How many rows of a run may fail.
enum FailureLimit: Sendable, Equatable {
    case rows(Int)
    case percent(Double)

    func allows(_ failures: Int, of rows: Int) -> Bool {
        switch self {
        case .rows(let most): failures <= most
        case .percent(let share): Double(failures) * 100 <= share * Double(rows)
        }
    }
}

extension ValueType where Value == FailureLimit {
    static var failureLimit: Self {
        Self("count|percent") { text in
            let problem = UsageError("use a number of rows such as 100, or a share of them such as 5% or 0.5%.")
            guard text.hasSuffix("%") else {
                guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let rows = Int(text) else { throw problem }
                return .rows(rows)
            }
            let digits = text.dropLast()
            guard !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 || $0 == 0x2e }), let share = Double(digits), share <= 100
            else {
                throw problem
            }
            return .percent(share)
        }
    }
}

extension ValueType where Value == String {
    /// An error class, as people write it: `404` is `http-404`, and `5xx` stands for many.
    /// - Parameter others: Classes that failures of fetches do not have.
    static func failureClass(besides others: [String] = []) -> Self {
        let words = FailureClass.names + others
        return Self("class", completion: .choices(words)) { text in
            let name = FailureClass.named(text)
            if words.contains(name) || FailureClass.isKnown(name) { return name }
            // Help lists the classes, since an error would be too long.
            let meant = Sentence.closest(to: name, among: words)
            throw UsageError("there is no such class" + (meant.map { ". Did you mean '\($0)'?" } ?? "; '--help' lists them."))
        }
    }
}

/// The directives of a `Cache-Control` header (RFC 9111, section 5.2), of an answer or of a request.
///
/// Unknown directives are ignored. A known directive that is badly written counts if it restricts and does not count if it permits.
package struct CacheControl: Sendable, Hashable {
    /// The value of a directive that takes a number of seconds.
    package enum Seconds: Sendable, Hashable {
        case absent
        /// No number, a negative number, a fraction, or several different numbers (RFC 9111, section 4.2.1).
        case invalid
        /// At most 2³¹, which stands for every larger number.
        case seconds(Int64)
    }

    /// The extent of a directive that may name headers.
    package enum Scope: Sendable, Hashable {
        case absent
        /// The whole answer.
        case everything
        /// The headers of these names, in small letters.
        case fields(Set<String>)
    }

    package internal(set) var maxAge = Seconds.absent
    package internal(set) var sharedMaxAge = Seconds.absent
    package internal(set) var staleWhileRevalidate = Seconds.absent
    package internal(set) var staleIfError = Seconds.absent
    package internal(set) var minFresh = Seconds.absent
    /// `DeltaSeconds.forever` where the directive has no number: any staleness is accepted.
    package internal(set) var maxStale = Seconds.absent

    package internal(set) var noCache = Scope.absent
    /// `private`: the answer is for one user.
    package internal(set) var isPrivate = Scope.absent

    package internal(set) var isPublic = false
    package internal(set) var noStore = false
    package internal(set) var mustUnderstand = false
    package internal(set) var mustRevalidate = false
    package internal(set) var proxyRevalidate = false
    package internal(set) var isImmutable = false
    package internal(set) var onlyIfCached = false
    /// Whether a quoted string has no end, so that the origin's intention is uncertain.
    package internal(set) var isMalformed = false

    /// Reads each line of the header alone, because quotes do not reach from one line to the next.
    package init(lines: [String]) {
        for line in lines {
            let list = HeaderList(line)
            if !list.isWellFormed { isMalformed = true }
            for member in list.members { read(Directive(member)) }
        }
    }

    /// Of an answer.
    package init(_ headers: ResponseHeaders) {
        self.init(lines: headers.has("cache-control") ? headers.values(of: "cache-control") : [])
    }

    /// Of a request.
    package init(request headers: [HeaderField]) {
        self.init(lines: headers.filter { $0.name.lowercased() == "cache-control" }.map(\.value))
    }

    /// Whether a stale answer may be used only after the origin has confirmed it (RFC 9111, sections 4.2.4, 5.2.2.2, 5.2.2.8, 5.2.2.10).
    package var forbidsStale: Bool {
        mustRevalidate || proxyRevalidate || sharedMaxAge != .absent || noCache == .everything
    }

    /// Whether others may have the answer although its request had credentials (RFC 9111, section 3.5).
    package var permitsSharingAfterCredentials: Bool {
        guard !isMalformed else { return false }
        if case .seconds = sharedMaxAge { return true }
        return isPublic || mustRevalidate
    }
}

extension CacheControl {
    /// One directive as it was written.
    struct Directive {
        /// In small letters.
        let name: String
        /// The text behind the equals sign, without its quotes; nil without an equals sign.
        let argument: String?
        /// Whether blanks surround the equals sign, or the quotes do not enclose the whole argument.
        let isCrooked: Bool

        init(_ member: String) {
            guard let equals = member.utf8.firstIndex(of: UInt8(ascii: "=")) else {
                name = member.lowercased()
                argument = nil
                isCrooked = false
                return
            }
            let before = String(member[..<equals])
            let behind = String(member[member.utf8.index(after: equals)...])
            name = before.trimmedOfBlanks.lowercased()
            let value = behind.trimmedOfBlanks
            let hasBlanks = value.utf8.count != behind.utf8.count || before.trimmedOfBlanks.utf8.count != before.utf8.count
            if value.utf8.first == UInt8(ascii: "\"") {
                let inner = Self.unquoted(value)
                argument = inner ?? value
                isCrooked = hasBlanks || inner == nil
            } else {
                argument = value
                isCrooked = hasBlanks
            }
        }

        /// The argument as a number of seconds, with or without quotes: RFC 9111, section 5.2, asks to read both.
        var seconds: Int64? { isCrooked ? nil : argument.flatMap { DeltaSeconds.parse($0) } }

        /// The argument as names of headers. A doubtful argument counts for the whole answer. So does the name of a header that this
        /// cache needs for its decisions.
        var scope: Scope {
            guard let argument, !isCrooked else { return .everything }
            let names = Set(HeaderList(argument).members.map { $0.lowercased() })
            guard (1...CacheControl.maximumNames).contains(names.count), names.allSatisfy({ $0.utf8.allSatisfy(\.isTokenByte) }),
                names.isDisjoint(with: CacheControl.indispensable)
            else { return .everything }
            return .fields(names)
        }

        private static func unquoted(_ text: String) -> String? {
            var bytes: [UInt8] = []
            var rest = text.utf8.dropFirst()
            while let byte = rest.popFirst() {
                switch byte {
                case UInt8(ascii: "\""): return rest.isEmpty ? String(decoding: bytes, as: UTF8.self) : nil
                case UInt8(ascii: "\\"): if let next = rest.popFirst() { bytes.append(next) }
                default: bytes.append(byte)
                }
            }
            return nil
        }
    }

    /// The most header names in one directive; no origin names as many.
    static let maximumNames = 32

    private static let indispensable: Set<String> = ["age", "cache-control", "date", "expires", "vary"]

    mutating func read(_ directive: Directive) {
        switch directive.name {
        case "max-age": Self.add(directive, to: &maxAge)
        case "s-maxage": Self.add(directive, to: &sharedMaxAge)
        case "stale-while-revalidate": Self.add(directive, to: &staleWhileRevalidate)
        case "stale-if-error": Self.add(directive, to: &staleIfError)
        case "min-fresh": Self.add(directive, to: &minFresh)
        case "max-stale": Self.add(directive, to: &maxStale, without: DeltaSeconds.forever)
        case "no-cache": noCache.widen(to: directive.scope)
        case "private": isPrivate.widen(to: directive.scope)
        // `public` takes no argument. With one it is an unknown directive, which grants nothing.
        case "public": if directive.argument == nil { isPublic = true }
        case "no-store": noStore = true
        case "must-understand": mustUnderstand = true
        case "must-revalidate": mustRevalidate = true
        case "proxy-revalidate": proxyRevalidate = true
        // RFC 8246, section 2: arguments are ignored.
        case "immutable": isImmutable = true
        case "only-if-cached": onlyIfCached = true
        default: break
        }
    }

    /// A number that is repeated counts once. Two different numbers are invalid.
    private static func add(_ directive: Directive, to value: inout Seconds, without: Int64? = nil) {
        let seconds = directive.argument == nil ? without : directive.seconds
        let read = seconds.map(Seconds.seconds) ?? .invalid
        value = value == .absent || value == read ? read : .invalid
    }
}

extension CacheControl.Scope {
    mutating func widen(to other: Self) {
        switch (self, other) {
        case (_, .absent), (.everything, _): break
        case (.absent, _), (_, .everything): self = other
        case (.fields(let names), .fields(let more)):
            let all = names.union(more)
            self = all.count <= CacheControl.maximumNames ? .fields(all) : .everything
        }
    }

    /// The names of headers in the directive; empty where it is about the whole answer, or absent.
    var names: Set<String> { if case .fields(let names) = self { names } else { [] } }
}

extension CacheControl.Seconds {
    /// The duration where the directive grants something: an invalid number grants nothing.
    var permitted: Duration? { if case .seconds(let seconds) = self { .seconds(seconds) } else { nil } }
}

/// The value of a header as a list of members, separated by commas (RFC 9110, section 5.6.1).
struct HeaderList {
    /// Without surrounding blanks and without empty members.
    private(set) var members: [String] = []
    /// Whether every quoted string has an end.
    private(set) var isWellFormed = true

    /// Reads one header line. A comma within quotes separates nothing. A quote without an end counts as a plain character, so that no
    /// directive can hide behind it.
    init(_ value: String) {
        let bytes = Array(value.utf8)
        var start = 0
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: ","):
                append(bytes[start..<index])
                start = index + 1
            // Only the first quote without an end is looked for. Looking again for each would take quadratic time.
            case UInt8(ascii: "\"") where isWellFormed:
                if let end = Self.endOfQuotes(in: bytes, from: index) { index = end } else { isWellFormed = false }
            default:
                break
            }
            index += 1
        }
        append(bytes[start...])
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>) {
        let member = String(decoding: bytes, as: UTF8.self).trimmedOfBlanks
        if !member.isEmpty { members.append(member) }
    }

    /// The index of the quote that ends the string which begins at `start`.
    private static func endOfQuotes(in bytes: [UInt8], from start: Int) -> Int? {
        var index = start + 1
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""): return index
            case UInt8(ascii: "\\"): index += 2
            default: index += 1
            }
        }
        return nil
    }
}

/// A number of seconds in a header (RFC 9111, section 1.2.2).
enum DeltaSeconds {
    /// Stands for every larger number. RFC 9111 calls these 68 years infinity.
    static let forever: Int64 = 2_147_483_648

    /// Nil unless the text is digits alone: no sign, no fraction, no unit.
    static func parse(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        // A number that does not fit into 64 bits is beyond `forever` too.
        return Int64(text).map { min($0, forever) } ?? forever
    }
}

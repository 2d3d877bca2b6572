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

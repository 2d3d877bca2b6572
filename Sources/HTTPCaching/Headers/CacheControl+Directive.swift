internal import HTTPEngine

extension CacheControl {
    /// One directive as it was written.
    struct Directive {
        /// In small letters.
        let name: String
        /// What stands behind the equals sign, out of its quotes; nil without one.
        let argument: String?
        /// Whether blanks stand around the equals sign, or something beside the quotes.
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

        /// The argument as a number of seconds, in quotes or not: RFC 9111 asks for both to be read (section 5.2).
        var seconds: Int64? { isCrooked ? nil : argument.flatMap { DeltaSeconds.parse($0) } }

        /// The argument as names of headers. Anything doubtful holds for the whole answer, and so does a name by which this cache itself
        /// goes: an answer without it is another.
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

    /// More headers than anybody names.
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
        // A permission that takes no argument and has one is something else.
        case "public": if directive.argument == nil { isPublic = true }
        case "no-store": noStore = true
        case "must-understand": mustUnderstand = true
        case "must-revalidate": mustRevalidate = true
        case "proxy-revalidate": proxyRevalidate = true
        // RFC 8246 has arguments ignored.
        case "immutable": isImmutable = true
        case "only-if-cached": onlyIfCached = true
        default: break
        }
    }

    /// The same number said twice is that number; two different ones are none.
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

    /// The headers it names, if it is about headers.
    var names: Set<String> { if case .fields(let names) = self { names } else { [] } }
}

extension CacheControl.Seconds {
    /// As a permission: what is no number permits nothing.
    var permitted: Duration? { if case .seconds(let seconds) = self { .seconds(seconds) } else { nil } }
}

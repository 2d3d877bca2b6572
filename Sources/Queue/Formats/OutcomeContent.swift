package import GannetBase

/// The part of an outcome that its fetcher writes. Of this part, scripts read only the digest and the error class.
///
/// | bytes | what |
/// | --- | --- |
/// | 0–31 | the body's SHA-256, all zero without one |
/// | 32, 33 | the HTTP status, 0 without one |
/// | 34 | the body's kind |
/// | 35–39 | the body's size |
/// | 40 | how many fields, in the low six bits; the URL's scheme in the other two |
/// | | each field: tag (1), length (2), value |
/// | | the rest of the URL |
package struct OutcomeContent: Sendable, Equatable {
    /// Fields that only some outcomes have. A reader skips tags that it does not know.
    package enum Field: UInt8, Sendable, CaseIterable {
        case entityTag = 1
        case lastModified, contentType, errorClass, errorMessage, file, vary
        /// The first reservation of the answer's use, such as `X-Robots-Tag: noai`.
        case optOut
        /// Where the exchanges of the fetch are kept: their SHA-256 and their size, such as `a3f0… 812`.
        case wire
    }

    package var url: String
    package var digest: [UInt8]?
    package var status = 0
    package var kind: UInt8 = 0
    package var size = 0
    package var fields: [Field: String] = [:]
    /// The facts that the library's cache keeps about the answer, in the cache's own format. They are written without what they repeat of
    /// the digest, the URL and the content type.
    package var facts: [UInt8]?
    /// Where the fetch's time went. Only slow and failed fetches have times, so that the others cost Redis no byte more.
    package var phases: PhaseTimes?

    package init(url: String) { self.url = url }

    static let digestBytes = 32
    package static let longestField = 4096
    private static let schemes = ["", "http://", "https://"]
    private static let mostFields = 63
    private static let factsTag: UInt8 = 64
    private static let phasesTag: UInt8 = 65
    package static let longestFacts = 40_000
    /// Most outcomes without their URL and facts are shorter.
    private static let usualBytes = 128
}

extension OutcomeContent {
    package var httpStatus: Int? { status == 0 ? nil : status }

    /// Why the URL could not be fetched, in a sentence. Another program may have written an outcome without a message.
    package var failureSentence: String {
        if let message = fields[.errorMessage], !message.isEmpty { return message }
        if let httpStatus { return "The server answered \(httpStatus)." }
        return fields[.errorClass].map { "The fetch failed (\($0))." } ?? "The fetch failed for a reason that was not recorded."
    }

    /// Long values are cut: they come from outside, and an outcome is read more often than written.
    package var bytes: [UInt8] {
        let scheme = scheme
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.usualBytes + url.utf8.count + (facts?.count ?? 0))
        appendHeader(to: &bytes, scheme)
        bytes.append(contentsOf: url.utf8.dropFirst(Self.schemes[scheme].utf8.count))
        return bytes
    }

    private var scheme: Int { Self.schemes.indices.last { url.utf8.starts(with: Self.schemes[$0].utf8) } ?? 0 }

    private func appendHeader(to bytes: inout [UInt8], _ scheme: Int) {
        if let digest { bytes.append(contentsOf: digest) } else { bytes.append(contentsOf: repeatElement(0, count: Self.digestBytes)) }
        bytes.append(number: status, count: 2)
        bytes.append(kind)
        bytes.append(number: size, count: 5)
        // Facts that are too long are left out: cut short, they would say something else.
        let facts = facts.flatMap { $0.count <= Self.longestFacts ? $0 : nil }
        bytes.append(UInt8(fields.count + (facts == nil ? 0 : 1) + (phases == nil ? 0 : 1) | scheme << 6))
        for field in Field.allCases {
            guard let value = fields[field]?.utf8.prefix(Self.longestField) else { continue }
            bytes.append(field.rawValue)
            bytes.append(number: value.count, count: 2)
            bytes.append(contentsOf: value)
        }
        if let phases {
            let packed = phases.packed
            bytes.append(Self.phasesTag)
            bytes.append(number: packed.count, count: 2)
            bytes.append(contentsOf: packed)
        }
        if let facts {
            let short = shortened(facts)
            bytes.append(Self.factsTag)
            bytes.append(number: short.count, count: 2)
            bytes.append(contentsOf: short)
        }
    }

    /// The parts of the content that the facts repeat, in the order in which the facts leave them out.
    private var repeated: [[UInt8]] {
        let type = Array((fields[.contentType] ?? "").utf8)
        // A value that was cut is not what the reader has.
        return [digest ?? [], Array(url.utf8), type.count <= Self.longestField ? type : []]
    }

    /// The facts without what they repeat: for each such part two bytes with the place behind which it is missing, 0 where it is not.
    private func shortened(_ facts: [UInt8]) -> [UInt8] {
        var (places, rest) = ([UInt8](), facts)
        for part in repeated {
            let place = rest.firstOffset(of: part)
            places.append(number: place.map { $0 + 1 } ?? 0, count: 2)
            if let place { rest.removeSubrange(place..<place + part.count) }
        }
        return places + rest
    }

    /// The facts with what they repeat; `nil` for bytes that `shortened` cannot have made.
    private func lengthened(_ short: [UInt8]) -> [UInt8]? {
        var reader = ByteReader(short[...])
        let places = repeated.compactMap { _ in reader.number(2) }
        guard places.count == repeated.count else { return nil }
        var facts = Array(reader.all())
        for (part, place) in zip(repeated, places).reversed() where place > 0 {
            guard place <= facts.count + 1 else { return nil }
            facts.insert(contentsOf: part, at: place - 1)
        }
        return facts
    }

    package init?(_ bytes: ArraySlice<UInt8>) {
        var reader = ByteReader(bytes)
        guard let digest = reader.bytes(Self.digestBytes), let status = reader.number(2), let kind = reader.number(1),
            let size = reader.number(5), let form = reader.number(1), form >> 6 < Self.schemes.count
        else { return nil }
        var short: [UInt8]?
        for _ in 0..<form & Self.mostFields {
            guard let tag = reader.number(1), let length = reader.number(2), let value = reader.bytes(length) else { return nil }
            if tag == Self.factsTag {
                short = Array(value)
            } else if tag == Self.phasesTag {
                phases = PhaseTimes(packed: value)
            } else if let field = Field(rawValue: UInt8(tag)) {
                fields[field] = String(decoding: value, as: UTF8.self)
            }
        }
        self.url = Self.schemes[form >> 6] + String(decoding: reader.all(), as: UTF8.self)
        self.digest = digest.allSatisfy { $0 == 0 } ? nil : Array(digest)
        self.status = status
        self.kind = UInt8(kind)
        self.size = size
        if let short {
            guard let facts = lengthened(short) else { return nil }
            self.facts = facts
        }
    }
}

extension PhaseTimes {
    /// A byte with a bit for each phase that took time, the first phase's the lowest. Then three bytes for each of them.
    fileprivate var packed: [UInt8] {
        var bytes: [UInt8] = [0]
        for (index, phase) in Self.all.enumerated() where self[keyPath: phase.path] > 0 {
            bytes[0] |= 1 << index
            bytes.append(number: Int(min(self[keyPath: phase.path], 0xff_ffff)), count: 3)
        }
        return bytes
    }

    /// Nil for bytes that `packed` cannot have made.
    fileprivate init?(packed bytes: ArraySlice<UInt8>) {
        self.init()
        var reader = ByteReader(bytes)
        guard let mask = reader.number(1) else { return nil }
        for (index, phase) in Self.all.enumerated() where mask & 1 << index != 0 {
            guard let time = reader.number(3) else { return nil }
            self[keyPath: phase.path] = UInt32(time)
        }
    }
}

extension [UInt8] {
    /// Where the part begins; nil for an empty part. The library's search of each outcome took a twentieth of a worker's CPU time.
    fileprivate func firstOffset(of part: [UInt8]) -> Int? {
        withUnsafeBytes { bytes in
            part.withUnsafeBytes { part in
                guard let base = bytes.baseAddress, let wanted = part.baseAddress, let first = part.first else { return nil }
                var start = 0
                while start + part.count <= bytes.count {
                    guard let found = memchr(base + start, Int32(first), bytes.count - part.count - start + 1) else { return nil }
                    start = UnsafeRawPointer(found) - base
                    if memcmp(found, wanted, part.count) == 0 { return start }
                    start += 1
                }
                return nil
            }
        }
    }
}

import GannetHTTP

extension FuzzTarget {
    /// The input says how its rest is encoded and treated (`EncodedInput`).
    static let decoders = FuzzTarget(name: "decoders", maximumLength: 4096) {
        let text = Array("The gannet dives for what it has seen from above, above, above.".utf8)
        return treatments.map { $0 + text } + samples(of: text)
    } check: { (input) throws(BrokenInvariant) in
        let input = EncodedInput(input)
        switch input.treatment {
        case .asIs:
            _ = try outcome(of: input.payload, input)
        case .whole:
            let outcome = try outcome(of: input.encoded, input)
            try require(outcome == .content(input.content), "encoded and decoded, \(input.content) is \(outcome)")
        case .cut:
            let body = input.encoded
            guard let cut = input.cut(body) else { return }
            let outcome = try outcome(of: cut, input)
            try require(outcome == .none, "cut to \(cut.count) bytes, \(body) is \(outcome)")
        case .damaged:
            let body = input.encoded
            let outcome = try outcome(of: input.damaged(body), input)
            guard input.noticesDamage(of: body), case .content(let content) = outcome else { return }
            try require(content == input.content, "damaged, \(body) is \(content)")
        }
    }

    /// Each treatment of each pair of encodings, bare deflate among them.
    private static var treatments: [[UInt8]] {
        var treatments: [[UInt8]] = []
        for codings in UInt8(0)..<16 {
            for treatment in UInt8(0)..<4 {
                treatments += [0x04, 0x14, 0x24].map { [treatment | $0, codings, 0x12, 0x34] }
            }
        }
        return treatments
    }

    /// Encoded bodies that come as they are.
    private static func samples(of text: [UInt8]) -> [[UInt8]] {
        (0..<UInt8(4)).flatMap { coding in
            let header: [UInt8] = [0, coding, 0x12, 0x34]
            let body = EncodedInput(header + text).encoded
            let bare = EncodedInput([0x10, coding, 0, 0] + text).encoded
            return [header + body, header + bare, header + body + body, header + body + [0, 0, 0x1f]]
        }
    }

    private enum Outcome: Equatable {
        case content([UInt8])
        /// It failed, or was stopped when it was enough.
        case none
    }

    private static let limit = 1 << 18

    /// The decoded body. It must not depend on the pieces in which the body comes.
    private static func outcome(of body: [UInt8], _ input: EncodedInput) throws(BrokenInvariant) -> Outcome {
        var first: Outcome?
        for pieces in input.pieces(of: body) {
            let outcome = try decode(body, input.names, pieces)
            if let first { try require(outcome == first, "\(body) is \(first), and in pieces of \(pieces) \(outcome)") }
            first = outcome
        }
        return first ?? .none
    }

    private static func decode(_ body: [UInt8], _ names: [String], _ pieces: [Int]) throws(BrokenInvariant) -> Outcome {
        guard let decoder = try? ContentDecoder(encodings: names, intermediateLimit: Int64(limit)) else {
            throw BrokenInvariant(description: "\(names) are refused")
        }
        var content: [UInt8] = []
        var largest = 0
        var smallest = Int.max
        var rest = body[...]
        var sizes = pieces.makeIterator()
        var isDone = false
        repeat {
            let piece = rest.prefix(sizes.next() ?? rest.count)
            rest = rest.dropFirst(piece.count)
            let tookAll = try? Array(piece).withUnsafeBytes { bytes in
                try decoder.decode(bytes) { decoded in
                    largest = max(largest, decoded.count)
                    smallest = min(smallest, decoded.count)
                    content += decoded
                    return content.count <= limit
                }
            }
            isDone = tookAll != true
        } while !rest.isEmpty && !isDone
        try require(largest <= 64 * 1024 && smallest > 0, "pieces of \(smallest) to \(largest) bytes")
        try require(content.count <= limit + 64 * 1024, "\(content.count) bytes after enough was said")
        return isDone || (try? decoder.finish()) == nil ? .none : .content(content)
    }
}

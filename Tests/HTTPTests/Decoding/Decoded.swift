import Testing

@testable import GannetHTTP

/// The decoded form of a body that comes in pieces of these sizes, and the rest in one.
func decoded(_ body: [UInt8], _ encodings: [String], pieces: some Sequence<Int>) throws -> [UInt8] {
    let decoder = try ContentDecoder(encodings: encodings, intermediateLimit: 1 << 30)
    var result: [UInt8] = []
    var rest = body[...]
    var sizes = pieces.makeIterator()
    repeat {
        let piece = rest.prefix(sizes.next() ?? rest.count)
        rest = rest.dropFirst(piece.count)
        // An allocation of its own, so that the address sanitizer sees a read beyond it.
        let tookAll = try Array(piece).withUnsafeBytes { bytes in
            try decoder.decode(bytes) { decoded in
                #expect(!decoded.isEmpty && decoded.count <= 64 * 1024)
                result += decoded
                return true
            }
        }
        #expect(tookAll)
    } while !rest.isEmpty
    try decoder.finish()
    return result
}

func decoded(_ body: [UInt8], _ encodings: String...) throws -> [UInt8] { try decoded(body, encodings, pieces: []) }

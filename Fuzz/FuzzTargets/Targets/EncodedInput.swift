import GannetHTTP
import GannetTestKit

/// An input of the decoders' fuzz target: its first bytes say how its payload is treated.
struct EncodedInput {
    enum Treatment: CaseIterable {
        /// The payload comes as a body.
        case asIs
        /// The payload is encoded, and comes whole, cut or damaged.
        case whole, cut, damaged
    }

    let treatment: Treatment
    /// In the order in which they are applied; one to three.
    let codings: [ContentCoding]
    let payload: [UInt8]
    private let number: Int
    private let wrapsDeflate: Bool
    /// The encoded payload comes twice, where that makes its content come twice.
    private let isDoubled: Bool

    static let headerSize = 4

    init(_ input: [UInt8]) {
        let header = Array(input.prefix(Self.headerSize)) + Array(repeating: 0, count: Self.headerSize - min(input.count, Self.headerSize))
        treatment = Treatment.allCases[Int(header[0] & 3)]
        let count = Int(header[0] >> 2 & 3) % 3 + 1
        wrapsDeflate = header[0] & 0x10 == 0
        codings = (0..<count).map { ContentCoding.allCases[Int(header[1] >> (2 * $0) & 3)] }
        isDoubled = header[0] & 0x20 != 0 && codings.allSatisfy { $0 == .gzip || $0 == .zstd }
        number = Int(header[2]) << 8 | Int(header[3])
        payload = Array(input.dropFirst(Self.headerSize))
    }

    var names: [String] { codings.map(\.rawValue) }

    /// The content of the encoded payload.
    var content: [UInt8] { isDoubled ? payload + payload : payload }

    /// The payload in all its encodings.
    var encoded: [UInt8] {
        let once = codings.reduce(payload) { bytes, coding in
            switch coding {
            case .gzip: Deflated.gzip(bytes)
            case .deflate: wrapsDeflate ? Deflated.zlib(bytes) : Deflated.raw(bytes)
            case .brotli: Brotli.compressed(bytes, quality: 2, window: 16)
            case .zstd: Zstandard.compressed(bytes, level: 1)
            }
        }
        return isDoubled ? once + once : once
    }

    /// Less than all of the body, and not nothing; nil when what is left is as whole as it was.
    func cut(_ body: [UInt8]) -> [UInt8]? {
        let count = 1 + number % max(body.count - 1, 1)
        return count == body.count || isDoubled && 2 * count == body.count ? nil : Array(body.prefix(count))
    }

    /// The body with one bit flipped.
    func damaged(_ body: [UInt8]) -> [UInt8] {
        guard !body.isEmpty else { return body }
        var body = body
        body[number / 8 % body.count] ^= 1 << (number % 8)
        return body
    }

    /// Whether the outermost encoding notices a flipped bit. The first byte of deflate says whether it has a checksum at all.
    func noticesDamage(of body: [UInt8]) -> Bool {
        switch codings.last {
        case .gzip, .zstd: true
        case .deflate: wrapsDeflate && number / 8 % body.count > 0
        case .brotli, nil: false
        }
    }

    /// In which pieces the body may come.
    func pieces(of body: [UInt8]) -> [[Int]] {
        var random = SeededBytes(seed: UInt64(number))
        return [[], body.map { _ in 1 }, body.map { _ in Int(random.next() % 64) }, [number % (body.count + 1)]]
    }
}

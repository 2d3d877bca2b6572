import GannetBase
import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct InflateTests {
    private static let text = Array(String(repeating: "What goes around comes around. ", count: 400).utf8)

    /// Everything that comes of some bytes, given in pieces.
    private func unpacked(_ bytes: [UInt8], _ inflate: Inflate, piece: Int, room: Int) -> (bytes: [UInt8], outcome: Inflate.Outcome) {
        var result: [UInt8] = []
        var output = [UInt8](repeating: 0, count: room)
        for start in stride(from: 0, to: bytes.count, by: piece) {
            let part = Array(bytes[start..<min(start + piece, bytes.count)])
            let outcome = part.withUnsafeBytes { part -> Inflate.Outcome in
                var input = part
                while true {
                    let (count, outcome) = output.withUnsafeMutableBytes { inflate.advance(&input, into: $0) }
                    result += output[..<count]
                    if outcome != .more || count < room { return outcome }
                }
            }
            if outcome != .more { return (result, outcome) }
        }
        return (result, .more)
    }

    @Test(arguments: [(1, 1), (1, 9999), (7, 100), (99_999, 99_999)]) func `a stream in any wrapper comes out whole however it is cut`(
        piece: Int, room: Int
    ) throws {
        for (wrapper, packed) in [
            (Inflate.Wrapper.gzip, Deflated.gzip(Self.text)), (.zlib, Deflated.zlib(Self.text)), (.none, Deflated.raw(Self.text)),
        ] {
            let inflate = try #require(Inflate(wrapper))
            for _ in 0..<2 {
                let (bytes, outcome) = unpacked(packed, inflate, piece: piece, room: room)
                #expect(bytes == Self.text && outcome == .ended, "\(wrapper)")
                inflate.restart()
            }
        }
    }

    @Test func `a stream that is cut has not ended, and one with a changed byte is damaged`() throws {
        let packed = Deflated.gzip(Self.text)
        let cut = try #require(Inflate(.gzip))
        #expect(unpacked(packed.dropLast(), cut, piece: 100, room: 100).outcome == .more)
        var damaged = packed
        damaged[damaged.count - 5] ^= 1
        let other = try #require(Inflate(.gzip))
        #expect(unpacked(damaged, other, piece: 100, room: 100).outcome == .damaged("incorrect data check"))
    }
}

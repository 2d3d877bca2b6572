import GannetBase
import Testing

@Suite(.timeLimit(.minutes(3))) struct ByteReaderTests {
    @Test func `numbers have one form each`() {
        var written: [UInt8] = []
        let numbers: [Int64] = [0, 1, -1, 63, 64, -64, -65, .max, .min, 300]
        for number in numbers { written.append(signed: number) }
        var reader = ByteReader(written)
        for number in numbers { #expect(reader.signed() == number) }
        #expect(reader.isAtEnd)
        for bytes in [
            [0x80, 0x00], [0x80], [], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02], [UInt8](repeating: 0x80, count: 11),
        ] as [[UInt8]] {
            var reader = ByteReader(bytes)
            #expect(reader.compact() == nil)
        }
        var most = ByteReader([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01])
        #expect(most.compact() == .max)
    }

    @Test func `numbers of a fixed length are cut to it, and an incomplete number is nil`() {
        var bytes: [UInt8] = []
        for (number, count) in [(258, 2), (-1, 1), (70_000, 2), (Int.max, 8)] { bytes.append(number: number, count: count) }
        var reader = ByteReader(bytes[...])
        #expect([reader.number(2), reader.number(1), reader.number(2), reader.number(8)] == [258, 0, 65_535, Int.max])
        #expect(reader.number(1) == nil && reader.isAtEnd)
        reader = ByteReader([1, 2])
        #expect(reader.bytes(3) == nil && reader.bytes(-1) == nil)
        #expect(reader.all() == [1, 2] && reader.all().isEmpty)
    }

    @Test func `a text is read back if it is UTF-8 and within its bound`() {
        var bytes: [UInt8] = []
        for text in ["", "ü", "abc"] { bytes.append(counted: text) }
        var reader = ByteReader(bytes)
        #expect(reader.text(upTo: 0)?.isEmpty == true)
        #expect(reader.text(upTo: 2) == "ü")
        #expect(reader.text(upTo: 2) == nil)
        reader = ByteReader([2, 0xff, 0xff])
        #expect(reader.text(upTo: 2) == nil)
        reader = ByteReader([3, 0x41])
        #expect(reader.text(upTo: 3) == nil)
    }
}

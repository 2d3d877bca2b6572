import Foundation
import GannetTestKit
import Testing

@testable import ImageProbe

@Suite struct FileTests {
    /// A JPEG of many windows, in which every kind of byte falls on every side of their borders.
    private let jpeg: [UInt8] = {
        let frame: [UInt8] = [0xff, 0xc0, 0, 11, 8, 0, 4, 0, 5, 1, 1, 0x11, 0]
        let comment: [UInt8] = [0xff, 0xfe, 0x13, 0x37] + Array(repeating: 0xd9, count: 0x1335)
        let scan: [UInt8] = [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0] + Array(repeating: [0xff, 0, 0xd9] as [UInt8], count: 20_000).joined()
        return [0xff, 0xd8] + Array(repeating: comment, count: 20).joined() + frame + scan + [0xff, 0xd9]
    }()

    /// A TIFF whose strips' offsets and lengths are far from each other and from the strips.
    private let tiff: [UInt8] = {
        let strips = 5000
        let entries = [(256, 1, 5), (257, 1, 4), (273, strips, 100), (279, strips, 100 + 8 * strips)].flatMap { tag, count, value in
            [UInt8].little(tag, 2) + .little(4, 2) + .little(count, 4) + .little(value, 4)
        }
        let directory = [UInt8].little(4, 2) + entries + .little(0, 4)
        let data = 100 + 12 * strips
        let offsets = (0..<strips).flatMap { [UInt8].little(data + ($0 * 7919 % strips) * 40, 4) }
        let start = Array("II".utf8) + [42, 0] + [UInt8].little(8, 4) + directory
        let pad: (Int, Int) -> [UInt8] = { Array(repeating: 0, count: $0 - $1) }
        return start + pad(100, start.count) + offsets + pad(4 * strips, 0) + (0..<strips).flatMap { _ in [UInt8].little(40, 4) }
            + pad(40 * strips, 0)
    }()

    @Test func `a file of many windows is judged like its bytes, cut wherever`() throws {
        let folder = try TemporaryFolder()
        for bytes in [jpeg, tiff] {
            let path = try folder.write(bytes, to: "image")
            #expect(try ImageProbe().examine(fileAt: path) == probed(bytes).get())
            for count in stride(from: bytes.count - 1, to: 0, by: -4999) {
                #expect(truncate(path, off_t(count)) == 0)
                let expected = try #require(throws: ImageProbeError.self) { try probed(Array(bytes[..<count])).get() }
                #expect(throws: expected) { try ImageProbe().examine(fileAt: path) }
            }
        }
    }

    @Test func `bytes are found on every side of a border between windows`() throws {
        let folder = try TemporaryFolder()
        var source = try ByteSource(FileWindows(path: folder.write(tiff, to: "image")))
        for offset in stride(from: 0, to: tiff.count, by: 1013) { #expect(source.byte(at: offset) == tiff[offset]) }
        #expect(source.byte(at: tiff.count) == nil)
        #expect(source.number(at: 16_382, size: 4, .big) == tiff[16_382..<16_386].reduce(0) { $0 << 8 | Int($1) })
        for border in [16_383, 16_384] {
            let zeros = [UInt8](repeating: 0, count: 40_000).with([7], at: border)
            source = try ByteSource(FileWindows(path: folder.write(zeros, to: "zeros")))
            #expect(source.firstIndex(of: 7, from: 3) == border)
            #expect(source.firstIndex(of: 7, from: border) == border)
            #expect(source.firstIndex(of: 7, from: border + 1) == nil)
        }
    }

    @Test func `the four windows that were used last stay in memory`() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(tiff, to: "image")
        var source = try ByteSource(FileWindows(path: path))
        for offset in [0, 50_000, 100_000, 150_000, 0, 200_000] { #expect(source.byte(at: offset) == tiff[offset]) }
        #expect(truncate(path, 0) == 0)
        for offset in [0, 100_000, 150_000, 200_000] { #expect(source.byte(at: offset) == tiff[offset]) }
        #expect(source.byte(at: 50_000) == nil)
    }

    @Test(arguments: [1000, 30_000])
    func `a file that becomes shorter meanwhile is unreadable, not truncated`(count: Int) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(jpeg, to: "image")
        let file = try FileWindows(path: path)
        #expect(truncate(path, off_t(count)) == 0)
        #expect(throws: ImageProbeError.unreadable(reason: "it became shorter meanwhile")) { try ImageProbe().examine(ByteSource(file)) }
    }

    @Test func `a path without a readable file is unreadable`() throws {
        let folder = try TemporaryFolder()
        #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
        let cases = [("nothing", "No such file or directory"), ("pipe", "it is not a regular file"), (".", "it is not a regular file")]
        for (name, reason) in cases {
            #expect(throws: ImageProbeError.unreadable(reason: reason)) { try ImageProbe().examine(fileAt: folder.file(name)) }
        }
        #expect(throws: ImageProbeError.notAnImage(.empty)) { try ImageProbe().examine(fileAt: folder.write([], to: "empty")) }
        #expect(folder.openFiles.isEmpty)
    }
}

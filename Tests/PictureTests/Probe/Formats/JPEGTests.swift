import Testing

@testable import GannetPictures

@Suite struct JPEGTests {
    private let start: [UInt8] = [0xff, 0xd8]
    private let end: [UInt8] = [0xff, 0xd9]
    private let scan: [UInt8] = [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x12, 0x34]

    private func frame(_ marker: UInt8 = 0xc0, width: Int = 5, height: Int = 4) -> [UInt8] {
        [0xff, marker, 0, 11, 8] + .big(height, 2) + .big(width, 2) + [1, 1, 0x11, 0]
    }

    private func segment(_ marker: UInt8, _ data: [UInt8]) -> [UInt8] { [0xff, marker] + .big(data.count + 2, 2) + data }

    @Test(arguments: [0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf] as [UInt8])
    func `every kind of frame is the picture's`(marker: UInt8) {
        #expect(probed(start + frame(marker) + scan + end) == .image(.jpeg, 5, 4))
    }

    @Test func `a picture inside a segment is not the picture, nor is an end there its end`() {
        let small = start + frame(width: 1, height: 1) + scan + end
        #expect(probed(start + segment(0xe1, small) + frame() + segment(0xfe, end) + scan + end) == .image(.jpeg, 5, 4))
        #expect(probed(start + segment(0xe1, small) + frame() + scan).isTruncated)
    }

    @Test func `stuffed zeros, restarts and fill bytes do not end a scan`() {
        let data: [UInt8] = [0xff, 0, 0xff, 0xd0, 0x11, 0xff, 0xff, 0xd7, 0x22, 0xff, 0xff, 0xff, 0]
        #expect(probed(start + frame() + scan + data).isTruncated)
        #expect(probed(start + frame() + scan + data + [0xff, 0xff] + end) == .image(.jpeg, 5, 4))
    }

    @Test func `all scans are walked`() {
        let tables = segment(0xc4, [1, 2, 3])
        #expect(probed(start + frame(0xc2) + scan + tables + scan + scan).isTruncated)
        #expect(probed(start + frame(0xc2) + scan + tables + scan + scan + end) == .image(.jpeg, 5, 4))
    }

    @Test func `a height that only the end of the first scan tells is found there`() {
        let lines = segment(0xdc, [0, 7])
        #expect(probed(start + frame(height: 0) + scan + lines + end) == .image(.jpeg, 5, 7))
        #expect(probed(start + frame(height: 3) + scan + lines + end) == .image(.jpeg, 5, 3))
        #expect(probed(start + frame(height: 0) + scan + end).isMalformed)
        #expect(probed(start + frame(height: 0) + scan + segment(0xdc, [0]) + end).isMalformed)
    }

    @Test func `a file with segments in the wrong order is malformed`() {
        #expect(probed(start + frame() + end).isMalformed)
        #expect(probed(start + scan + end).isMalformed)
        #expect(probed(start + frame() + frame() + scan + end).isMalformed)
        #expect(probed(start + frame() + start + scan + end).isMalformed)
        #expect(probed(start + frame(width: 0) + scan + end).isMalformed)
        #expect(probed(start + frame() + segment(0xc8, []) + scan + end).isMalformed)
        #expect(probed(start + frame() + scan + segment(0x42, []) + end).isMalformed)
    }

    @Test func `a segment's length is not trusted`() {
        #expect(probed(start + [0xff, 0xe0, 0, 1] + frame() + scan + end).isMalformed)
        #expect(probed(start + [0xff, 0xe0, 0xff, 0xff] + frame() + scan + end).isTruncated)
        #expect(probed(start + [0xff, 0xc0, 0, 10, 8, 0, 4, 0, 5, 1, 1, 0x11] + scan + end).isMalformed)
        #expect(probed(start + frame() + [0xff, 0xda, 0, 10, 2, 1, 0, 2, 0, 0, 63, 0] + end).isMalformed)
    }
}

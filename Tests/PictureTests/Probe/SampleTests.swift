import GannetTestKit
import Testing

@testable import GannetPictures

@Suite struct SampleTests {
    @Test(arguments: Sample.all)
    func `a sample has the format and the size that other readers say it has`(sample: Sample) {
        #expect(probed(sample.bytes) == .success(ImageInfo(format: sample.format, size: sample.size)))
    }

    @Test(arguments: Sample.all)
    func `bytes that a server appends to an image change nothing`(sample: Sample) {
        let expected = ImageInfo(format: sample.format, size: sample.size)
        for junk in ["\n", "\0\0\0\0", "<!-- served by -->", "\u{ff}\u{d8}", ";", String(repeating: "x", count: 1000)] {
            #expect(probed(sample.bytes + Array(junk.utf8)) == .success(expected))
        }
        #expect(probed(sample.bytes + sample.bytes) == .success(expected))
    }

    @Test(arguments: Sample.all)
    func `a sample breaks none of the rules that fuzzers hold the probe to`(sample: Sample) {
        #expect(sample.bytes.withUnsafeBytes { ImageProbe().violation(in: $0) } == nil)
    }

    @Test func `there are samples of every format`() {
        #expect(Sample.all.count >= 100)
        for format in ImageFormat.allCases { #expect(Sample.all.count { $0.format == format } >= 5) }
    }
}

import Testing

@testable import GannetPictures

@Suite struct PrefixTests {
    @Test(arguments: Sample.all)
    func `an image that is cut anywhere before its end is truncated`(sample: Sample) throws {
        var isKnown = false
        for count in 0..<sample.end {
            let result = probed(Array(sample.bytes[..<count]))
            switch result {
            case .failure(.truncated(let format, _)):
                #expect(format == sample.format)
                isKnown = true
            case .failure(.notAnImage):
                // Only while the first bytes do not tell a format yet.
                try #require(!isKnown && count <= firstBytes(of: sample), "\(count) bytes are no image any more")
            default: Issue.record("the first \(count) of \(sample.bytes.count) bytes: \(result)")
            }
        }
    }

    @Test(arguments: Sample.all)
    func `an image is whole from its end on`(sample: Sample) {
        for count in sample.end...sample.bytes.count {
            #expect(probed(Array(sample.bytes[..<count])) == .success(ImageInfo(format: sample.format, size: sample.size)))
        }
    }

    /// How many bytes it may take to tell the format: of an SVG all before the blank behind the root's name.
    private func firstBytes(of sample: Sample) -> Int {
        guard sample.format == .svg else { return 17 }
        let ascii = sample.bytes.filter { $0 != 0 }
        let name = ascii.firstRange(of: Array("svg xmlns".utf8))?.lowerBound ?? 0
        return sample.name.hasPrefix("utf16") ? 2 * (name + 3) + 1 : name + 3
    }
}

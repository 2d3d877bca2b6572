import Testing

@testable import GannetPictures

@Suite struct LimitTests {
    // A view box has no pixels, see below. Pictures of an icon count each.
    @Test(arguments: Sample.all.filter { ![nil, ImageSize(width: 1, height: 1)].contains($0.size) && $0.name != "view-box.svg" })
    func `a picture may have as many pixels as the limits say and not one more`(sample: Sample) throws {
        let size = try #require(sample.size)
        let pixels = size.width * size.height
        let side = max(size.width, size.height)
        #expect(probed(sample.bytes, limits: ImageLimits(pixels: pixels, side: side)) == .image(sample.format, size.width, size.height))
        for limits in [ImageLimits(pixels: pixels - 1, side: side), ImageLimits(pixels: pixels, side: side - 1)] {
            #expect(probed(sample.bytes, limits: limits) == .failure(.tooManyPixels(sample.format, size, limits: limits)))
        }
    }

    @Test func `a hundred million pixels are permitted, and a million on a side`() {
        #expect(ImageLimits().permit(ImageSize(width: 10_000, height: 10_000)))
        #expect(!ImageLimits().permit(ImageSize(width: 10_001, height: 10_000)))
        #expect(ImageLimits().permit(ImageSize(width: 1_000_000, height: 1)))
        #expect(!ImageLimits().permit(ImageSize(width: 1, height: 1_000_001)))
        #expect(!ImageLimits(pixels: .max - 1, side: .max).permit(ImageSize(width: .max, height: .max)))
    }

    @Test func `a few bytes that announce billions of pixels are refused`() throws {
        let gif = try Sample.named("palette.gif").bytes
        #expect(probed(gif.with([0xff, 0xff, 0xff, 0xff], at: 6)).isTooLarge)
        // The canvas is small, the frame is not.
        let frame = try #require(gif.firstRange(of: [0x2c, 0, 0, 0, 0, 23, 0, 17, 0])).lowerBound
        #expect(probed(gif.with([0xff, 0xff, 0xff, 0xff], at: frame + 5)).isTooLarge)
        let jpeg = try Sample.named("baseline.jpg").bytes
        let header = try #require(jpeg.firstRange(of: [0xff, 0xc0])).lowerBound
        #expect(probed(jpeg.with([0xff, 0xff, 0xff, 0xff], at: header + 5)).isTooLarge)
        let bmp = try Sample.named("rgb24.bmp").bytes
        #expect(probed(bmp.with([0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0x80], at: 18)).isTooLarge)
        let tiff = try Sample.named("raw.tiff").bytes
        let width = try #require(tiff.firstRange(of: [0, 1, 4, 0, 1, 0, 0, 0])).upperBound
        #expect(probed(tiff.with([0xff, 0xff, 0xff, 0xff], at: width)).isTooLarge)
    }
}

import GannetPictures
import Testing

@testable import Server

@Suite struct AcceptedFormatsTests {
    private static func request(_ width: Int, _ height: Int?) -> ThumbnailRequest {
        ThumbnailRequest(width: width, height: height, fit: .contain, format: .plain)
    }

    @Test(arguments: [
        ([], ThumbnailFormat.plain), (["*/*"], .plain), (["image/*"], .plain), (["image/webp"], .webp), (["IMAGE/WebP ; q=0.5"], .webp),
        (["image/webp;q=0"], .plain), (["image/webp; q=0.000"], .plain), (["text/html, image/avif;q=0.9", "image/webp"], .avif),
        (["image/avif;Q=0, image/webp"], .webp), ([",;,=;q"], .plain), (["image/webp;q=none"], .webp),
    ])
    func `a format counts when the client names it and does not refuse it`(lines: [String], format: ThumbnailFormat) {
        #expect(ThumbnailFormat.best(for: Self.request(100, 100), accepting: lines) == format)
    }

    @Test func `AVIF is for small pictures`() {
        func best(_ width: Int, _ height: Int?) -> ThumbnailFormat {
            .best(for: Self.request(width, height), accepting: ["image/avif,image/webp"])
        }
        #expect(best(256, 256) == .avif && best(257, 257) == .webp)
        #expect(best(256, nil) == .avif && best(300, nil) == .webp)
        #expect(best(1000, 60) == .avif)
    }
}

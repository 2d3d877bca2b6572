import Testing
import ThumbnailMessages

@testable import GannetServer

@Suite struct AcceptedFormatsTests {
    @Test(arguments: [
        ([], ThumbnailFormat.plain), (["*/*"], .plain), (["image/*"], .plain), (["image/webp"], .webp), (["IMAGE/WebP ; q=0.5"], .webp),
        (["image/webp;q=0"], .plain), (["image/webp; q=0.000"], .plain), (["text/html, image/avif;q=0.9", "image/webp"], .avif),
        (["image/avif;Q=0, image/webp"], .webp), ([",;,=;q"], .plain), (["image/webp;q=none"], .webp),
    ])
    func `a format counts when the client names it and does not refuse it`(lines: [String], format: ThumbnailFormat) {
        #expect(AcceptedFormats(lines).best(width: 100, height: 100) == format)
    }

    @Test func `AVIF is for small pictures`() {
        let all = AcceptedFormats(["image/avif,image/webp"])
        #expect(all.best(width: 256, height: 256) == .avif && all.best(width: 257, height: 256) == .webp)
        #expect(all.best(width: 256, height: nil) == .avif && all.best(width: nil, height: 300) == .webp)
    }
}

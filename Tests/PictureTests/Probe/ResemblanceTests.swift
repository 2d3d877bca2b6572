import Testing

@testable import GannetPictures

@Suite struct ResemblanceTests {
    @Test(
        arguments: [
            ("", .empty), ("<!DOCTYPE html><html>", .html), ("\u{feff}\n <!doctype HTML>\n", .html), ("<HTML><head>", .html),
            ("<!-- x --><html lang='en'>", .html), ("<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'>", .html),
            ("<h1>404 Not Found</h1>", .html), ("<p>Moved", .html),
            ("<?xml version='1.0'?>\n<Error><Code>AccessDenied</Code></Error>", .xml),
            ("<rss version='2.0'/>", .xml), ("<?xml version='1.0'?>", .xml), ("<svgs xmlns='x'/>", .xml), ("<SVG/>", .xml),
            ("<x:svg2/>", .xml),
            ("{\"error\":\"no\"}", .json), (" [ 1, 2]", .json), ("[]", .json), ("{}", .json), ("\u{feff}{\"a\":1}", .json),
            ("{ hello }", .text),
            ("[link]", .text), ("Not found", .text), ("", .empty), (" \n", .text), ("< 5 apples", .text),
            ("BMW is not a bitmap, nor is this", .text),
            ("GIF images are old", .text), ("Größe", .text), ("%PDF-1.7\n", .pdf), ("PK\u{3}\u{4}", .archive), ("8BPS", .otherImage),
            ("RIFF\0\0\0\0WAVE", .media), ("\0\0\0\u{18}ftypheic\0\0\0\0mif1heic", .otherImage),
            ("\0\0\0\u{14}ftypisom\0\0\0\0mp42", .media),
            ("\0\0\0\u{c}JXL \r\n", .otherImage), ("a\0b", .binary), ("\u{1}", .binary), ("ID3\u{3}", .media),
        ] as [(String, Resemblance)])
    func `a text that is no image is called what it looks like`(text: String, resemblance: Resemblance) {
        #expect(probed(text) == .failure(.notAnImage(resemblance)))
    }

    @Test(
        arguments: [
            ([0x1f, 0x8b, 8, 0, 0], .archive), ([0x28, 0xb5, 0x2f, 0xfd], .archive), ([0xff, 0x0a, 1, 2], .otherImage),
            ([0xff, 0xd8], .binary),
            ([0x49, 0x49], .text), ([0, 0, 1, 0, 0, 0], .binary), ([0x7f, 0x45, 0x4c, 0x46], .binary),
            ([0xff, 0xfe, 0x3c, 0, 0x61, 0], .xml),
        ] as [([UInt8], Resemblance)])
    func `bytes that are no image are called what they look like`(bytes: [UInt8], resemblance: Resemblance) {
        #expect(probed(bytes) == .failure(.notAnImage(resemblance)))
    }

    @Test(
        arguments: [
            ("image/png", .png), ("image/jpg", .jpeg), ("image/x-icon", .ico), ("image/svg+xml", .svg), ("image/heic", nil),
            ("text/html", nil),
            ("image/", nil), ("", nil), ("png", nil),
        ] as [(String, ImageFormat?)])
    func `a media type stands for a format that is known`(type: String, format: ImageFormat?) {
        #expect(ImageFormat(mediaType: type) == format)
        // Each format has one.
        #expect(
            ImageFormat.allCases.allSatisfy { format in
                ["image/\(format)", "image/\(format)+xml", "image/vnd.microsoft.icon"].contains { ImageFormat(mediaType: $0) == format }
            })
    }

    @Test func `an error is a sentence`() {
        #expect("\(ImageProbeError.notAnImage(.html))" == "Not an image: it looks like HTML.")
        #expect("\(ImageProbeError.truncated(.webp, missing: "its picture"))" == "The WebP is truncated: its picture is missing.")
        #expect("\(ImageProbeError.malformed(.png, "it has two headers"))" == "The PNG is malformed: it has two headers.")
        let tooLarge = ImageProbeError.tooManyPixels(.gif, ImageSize(width: 65_535, height: 2), limits: ImageLimits(pixels: 9, side: 3))
        #expect("\(tooLarge)" == "The GIF has 65535 × 2 pixels; at most 9 are permitted, and 3 on a side.")
    }
}

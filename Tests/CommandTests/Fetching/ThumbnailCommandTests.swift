import Foundation
import GannetPictures
import GannetTestKit
import Testing

/// `gannet thumbnail`.
@Suite(.timeLimit(.minutes(3)), .enabled(if: MachineNeed.canMakeThumbnails)) struct ThumbnailCommandTests {
    private let program = Program(home: "/dev/null/none")

    private func info(_ path: String) throws -> ImageInfo {
        try ImageProbe().examine(Array(try Data(contentsOf: URL(fileURLWithPath: path))))
    }

    @Test(arguments: [("jpg", ImageFormat.jpeg), ("png", .png), ("webp", .webp), ("avif", .avif), ("img", .jpeg)])
    func `a file becomes a thumbnail in the format that its name says`(suffix: String, format: ImageFormat) async throws {
        let folder = try TemporaryFolder()
        let picture = try folder.write(MadePicture.png(200, 100), to: "a.png")
        let outcome = try await program.run("thumbnail", picture, "-o", folder.file("b.\(suffix)"), "--width", "50")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try info(folder.file("b.\(suffix)")) == ImageInfo(format: format, size: ImageSize(width: 50, height: 25)))
    }

    @Test func `standard input becomes a thumbnail on standard output`() async throws {
        let folder = try TemporaryFolder()
        let picture = try folder.write(MadePicture.png(200, 100), to: "a.png")
        let script = "cat \(picture) | \"$0\" thumbnail - --width 50 --format png > \(folder.file("b"))"
        let outcome = try await program.run(script: script)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try info(folder.file("b")) == ImageInfo(format: .png, size: ImageSize(width: 50, height: 25)))
    }

    @Test func `a file without a picture, and a missing file, are exit 65 and one sentence`() async throws {
        let folder = try TemporaryFolder()
        let text = try folder.write(Array("hello".utf8), to: "a.png")
        for path in [text, folder.file("none")] {
            let outcome = try await program.run("thumbnail", path, "-o", folder.file("b.png"))
            #expect(outcome.status == 65 && outcome.errors.hasPrefix("Error: "), "\(outcome.errors)")
        }
        #expect(try folder.files == ["a.png"])
    }

    @Test func `a missing program is exit 69`() async throws {
        let outcome = try await program.run("thumbnail", "/etc/hostname", "--thumbnail-program", "/nowhere/x")
        #expect(outcome.status == 69 && outcome.errors.contains("/nowhere/x"))
    }

    @Test func `a URL is fetched`() async throws {
        let folder = try TemporaryFolder()
        try folder.write(MadePicture.png(200, 100), to: "a.png")
        let fleet = try await Fleet.start { options in
            options.fileCount = 1
            options.directives = "location /files/ { alias \(folder.path)/; }"
        }
        let words = ["thumbnail", fleet.origin.url("/files/a.png"), "-o", folder.file("b.webp"), "--width", "40", "--height", "40"]
        let outcome = try await fleet.outcome(words + ["--fit", "cover"] + fleet.local + fleet.connection)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try info(folder.file("b.webp")) == ImageInfo(format: .webp, size: ImageSize(width: 40, height: 40)))
        try await fleet.stop()
    }
}

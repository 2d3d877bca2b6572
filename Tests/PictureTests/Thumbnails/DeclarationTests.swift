import Foundation
import GannetTestKit
import Testing

@Suite(.enabled(if: MachineNeed.canMakeThumbnails)) struct DeclarationTests {
    /// A compiler refuses two declarations of a function that differ.
    @Test func `the declarations of libvips are those of its own header`() async throws {
        let shim = Repository.url("Sources/CVips/shim.h").path
        let folder = try TemporaryFolder()
        let constants = [
            ("SEQUENTIAL", "VIPS_ACCESS_SEQUENTIAL"), ("SIZE_FORCE", "VIPS_SIZE_FORCE"), ("KERNEL_CUBIC", "VIPS_KERNEL_CUBIC"),
            ("EXTEND_WHITE", "VIPS_EXTEND_WHITE"),
            ("UCHAR", "VIPS_FORMAT_UCHAR"),
            ("B_W", "VIPS_INTERPRETATION_B_W"), ("SRGB", "VIPS_INTERPRETATION_sRGB"), ("AV1", "VIPS_FOREIGN_HEIF_COMPRESSION_AV1"),
        ]
        let asserts = constants.map { "_Static_assert((int)GANNET_VIPS_\($0.0) == (int)\($0.1), \"\($0.0)\");\n" }.joined()
        let file = try folder.write(Array("#include \"\(shim)\"\n#include <vips/vips.h>\n\(asserts)".utf8), to: "both.c")
        let check = "\"$1\" -fsyntax-only $(pkg-config --cflags vips) \"$2\""
        try await ChildProcess.succeed("/bin/sh", ["-c", check, "sh", Program.compiler(), file])
    }
}

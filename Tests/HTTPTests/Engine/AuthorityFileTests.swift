import Foundation
import GannetTestKit
import Testing

@testable import GannetHTTP

@Suite struct AuthorityFileTests {
    private static let file = "/the/file"

    /// The complaint about a file of this content; nil when it is accepted.
    private func complaint(_ content: String) throws -> String? {
        let folder = try TemporaryFolder()
        try folder.write(Array(content.utf8), to: "ca.pem")
        return complaint(at: folder.file("ca.pem"))
    }

    private func complaint(at path: String) -> String? {
        do throws(InvalidOptions) {
            try EngineSettings.check(authorities: path)
            return nil
        } catch {
            return error.description.replacingOccurrences(of: path, with: Self.file)
        }
    }

    private func authority() async throws -> String {
        String(decoding: try contents(ofFile: try await Certificates.shared.authority), as: UTF8.self)
    }

    @Test func `A file with certificates is accepted, with any other text in it`() async throws {
        let authority = try await authority()
        let trusted = authority.replacingOccurrences(of: "CERTIFICATE", with: "TRUSTED CERTIFICATE")
        for content in [authority, "# mine\n\n\(authority)\nand more:\n\(authority)", trusted] { #expect(try complaint(content) == nil) }
    }

    @Test(arguments: ["", "hello\n", "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n", "\u{30}\u{1}\0"])
    func `A file without a certificate is refused with the form that is expected`(content: String) throws {
        let sentence = "The CA file /the/file holds no certificate in PEM form, which begins with '-----BEGIN CERTIFICATE-----'."
        #expect(try complaint(content) == sentence)
    }

    @Test func `A damaged certificate is refused with its number`() async throws {
        let authority = try await authority()
        var lines = authority.split(separator: "\n", omittingEmptySubsequences: false)
        lines[1] = lines[1].dropFirst(4)
        let damaged = lines.joined(separator: "\n")
        let cut = authority.prefix(100)
        for (content, number) in [(damaged, 1), (authority + damaged, 2), (authority + cut, 2)] {
            #expect(try complaint(content) == "The CA file /the/file cannot be used: its certificate number \(number) is damaged.")
        }
    }

    @Test func `A path without a readable file is refused`() throws {
        let folder = try TemporaryFolder()
        #expect(complaint(at: folder.file("missing")) == "The CA file /the/file cannot be read: No such file or directory.")
        #expect(complaint(at: folder.path) == "The CA file /the/file is not a file.")
        try #require(mkfifo(folder.file("pipe"), 0o600) == 0)
        #expect(complaint(at: folder.file("pipe")) == "The CA file /the/file is not a file.")
    }
}

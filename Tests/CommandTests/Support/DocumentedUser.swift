import Foundation
import GannetTestKit
import Testing

/// The ACL user of Docs/REDIS.md, made in a test's Redis as the page has it.
struct DocumentedUser: Sendable {
    /// The words of the rule, behind `ACL SETUSER gannet`.
    let rule: [String]

    /// The commands it permits, line by line.
    let commands: [[String]]

    init() throws {
        let page = try String(contentsOf: Repository.url("Docs/REDIS.md"), encoding: .utf8)
        let start = try #require(page.range(of: "\nACL SETUSER gannet "))
        let end = try #require(page.range(of: "\n```", range: start.upperBound..<page.endIndex))
        let lines = page[start.upperBound..<end.lowerBound].split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        rule = lines.flatMap { $0 }.map { $0 == ">PASSWORD" ? ">secret" : $0 }
        commands = lines.map { line in line.filter { $0.hasPrefix("+") }.map { String($0.dropFirst()) } }
    }

    func make(in fleet: Fleet) async throws {
        try await set(rule, in: fleet)
        try fleet.folder.write(Array("secret\n".utf8), to: "password")
    }

    func permit(_ command: String, in fleet: Fleet) async throws { try await set(["+" + command], in: fleet) }
    func forbid(_ command: String, in fleet: Fleet) async throws { try await set(["-" + command], in: fleet) }

    func set(_ words: [String], in fleet: Fleet) async throws {
        let answer = try await fleet.redis.command(["ACL", "SETUSER", "gannet"] + words)
        #expect(answer == .text("OK"), "\(answer)")
    }

    /// Where `fleet`'s Redis is, as this user.
    func connection(to fleet: Fleet, database: Int = 0) -> [String] {
        let address = fleet.address.replacing("unix://", with: "unix://gannet@") + (database == 0 ? "" : "?db=\(database)")
        return ["--redis", address, "--redis-password-file", fleet.folder.file("password")]
    }
}

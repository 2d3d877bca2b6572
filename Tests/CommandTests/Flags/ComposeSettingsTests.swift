import Foundation
import GannetTestKit
import Testing

@testable import GannetCommand

/// The settings of the fleet in containers.
@Suite struct ComposeSettingsTests {
    private let compose: String
    private let cluster: String
    private let example: String

    init() throws {
        func text(_ file: String) throws -> String { try String(contentsOf: Repository.url(file), encoding: .utf8) }
        compose = try text("docker-compose.yml")
        cluster = try text("docker-compose.cluster.yml")
        example = try text(".env.example")
    }

    private static func names(_ text: some StringProtocol) -> [String] {
        String(text).matches(of: #/GANNET_[A-Z_]+/#).map { String($0.0) }
    }

    @Test func `docker-compose.yml passes on the variable of every option`() throws {
        let rows = Reference(CommandTable.parser).text.split(separator: "\n").filter { $0.hasPrefix("| `-") || $0.hasPrefix("| `--") }
        let variables = Set(rows.flatMap { Self.names($0.split(separator: "|").last ?? "") })
        let list = try #require(compose.firstMatch(of: #/\nx-options: &options \{(?s:.*?)\n\}\n/#)).0
        // A gateway's address is the file's own, its token is for no other container, and the image permits no private Redis.
        let others: Set = ["GANNET_BIND", "GANNET_BEHIND_PROXY", "GANNET_TOKEN", "GANNET_NO_PRIVATE_REDIS"]
        #expect(variables.count > 90)
        #expect(Set(Self.names(list)) == variables.subtracting(others))
        let ofContainers = Self.services.filter { compose.contains("\n  \($0):\n    <<: ") }
        #expect(ofContainers == Self.services)
        for service in Self.services {
            let block = try #require(compose.firstMatch(of: try Regex("(?s)\n  \(service):\n.*?\n(?=\n|  [a-z])"))).0
            #expect(block.firstMatch(of: #/(environment: |<<: )(\*options|\{ <<: \[\*tls, \*options\] \})/#) != nil, "\(service)")
        }
    }

    private static let services = ["worker", "gateway", "producer", "worker-tls", "producer-tls"]

    @Test func `the example of a file .env has every other setting with its default, and nothing that has no effect`() throws {
        let lines = example.matches(of: #/(?m)^#?([A-Z_]+)=(.*)$/#)
        let shown = Dictionary(lines.map { (String($0.1), String($0.2)) }, uniquingKeysWith: { first, _ in first })
        #expect(shown.count == lines.count)
        let defaults = (compose + cluster).matches(of: #/\$\{([A-Z_]+):-([^}]*)\}/#).map { (name: String($0.1), text: String($0.2)) }
        for (name, text) in defaults where !name.hasPrefix("GANNET_") || shown[name] != nil {
            #expect(name == "GANNET_REDIS" || shown[name] == text, "\(name)")
        }
        for name in shown.keys {
            #expect(compose.contains(name) || cluster.contains(name), "\(name)")
        }
        // No line of a new user's file sets anything before a '#' is taken away.
        #expect(example.split(separator: "\n").allSatisfy { $0.hasPrefix("#") })
    }

    @Test func `a file .env with secrets gets into no commit and no image`() throws {
        func lines(_ file: String) throws -> [Substring] {
            try String(contentsOf: Repository.url(file), encoding: .utf8).split(separator: "\n")
        }
        #expect(try lines(".gitignore").contains("/.env"))
        let permitted = try lines(".dockerignore").filter { !$0.hasPrefix("#") }
        #expect(permitted.first == "*")
        #expect(!permitted.contains { $0.hasPrefix("!.env") || $0 == "!*" || $0 == "!." })
    }
}

import Foundation
import GannetTestKit
import Testing

/// The pages of the repository: their links, the places they name, and the README's size.
struct DocumentsTests {

    private static let pages: [String] = {
        let folders = ["", "Docs", "Benchmarks"]
        return folders.flatMap { folder in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: Repository.url(folder).path)) ?? []
            return names.filter { $0.hasSuffix(".md") }.sorted().map { folder.isEmpty ? $0 : "\(folder)/\($0)" }
        }
    }()

    private static func text(_ page: String) throws -> String {
        try String(contentsOf: Repository.url(page), encoding: .utf8)
    }

    /// A page without its blocks of code.
    private static func prose(_ page: String) throws -> String {
        try text(page).replacing(#/(?s)```.*?```/#, with: "")
    }

    /// The names that links use for a page's headings.
    private static func anchors(_ page: String) throws -> Set<String> {
        Set(
            try prose(page).split(separator: "\n").filter { $0.hasPrefix("#") }.map { heading in
                heading.drop { $0 == "#" || $0 == " " }.lowercased()
                    .filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.replacingOccurrences(of: " ", with: "-")
            })
    }

    @Test(arguments: pages) func `every link of a page leads to a file and a heading that exist`(_ page: String) throws {
        let folder = URL(filePath: "/" + page).deletingLastPathComponent()
        for link in try Self.prose(page).matches(of: #/\]\(([^)\s]+)\)/#).map({ String($0.1) }) where !link.contains("://") {
            let parts = link.split(separator: "#", omittingEmptySubsequences: false).map(String.init)
            let target = parts[0].isEmpty ? page : String(folder.appending(path: parts[0]).standardizedFileURL.path.dropFirst())
            #expect(FileManager.default.fileExists(atPath: Repository.url(target).path), "\(page): \(link)")
            if parts.count == 2, target.hasSuffix(".md") {
                #expect(try Self.anchors(target).contains(parts[1]), "\(page): \(link)")
            }
        }
    }

    /// The changelog tells of the past.
    @Test(arguments: pages.filter { $0 != "CHANGELOG.md" }) func `every path that a page names exists`(_ page: String) throws {
        for path in try Self.prose(page).matches(of: #/`((?:Sources|Tests|Scripts|Docs|Benchmarks|Examples)/[^`\s<*]+)`/#).map(\.1) {
            #expect(FileManager.default.fileExists(atPath: Repository.url(String(path)).path), "\(page): \(path)")
        }
    }

    @Test(arguments: pages.filter { $0 != "CHANGELOG.md" }) func `every source file that a page names exists`(_ page: String) throws {
        for name in try Self.prose(page).matches(of: #/`([A-Za-z+]+\.(?:swift|lua))`/#).map({ String($0.1) }) {
            #expect(Self.sourceNames.contains(name), "\(page): \(name)")
        }
    }

    private static let sourceNames: Set<String> = {
        let files = FileManager.default.enumerator(atPath: Repository.url("Sources").path)?.compactMap { $0 as? String }
        return Set((files ?? []).map { URL(filePath: $0).lastPathComponent } + ["Package.swift"])
    }()

    @Test func `the table of targets in ARCHITECTURE names every folder of Sources`() throws {
        let page = try Self.text("Docs/ARCHITECTURE.md")
        let targets = try FileManager.default.contentsOfDirectory(atPath: Repository.url("Sources").path)
        // The C libraries share a row.
        let swiftTargets = targets.filter {
            !FileManager.default.fileExists(atPath: Repository.url("Sources/\($0)/module.modulemap").path)
        }
        let rows = page.matches(of: #/(?m)^\| `([A-Za-z]+)`/#).map { String($0.1) }
        #expect(Set(swiftTargets).subtracting(rows).isEmpty)
    }

    @Test func `the README has at most 900 words, and its program at most 15 lines`() throws {
        let readme = try Self.text("README.md")
        #expect(readme.split { $0.isWhitespace }.count <= 900)
        let program = try #require(readme.firstMatch(of: #/(?s)```swift\n(.*?)```/#)).1
        #expect(program.split(separator: "\n", omittingEmptySubsequences: false).dropLast().count <= 15)
    }

    @Test func `the README's picture is small, and fits light and dark pages`() throws {
        let picture = try Self.text("Docs/run.svg")
        #expect(picture.utf8.count < 30_000)
        #expect(picture.contains("prefers-color-scheme:dark"))
        #expect(picture.contains("gannet run -i urls.txt -d out"))
        #expect(try Self.text("README.md").contains("](Docs/run.svg)"))
    }
}

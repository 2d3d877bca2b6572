import GannetTestKit
import Testing

@testable import Lists

/// Made-up lists: none may trap, and where the chunks end may never matter.
@Suite struct HostileListTests {
    private static let pieces = [
        "url", "id", ",", "\t", ";", "\n", "\r\n", "\"", "\"\"", "http://a/", "{", "}", "[", "]", ":", "\\", "\\u0041", "\\ud800",
        "<urlset>", "<url>",
        "<loc>", "</loc>", "</url>", "<![CDATA[", "]]>", "<!--", "-->", "&amp;", "&", "\0", "\u{FEFF}", " ", "1", "null", "<?", "?>", "/>",
        "\"url\":",
    ].map { Array($0.utf8) }

    private struct Outcome: Equatable {
        var rows: [Row]?
        var error: ListError?
    }

    private func outcome(_ bytes: [UInt8], _ size: Int, _ format: ListFormat?) -> Outcome {
        var options = ListOptions()
        options.format = format
        if format != .text, format != .sitemap { options.carried = ["id", "a.url"].map { CarriedColumn($0) } }
        do {
            return Outcome(rows: try Listed.rows(bytes, cut: size, options))
        } catch {
            return Outcome(error: error as? ListError)
        }
    }

    private func below(_ bound: Int, _ random: inout SeededBytes) -> Int { Int(random.next() % UInt64(bound)) }

    @Test func `no made-up list traps, and the ends of chunks do not matter`() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededBytes(seed: seed)
        for round in 0..<600 {
            var bytes: [UInt8] = []
            for _ in 0..<below(60, &random) {
                bytes += below(12, &random) == 0 ? [UInt8(below(256, &random))] : Self.pieces[below(Self.pieces.count, &random)]
            }
            let format = below(2, &random) == 0 ? nil : ListFormat.allCases[below(ListFormat.allCases.count, &random)]
            let whole = outcome(bytes, max(bytes.count, 1), format)
            for size in [1, 2, 5] {
                #expect(outcome(bytes, size, format) == whole, "seed \(seed), round \(round): \(bytes)")
            }
        }
    }
}

import Foundation
import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct EnqueueListTests {
    /// 200,000 lines: every tenth a repeat, every hundredth a comment or blank, and junk of every kind.
    private struct JunkList {
        var text: [UInt8] = []
        var accepted = 0
        var junk: [(line: Int, reason: String)] = []

        init(lines count: Int) {
            text.reserveCapacity(count * 40 + 3_000_000)
            for line in 1...count {
                switch line % 10_000 {
                case 17: add("http://h/a b/\(line)", line, "there is a space")
                case 18: add("http://h/a\0b", line, "it contains a NUL byte")
                case 19: add("javascript:alert(1)", line, "only http and https")
                case 20 where line < 10_000: add(String(repeating: "x", count: 2_000_000), line, "it is longer than 1048576 bytes")
                case 20: add("just words", line, "it must begin with http")
                case 21:
                    text += [0x68, 0x74, 0x74, 0x70, 0x3A, 0x2F, 0x2F, 0xFF, 0x2F, 0x0A]
                    junk.append((line, "it is not UTF-8"))
                default:
                    switch line % 100 {
                    case 50: text += Array("# \(line)\n".utf8)
                    case 51: text += Array(" \r\n".utf8)
                    default:
                        text += Array("http://h\(line % 7)/\(line % 10 == 0 ? line - 1 : line).jpg\(line % 3 == 0 ? "\r" : "")\n".utf8)
                        accepted += 1
                    }
                }
            }
        }

        private mutating func add(_ line: String, _ number: Int, _ reason: String) {
            text += Array(line.utf8) + [0x0A]
            junk.append((number, reason))
        }
    }

    @Test func `all of 200,000 lines are counted, and each reason for a refusal is reported once, with its first lines`()
        async throws
    {
        let fleet = try await Fleet.start(files: 1)
        let list = JunkList(lines: 200_000)
        try fleet.folder.write(list.text, to: "urls.txt")
        let outcome = try await fleet.outcome(["enqueue", "-i", fleet.list] + fleet.connection)
        #expect(outcome.status == 1)
        #expect(outcome.output.hasPrefix("Accepted \(list.accepted) URLs; \(list.junk.count) invalid"), "\(outcome.output)")
        let complaints = outcome.errors.split(separator: "\n")
        #expect(complaints.count == 6)
        for complaint in complaints {
            let lines = list.junk.filter { complaint.contains($0.reason) }.map(\.line)
            let places = lines.prefix(3).map { "line \($0)" }.joined(separator: ", ")
            #expect(complaint.hasPrefix(lines.count > 1 ? "\(places) and \(lines.count - 3) more rows: " : "\(places): "), "\(complaint)")
        }
        let status = try await fleet.outcome(["status"] + fleet.connection)
        #expect(status.output.contains(fleet.row("enqueued", "\(list.accepted)\n")))
        try await fleet.stop()
    }

    @Test func `tables, JSON lines and sitemaps are recognised, compressed or not, in files and on standard input`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let urls = (1...3).map { "http://h/\($0)" }
        let lists: [(name: String, text: String, options: [String])] = [
            ("a.csv", "id,url\n" + urls.map { "1,\($0)\n" }.joined(), []),
            ("b", "x\tpage\n" + urls.map { "1\t\($0)\n" }.joined(), ["--column", "page"]),
            ("c.txt", urls.map { "{\"image\":{\"url\":\"\($0)\"}}\n" }.joined(), ["--field", "image.url"]),
            ("d.xml", "<urlset>" + urls.map { "<url><loc>\($0)</loc></url>" }.joined() + "</urlset>", []),
        ]
        for list in lists {
            try fleet.folder.write(Array(list.text.utf8), to: list.name)
            try fleet.folder.write(Deflated.gzip(Array(list.text.utf8)), to: list.name + ".packed")
            for name in [list.name, list.name + ".packed"] {
                let outcome = try await fleet.outcome(
                    ["enqueue", "-i", "-"] + list.options + fleet.connection, input: fleet.folder.file(name))
                #expect(outcome.status == 0, "\(name): \(outcome.errors)")
                #expect(outcome.output.hasPrefix("Accepted 3 URLs; 0 invalid"), "\(name): \(outcome.output)")
            }
        }
        try await fleet.stop()
    }

    @Test func `an index of sitemaps is fed with a warning that names the way to the pages, and a sitemap without one`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let warning =
            "gannet: the input is an index of sitemaps. These are fetched as they are, and not the pages that they list: "
            + "for these, give each fetched sitemap to '-i'.\n"
        for (root, child, expected) in [("sitemapindex", "sitemap", true), ("urlset", "url", false)] {
            let text = "<\(root)><\(child)><loc>\(fleet.origin.urls[0])</loc></\(child)></\(root)>"
            try fleet.folder.write(Array(text.utf8), to: "list.xml")
            let list = ["-i", fleet.folder.file("list.xml")]
            let enqueued = try await fleet.outcome(["enqueue"] + list + fleet.connection)
            #expect(enqueued.status == 0 && enqueued.errors.contains(warning) == expected, "\(enqueued.errors)")
            let run = try await fleet.outcome(["run", "-d", fleet.out] + list + fleet.local + fleet.connection)
            #expect(run.status == 0 && run.errors.contains(warning) == expected, "\(run.errors)")
        }
        try await fleet.stop()
    }

    @Test(arguments: [
        (
            "a,b\n1,2\n", "",
            "none of its columns has a usual name for URLs, such as 'url' or 'link'; name one with '--column': its columns are 'a', 'b'."
        ),
        ("a,b\n1,2\n", "--column c", "it has no column 'c'; its columns are 'a', 'b'."),
        (
            "http://h/\n", "--field c",
            "'--field' does not apply to a list of text with one URL a line; if the input is something else, say so"
        ),
        ("http://h/\n", "--column x --format text", "'--column' does not apply to a list of text with one URL a line.\n"),
        ("[{}]", "", "it is a JSON array"), ("<rss></rss>", "", "it is XML that begins with <rss>, not a sitemap."),
        ("<!doctype html>\n<br>\n", "", "it is a web page, and not a list of URLs.\n"),
        ("<urlset>\n<url>", "", "it ends in the middle of the sitemap, in line 2."), ("PK\u{3}\u{4}", "", "it is a zip archive"),
        (
            "h\0t\0t\0p\0:\0/\0/\0h\0/\0\n\0", "",
            "it is text that looks like UTF-16 without a byte order mark; UTF-8 is what can be read, and 'iconv -f UTF-16LE -t UTF-8' makes it.\n"
        ),
    ])
    func `an input that is no list is exit 65, with the reason`(text: String, options: String, sentence: String) async throws {
        let fleet = try await Fleet.start(files: 1)
        try fleet.folder.write(Array(text.utf8), to: "list")
        let outcome = try await fleet.outcome(
            ["enqueue", "-i", fleet.folder.file("list")] + options.split(separator: " ").map(String.init) + fleet.connection)
        #expect(outcome.status == 65)
        #expect(
            outcome.errors.hasPrefix("Error: Cannot read the input file '\(fleet.folder.file("list"))': \(sentence)"), "\(outcome.errors)")
        try await fleet.stop()
    }

    @Test func `compression that ends in the middle is exit 65, with the rows before it enqueued`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let text = (1...100_000).map { "http://h/\($0)/\($0 &* 2_654_435_761)\n" }.joined()
        try fleet.folder.write(Array(Deflated.gzip(Array(text.utf8)).dropLast(1000)), to: "list")
        let outcome = try await fleet.outcome(["enqueue", "-i", fleet.folder.file("list")] + fleet.connection)
        #expect(outcome.status == 65)
        #expect(outcome.errors.contains("its gzip compression ends in the middle: part of it is missing."))
        try await fleet.stop()
    }
}

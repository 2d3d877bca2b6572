import Foundation
import Testing

@testable import GannetHTTP

/// The cases of the web-platform-tests for the URL standard. Their files, with their licence, are in `Suites`.
@Suite struct StandardSuiteTests {
    /// A case of the parser's suite.
    private struct ParserCase: Decodable {
        let input: String
        let base: String?
        let href: String?

        /// The serialisation without its fragment; nil when there is none, or it is no http or https URL.
        var expected: String? {
            guard let href, href.hasPrefix("http:") || href.hasPrefix("https:") else { return nil }
            return String(href.prefix { $0 != "#" })
        }
    }

    /// A case of the suites of host names.
    private struct NameCase: Decodable {
        let input: String
        let output: String?
    }

    /// An element of a suite: a case, or a comment among them.
    private struct Element<Case: Decodable>: Decodable {
        let value: Case?

        init(from decoder: any Decoder) throws {
            value = try? Case(from: decoder)
        }
    }

    private func cases<Case: Decodable>(_ name: String, of: Case.Type) throws -> [Case] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Suites/\(name).json")
        var text = try String(contentsOf: file, encoding: .utf8)
        // JavaScript has texts with half a surrogate pair. Its parser replaces the half, and Swift has no such text.
        for (half, whole) in [("\\uD800\\uD801", "\\uFFFD\\uD801"), ("\\uDFFE\\uDFFF", "\\uDFFE\\uFFFD")] {
            text = text.replacing(half, with: whole)
        }
        return try JSONDecoder().decode([Element<Case>].self, from: Data(text.utf8)).compactMap(\.value)
    }

    private func parsed(_ text: String, base: CanonicalURL? = nil) -> CanonicalURL? {
        try? CanonicalURL(standard: Array(text.utf8), base: base)
    }

    @Test("The parser gives the standard's answer to every case of its suite")
    func parser() throws {
        var counts: [String: Int] = [:]
        for example in try cases("urltestdata", of: ParserCase.self) {
            // A base of another scheme is none to us: an input that is absolute does without, and no other input leads to http.
            let base = example.base.flatMap { parsed($0) }
            let url = parsed(example.input, base: base)
            #expect(url?.text == example.expected, "\(example.input.debugDescription) at \(example.base ?? "no base")")
            if let url { #expect(parsed(url.text) == url, "\(url.text) read again is another") }
            let kind = base != nil ? "with an http base" : example.base != nil ? "with another base" : "without a base"
            counts["\(kind), \(example.expected == nil ? "refused" : "accepted")", default: 0] += 1
        }
        #expect(
            counts == [
                "without a base, accepted": 115, "without a base, refused": 389, "with an http base, accepted": 105,
                "with an http base, refused": 85, "with another base, refused": 126,
            ])
    }

    @Test("Host names become the standard's")
    func names() throws {
        let examples = try cases("toascii", of: NameCase.self)
        for example in examples {
            #expect(parsed("https://\(example.input)/x")?.hostName == example.output, "\(example.input.debugDescription)")
        }
        #expect(examples.count == 39)
    }

    @Test(
        "Names from right to left keep their order",
        arguments: [
            ("\u{64a}.", "xn--mhb."), ("1.\u{64a}", "1.xn--mhb"), ("\u{64a}.1", nil), ("xn--mhb.1", nil), ("א1", "xn--1-zhc"),
            ("1א", nil), ("aא", nil), ("a.אb", nil), ("a1.א", "a1.xn--4db"), ("-.א", nil), ("א٠1", nil), ("א\u{5b0}", "xn--7cb7d"),
        ])
    func direction(name: String, ascii: String?) {
        #expect(parsed("http://\(name)/")?.hostName == ascii)
    }

    @Test("An international name has a bound, because Punycode takes time by the square")
    func longName() {
        let label = String(repeating: "ü", count: 998)
        #expect(parsed("http://\(label).a/") != nil)
        #expect(parsed("http://\(label)ü.a/") == nil)
        // One letter that becomes eighteen.
        #expect(parsed("http://\(String(repeating: "\u{fdfa}", count: 56))/") == nil)
    }

    @Test("Of the standard's URLs these are not fetched: no name server can be asked for their hosts")
    func unfetched() throws {
        let texts = try cases("urltestdata", of: ParserCase.self).compactMap(\.expected)
        let refused = texts.filter { (try? CanonicalURL($0)) == nil }
        #expect(
            Set(refused) == [
                // Empty labels.
                "http://./", "http://../", "http://foo.09../",
                // Punctuation.
                "http://!\"$&'()*+,-.;=_`{}~/",
            ])
        #expect(texts.count == 220)
    }
}

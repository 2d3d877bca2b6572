import Testing

@testable import Lists

@Suite struct SitemapTests {
    @Test(arguments: 1...40)
    func `the places of pages are found, and nothing else`(size: Int) throws {
        let text = """
            \u{FEFF}<?xml version="1.0" encoding="UTF-8"?>
            <!-- <url><loc>http://no/</loc></url> -- > --->
            <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image='a>b'>
              <url><loc>
                http://a/?x=1&amp;y=&#50;&#x33;&lt;&gt;&quot;&apos;
              </loc><lastmod>2024-01-01</lastmod>
                <image:image><image:loc>http://no/</image:loc></image:image></url>
              <url note="/"><loc ><![CDATA[http://b/?x&y[0]]]></loc></url>
              <url><loc/></url><url><other/><loc>http://<!-- c -->c/</loc></url>
            </urlset>

            """
        #expect(
            try Listed.rows(text, cut: size) == [
                .url(4, "http://a/?x=1&y=23<>\"'"), .url(8, "http://b/?x&y[0]"), .invalid(9, .empty), .url(9, "http://c/"),
            ])
    }

    @Test func `an index of sitemaps, with a prefix`() throws {
        let text = "<!DOCTYPE s:sitemapindex><s:sitemapindex><s:sitemap><s:loc>http://a/1.xml</s:loc></s:sitemap></s:sitemapindex>"
        #expect(try Listed.rows(text) == [.url(1, "http://a/1.xml")])
    }

    @Test(arguments: [
        ("&nbsp;", RowProblem.unknownEntity), ("&", .unknownEntity), ("&;", .unknownEntity), ("&#;", .unknownEntity),
        ("&#x110000;", .unknownEntity),
        ("&#xD800;", .unknownEntity), ("&#99999999;", .unknownEntity), ("&#+65;", .unknownEntity), ("&#00000000065;", .unknownEntity),
        ("x&amp", .unknownEntity), ("&verylongnames;", .unknownEntity), ("&#0;", .nul),
        (" \n ", .empty),
    ])
    func `a place that cannot be read is invalid, and the next is not`(inside: String, problem: RowProblem) throws {
        let text = "<urlset><url><loc>\(inside)</loc></url><url><loc>http://b/</loc></url></urlset>"
        let rows = try Listed.rows(text)
        #expect(rows.map(\.content) == [.invalid(problem), .url(Array("http://b/".utf8)[...])])
    }

    @Test(arguments: [
        ("<rss><channel/></rss>", ListError.otherDocument(root: "rss")), ("<!-- a page -->\n<html>", .webPage),
        ("<!DOCTYPE urlset [\n<!ENTITY a \"b\">]><urlset/>", .ownEntities(line: 1)),
        ("<urlset>\n<url><loc>http://a/</loc>\n", .endsEarly(line: 3)),
        ("<urlset>\n<url", .endsEarly(line: 2)), ("<?xml?>", .endsEarly(line: 1)), ("<urlset>\n< url/></urlset>", .badXML(line: 2)),
        ("<urlset></urlset></urlset>", .badXML(line: 1)), ("<urlset>\n<!ELEMENT></urlset>", .badXML(line: 2)),
        ("<urlset/>x", .badXML(line: 1)),
    ])
    func `the error about a malformed or unfinished sitemap says where`(text: String, error: ListError) throws {
        #expect(throws: error) { try Listed.rows(text) }
    }

    @Test func `a place without an end is reported with its line, and the rest is read`() throws {
        let long = String(repeating: "x", count: ListLimits.row + 1)
        let rows = try Listed.rows("<urlset><url><loc>\(long)</loc></url>\n<url><loc>b</loc></url></urlset>", cut: 100_000)
        #expect(rows == [.invalid(1, .tooLong(limit: ListLimits.row)), .url(2, "b")])
    }
}

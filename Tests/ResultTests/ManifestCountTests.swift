import GannetHTTP
import GannetTestKit
import Testing

@testable import Results

@Suite struct ManifestCountTests {
    @Test func `rows are counted by their outcome, whatever a URL or a carried value says`() throws {
        let folder = try TemporaryFolder()
        let long = String(repeating: "x", count: 600_000)
        let lines = [
            #"{"line":1,"url":"failed","outcome":"invalid","httpStatus":null}"#,
            #"{"line":null,"argument":1,"url":"http://h/\",\"outcome\":\"failed","outcome":"fetched"}"#,
            #"{"line":3,"url":"http://h/","outcome":"pending","carried":{"outcome":"failed","text":"\#(long)"}}"#,
            #"{"line":4,"url":"http://h/","outcome":"failed","error":{"class":"dns"}}"#,
            #"{"line":5,"url":"http://h/","outcome":"failed","id":"\#(long)"}"#,
            #"{"line":6,"url":"http://h/","outcome":"cached"}"#,
            #"{"line":7,"url":"http://h/","outcome":"disallowed","error":{"class":"disallowed"}}"#,
            #"{"line":8,"url":"http://h/","outcome":"revalidated"}"#,
            "no JSON", "",
        ]
        try folder.write(Array(lines.map { $0 + "\n" }.joined().utf8), to: "m")
        let found = try Manifest.count(ofFile: folder.file("m"))
        #expect(found.rows == 10)
        #expect(found.outcomes == ["invalid": 1, "fetched": 1, "pending": 1, "failed": 2, "cached": 1, "disallowed": 1, "revalidated": 1])
        try folder.write([], to: "empty")
        #expect(try Manifest.count(ofFile: folder.file("empty")).rows == 0)
        #expect(throws: StorageFailure.self) { try Manifest.count(ofFile: folder.file("none")) }
    }
}

import Testing

@testable import Lists

/// The values that rows carry.
@Suite struct CarriedTests {
    private func options(_ carried: [String], _ change: (inout ListOptions) -> Void = { _ in }) -> ListOptions {
        var options = ListOptions()
        options.carried = carried.map { CarriedColumn($0) }
        change(&options)
        return options
    }

    private func carried(_ list: String, _ options: ListOptions) throws -> [String?] {
        let rows = try [1, 5, 10_000].map { try Listed.rows(list, cut: $0, options) }
        #expect(rows[0] == rows[2] && rows[1] == rows[2])
        return rows[2].map { $0.carried.map { String(decoding: $0, as: UTF8.self) } }
    }

    @Test func `cells of a table are strings, in the user's order, and a cell that is not there is null`() throws {
        let list = "url,text,Score,id\nhttp://a/, two words ,0.5,7\nhttp://b/,\"a \"\"b\"\"\nc\",,8\nhttp://c/,short\n,no url,1,2\n"
        let options = options(["score", "text"]) { $0.idColumn = "id" }
        #expect(
            try carried(list, options) == [
                #"{"score":"0.5","text":" two words "}"#, #"{"score":"","text":"a \"b\"\u000ac"}"#, #"{"score":null,"text":"short"}"#,
                #"{"score":"1","text":"no url"}"#,
            ])
        let rows = try Listed.rows(list, options)
        #expect(rows.map { $0.id.map { String(decoding: $0, as: UTF8.self) } } == ["7", "8", nil, "2"])
        // The column of the URL may be carried too, and one column twice.
        #expect(try carried("url\tx\nhttp://a/\t1\n", self.options(["url", "X"])) == [#"{"url":"http://a/","X":"1"}"#])
    }

    @Test func `values of JSON stay what they are, and a field that is not there is null`() throws {
        let list = #"""
            {"url": "http://a/", "t": "\u00fc\u2028\/", "n": -1.50e+3, "o": { "k" : [ 1, true, null ] }, "m": {"deep": {"er": 12345678901234567890}}}
            {"url": "http://b/", "t": null, "n": "1"}
            {"url": 7, "t": "kept"}
            """#
        let options = options(["t", "n", "o", "m.deep.er", "m.deep"])
        #expect(
            try carried(list, options) == [
                #"{"t":"ü\u2028/","n":-1.50e+3,"o":{"k":[1,true,null]},"m.deep.er":12345678901234567890,"m.deep":{"er":12345678901234567890}}"#,
                #"{"t":null,"n":"1","o":null,"m.deep.er":null,"m.deep":null}"#,
                #"{"t":"kept","n":null,"o":null,"m.deep.er":null,"m.deep":null}"#,
            ])
    }

    @Test(arguments: ["01", "1.", "-", "1e", "1-1", ".5", "\"\\q\""])
    func `a carried value has to be JSON, and other fields are not looked at`(value: String) throws {
        let list = "{\"url\": \"http://a/\", \"n\": \(value)}\n{\"url\": \"http://b/\", \"n\": 0}\n"
        let rows = try Listed.rows(list, options(["n"]))
        // JSON begins neither with a point nor with a lone letter, whoever looks.
        let isScanned = value.first != "."
        #expect(rows.map(\.place) == [.line(1), .line(2)] && rows[0].content == .invalid(.badJSON(at: 27)) && rows[0].carried == nil)
        if isScanned { #expect(try Listed.rows(list, options([])).first?.content == .url(Array("http://a/".utf8)[...])) }
        #expect(rows[1].carried.map { String(decoding: $0, as: UTF8.self) } == #"{"n":0}"#)
    }

    @Test func `bytes that are no UTF-8 are replaced, and control characters escaped`() throws {
        let bytes = Array("url,t\nhttp://a/,".utf8) + [0xFF, 0x00, 0x07, 0x0A]
        let rows = try Listed.rows(bytes, options(["t"]))
        #expect(rows.map { $0.carried.map { String(decoding: $0, as: UTF8.self) } } == [#"{"t":"\#u{FFFD}\u0000\u0007"}"#])
    }

    @Test func `values beyond the limit make the row invalid, and values at the limit do not`() throws {
        let room = Row.longestCarried - #"{"t":""}"#.utf8.count
        let list = [room, room + 1].map { #"{"url":"http://a/","id":"i","t":"\#(String(repeating: "x", count: $0))"}"# }.joined(
            separator: "\n")
        let rows = try Listed.rows(list, cut: 10_000, options(["t"]) { $0.idColumn = "id" })
        #expect(rows.map(\.content) == [.url(Array("http://a/".utf8)[...]), .invalid(.carriedTooLong(limit: 8192))])
        #expect(rows.map { $0.carried?.count } == [Row.longestCarried, nil] && rows.allSatisfy { $0.id == Array("i".utf8)[...] })
    }

    @Test func `a list that has no columns, or not this one, is refused`() {
        #expect(throws: ListError.optionDoesNotApply(.carry, .text)) { try Listed.rows("http://a/\n", self.options(["t"])) }
        #expect(throws: ListError.noSuchColumn("t", columns: ["url", "x"])) { try Listed.rows("url,x\nhttp://a/,1\n", self.options(["t"])) }
        #expect(throws: ListError.other("no Parquet file")) { try Listed.rows("url,t\n", self.options([]) { $0.format = .parquet }) }
    }
}

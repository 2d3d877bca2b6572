import Testing

@testable import GannetQueue

@Suite struct TraceContextTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let parent = "b7ad6b7169203331"

    @Test func `a trace is printed as it was read`() throws {
        for flags in ["00", "01", "02", "03"] {
            let text = "00-\(Self.trace)-\(Self.parent)-\(flags)"
            let context = try TraceContext(text)
            #expect(context.traceID == Self.trace && context.parentID == Self.parent)
            #expect(context.text == text && "\(context)" == text)
            #expect(try TraceContext(context.text) == context)
        }
    }

    @Test func `unknown flags are not passed on`() throws {
        #expect(try TraceContext("00-\(Self.trace)-\(Self.parent)-ff").text == "00-\(Self.trace)-\(Self.parent)-03")
        #expect(try TraceContext("00-\(Self.trace)-\(Self.parent)-fc").text == "00-\(Self.trace)-\(Self.parent)-00")
    }

    @Test(arguments: ["", "-", "-what comes here is its own business", "-00-\u{e9}"])
    func `the four known fields of a later version are read`(rest: String) throws {
        for version in ["01", "cc", "fe"] {
            let context = try TraceContext("\(version)-\(Self.trace)-\(Self.parent)-0b\(rest)")
            #expect(context.text == "00-\(Self.trace)-\(Self.parent)-01")
        }
    }

    @Test(arguments: [
        "", "00", "00-\(trace)-\(parent)", "00-\(trace)-\(parent)-", "00-\(trace)-\(parent)-1", "00-\(trace)-\(parent)-01-",
        "00-\(trace)-\(parent)-01-x", "00-\(trace)-\(parent)-011", "00-\(trace)-\(parent)-01 ", " 00-\(trace)-\(parent)-01",
        "0-\(trace)-\(parent)-011", "00_\(trace)-\(parent)-01", "00-\(trace)_\(parent)-01", "00-\(trace)-\(parent)_01",
        "00-\(trace.uppercased())-\(parent)-01", "00-\(trace)-\(parent.uppercased())-01", "00-\(trace)-\(parent)-0A",
        "0A-\(trace)-\(parent)-01", "0g-\(trace)-\(parent)-01", "00-\(trace.dropLast())g-\(parent)-01",
        "00-\(trace)-\(parent.dropLast())g-01",
        "00-\(trace)-\(parent)-g1", "00-\(trace.dropLast())é-\(parent)-1", "01-\(trace)-\(parent)", "01-\(trace)-\(parent)-1",
        "01-\(trace)-\(parent)-01x", "01-\(trace)-\(parent)-01x-", "ff-\(trace)-\(parent)-01", "ff-\(trace)-\(parent)-01-more",
        "00-\(String(repeating: "0", count: 32))-\(parent)-01", "00-\(trace)-\(String(repeating: "0", count: 16))-01",
        "01-\(String(repeating: "0", count: 32))-\(parent)-01", "01-\(trace)-\(String(repeating: "0", count: 16))-01-more",
    ])
    func `any other text is refused`(text: String) {
        #expect(throws: StateError.self) { try TraceContext(text) }
    }

    @Test func `the error says what is wrong`() {
        let reason = { (text: String) -> String? in
            do throws(StateError) {
                _ = try TraceContext(text)
                return nil
            } catch {
                return error.description
            }
        }
        #expect(reason("ff-\(Self.trace)-\(Self.parent)-01")?.contains("version ff") == true)
        #expect(reason("00-\(String(repeating: "0", count: 32))-\(Self.parent)-01")?.contains("trace id is all zeros") == true)
        #expect(reason("00-\(Self.trace)-\(String(repeating: "0", count: 16))-01")?.contains("parent id is all zeros") == true)
        #expect(reason("00-\(Self.trace)-\(Self.parent)-0X")?.contains("00-<32 digits>") == true)
    }

    @Test func `the trace of a request has the same id and flags, and another parent`() throws {
        let context = try TraceContext("00-\(Self.trace)-\(Self.parent)-01")
        #expect(context.child(0xab).text == "00-\(Self.trace)-00000000000000ab-01")
        #expect(context.child(.max).text == "00-\(Self.trace)-ffffffffffffffff-01")
        #expect(context.child(0).text == "00-\(Self.trace)-0000000000000001-01")
    }
}

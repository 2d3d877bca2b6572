import Testing

@testable import GannetBase

@Suite struct JSONTextTests {
    private static func values(_ text: String) -> [String] {
        let bytes = Array(text.utf8)
        return bytes.withUnsafeBytes { JSONText.values(ofObject: $0) }.map { String(decoding: bytes[$0], as: UTF8.self) }
    }

    @Test func `the values of an object are found, whatever is in them`() {
        #expect(Self.values("{}") == [])
        #expect(Self.values(#"{"a":"x"}"#) == [#""x""#])
        #expect(
            Self.values(#"{"a,\":{":"x,\"}","b":null,"c":[1,{"d":":"}],"e":{"f":{}},"g":-1.5e3}"#)
                == [#""x,\"}""#, "null", #"[1,{"d":":"}]"#, #"{"f":{}}"#, "-1.5e3"])
    }

    @Test func `text that is cut off has the values before the cut`() {
        for text in ["", "{", #"{"a"#, #"{"a":"#, #"{"a":"x"#, #"{"a":"x\"#] { #expect(Self.values(text) == [], "\(text)") }
        #expect(Self.values(#"{"a":1,"b":"#) == ["1"])
    }
}

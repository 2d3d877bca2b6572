import GannetBase
import Testing

@Suite struct JSONValueTests {
    @Test func `keys keep their order, and an unknown value is null`() {
        let value: JSONValue = [
            "b": 1, "a": [true, nil, "x"], "none": JSONValue(nil as String?), "time": JSONValue(Duration.milliseconds(1500)),
            "nan": .decimal(.nan), "empty": [], "object": .object([]),
        ]
        #expect(value.text == #"{"b":1,"a":[true,null,"x"],"none":null,"time":1.5,"nan":null,"empty":[],"object":{}}"#)
    }

    @Test(arguments: [
        ("plain /", #""plain /""#), ("\"\\", #""\"\\""#), ("\n\u{0}\u{7f}", #""\u000a\u0000\u007f""#), ("ü🐦", #""ü🐦""#),
        ("\u{2028}\u{85}", #""\u2028\u0085""#),
    ])
    func `characters that a reader could stumble over are written by their numbers`(text: String, written: String) {
        #expect(JSONValue(text).text == written)
    }
}

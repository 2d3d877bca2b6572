import GannetHTTP
import Testing

@Suite struct OptOutTests {
    private func refusal(_ values: String..., isImage: Bool = false) -> String? {
        OptOut.refusal(in: values.map { ("X-Robots-Tag", $0) }, for: "gannet", isImage: isImage)
    }

    @Test(arguments: ["noai", "noindex", "noml", "none"], [false, true])
    func `a directive for all kinds of bodies refuses`(directive: String, isImage: Bool) {
        #expect(refusal(directive, isImage: isImage) == "X-Robots-Tag: \(directive)")
        #expect(refusal(" \t\(directive.uppercased()) ", isImage: isImage) == "X-Robots-Tag: \(directive)")
    }

    @Test(arguments: ["noimageai", "noimageindex"])
    func `a directive for images refuses images alone`(directive: String) {
        #expect(refusal(directive, isImage: true) == "X-Robots-Tag: \(directive)")
        #expect(refusal(directive, isImage: false) == nil)
    }

    @Test(arguments: [
        "all", "nofollow", "noarchive", "", ",", "noaiding", "no ai", "no-ai", "noindexes", "index", "noai;x", "none of these",
    ])
    func `another directive refuses nothing`(value: String) {
        #expect(refusal(value, isImage: true) == nil)
    }

    @Test func `the name of a header may be in any case, and another header says nothing`() {
        #expect(OptOut.refusal(in: [("x-robots-TAG", "noai")], for: "gannet", isImage: false) == "X-Robots-Tag: noai")
        #expect(OptOut.refusal(in: [("X-Robots", "noai"), ("Robots-Tag", "noai")], for: "gannet", isImage: false) == nil)
        #expect(OptOut.refusal(in: [], for: "gannet", isImage: false) == nil)
    }

    @Test func `the first refusal of a list, and of several fields, is told`() {
        #expect(refusal("nofollow, ,noml ,noai") == "X-Robots-Tag: noml")
        #expect(refusal("nofollow", "otherbot: none", "noai,noindex") == "X-Robots-Tag: noai")
        #expect(refusal("all, noai, index") == "X-Robots-Tag: noai")
    }

    @Test(arguments: [
        "gannet: noai", "Gannet:noai", " GANNET/1.0 : noai", "gannet: nofollow, noai", "other: none, gannet: noai", "a: gannet: noai",
    ])
    func `a directive for this agent refuses`(value: String) {
        #expect(refusal(value) == "X-Robots-Tag: gannet: noai")
        #expect(OptOut.refusal(in: [("X-Robots-Tag", value)], for: "Gannet/2.0", isImage: false) == "X-Robots-Tag: gannet: noai")
    }

    @Test(arguments: [
        "otherbot: noindex", "otherbot: nofollow, noai", "otherbot: noai, third: none", "gannets: noai", "gan: noai", "gannet-image: noai",
        "gannet: nofollow, other: noai", "gannet: other: noai", "360bot: noai", "a b: noai",
    ])
    func `a name holds for the directives behind it, up to the next name`(value: String) {
        #expect(refusal(value) == nil)
    }

    @Test func `a name ends with its field, and a star names everybody`() {
        #expect(refusal("otherbot: noindex", "noai") == "X-Robots-Tag: noai")
        #expect(refusal("noai, otherbot: nofollow") == "X-Robots-Tag: noai")
        #expect(refusal("otherbot: nofollow, *: noai") == "X-Robots-Tag: noai")
    }

    @Test func `a permission for the agent takes nothing back`() {
        #expect(refusal("noindex", "gannet: all") == "X-Robots-Tag: noindex")
    }

    @Test(arguments: [
        "unavailable_after: 25 Jun 2010 15:00:00 PST", "unavailable_after: Sunday, 06-Nov-94 08:49:37 GMT",
        "unavailable_after: Sun, 06 Nov 1994 08:49:37 GMT", "unavailable_after:2030-01-01T00:00:00Z",
        "Unavailable_After : Sun Nov  6 08:49:37 1994",
        "unavailable_after: Sunday, 06-Nov-94T08:49:37", "max-snippet: 20", "max-image-preview:large", "max-video-preview: -1",
    ])
    func `the colon of a value names no agent, and the words of a date are no directives`(value: String) {
        #expect(refusal(value) == nil)
        #expect(refusal("\(value), noai") == "X-Robots-Tag: noai")
        #expect(refusal("gannet: \(value), noai") == "X-Robots-Tag: gannet: noai")
        #expect(refusal("otherbot: \(value), noai") == nil)
    }

    @Test func `a directive in place of a date is none`() {
        #expect(refusal("unavailable_after: noai") == nil)
    }

    // MARK: tdm-reservation

    @Test(arguments: [
        ("1", true), (" 1 ", true), ("0, 1", true), ("0", false), ("", false), ("11", false), ("true", false), ("1;x", false),
    ])
    func `a reservation of text and data mining is the digit one`(value: String, refuses: Bool) {
        for name in ["tdm-reservation", "TDM-Reservation"] {
            #expect(OptOut.refusal(in: [(name, value)], for: "gannet", isImage: false) == (refuses ? "tdm-reservation: 1" : nil))
        }
    }

    @Test func `a policy alone, and a reservation of another header, refuse nothing`() {
        #expect(OptOut.refusal(in: [("tdm-policy", "1"), ("X-Robots-Tag", "1")], for: "gannet", isImage: false) == nil)
        let both = [("tdm-reservation", "1"), ("X-Robots-Tag", "noai")]
        #expect(OptOut.refusal(in: both, for: "gannet", isImage: false) == "tdm-reservation: 1")
    }
}

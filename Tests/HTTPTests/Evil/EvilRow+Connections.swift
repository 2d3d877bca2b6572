import GannetTestKit

@testable import GannetHTTP

extension EvilRow {
    static let connections = [
        EvilRow(.good, .gives(EvilBench.good)),
        EvilRow(.echo, .givesSomething),
        EvilRow(.refusesConnections, .fails(.connect)),
        EvilRow(.closesAtOnce, .fails(.reset)),
        // The reset may come before libcurl has looked whether it is connected.
        EvilRow(.resetsAtOnce, .fails(.reset), .fails(.connect)),
        // An answer that came before its question.
        EvilRow(.speaksFirst, .gives("hello"), .fails(.protocolError)),
        EvilRow(.closesAfterRequest, .fails(.reset)),
        EvilRow(.resetsAfterRequest, .fails(.reset)),
        EvilRow(.resetsInHeaders, .fails(.reset)),
        EvilRow(.resetsInBody, .fails(.reset), .fails(.truncated)),
        EvilRow(.halfClosesUnanswered, .fails(.reset)),
        EvilRow(.halfClosesInBody, .fails(.truncated)),
        EvilRow(.halfClosesAfterBody, .gives("hello")),
        EvilRow(.closesOnSecondRequest, .gives("hello")),
        EvilRow(.resetsOnSecondRequest, .gives("hello")),
        EvilRow(.closesWhenIdle, .gives("hello")),
        EvilRow(.garbageAfterAnswer, .gives("hello")),
        EvilRow(.extraAnswer, .gives("hello")),
        EvilRow(.secureExtraAnswer, .gives("hello")),
        EvilRow(
            .lateExtraAnswer, .gives("hello"),
            aftermath: .sometimes("What comes unasked when the next request is on its way is taken for that one's answer.")),
        EvilRow(
            .lateTimeout, .gives("hello"),
            aftermath: .sometimes("What comes unasked when the next request is on its way is taken for that one's answer.")),
    ]

    /// Under TLS.
    static let secured = [
        EvilRow(.expiredCertificate, .fails(.tls)),
        EvilRow(.wrongHostCertificate, .fails(.tls)),
        EvilRow(.selfSignedCertificate, .fails(.tls)),
        EvilRow(.plainInsteadOfTLS, .fails(.tls)),
        EvilRow(.garbageHandshake, .fails(.tls)),
        EvilRow(.endlessHandshake, .fails(.tls), .fails(.timeout(.connect))),
        EvilRow(.alertHandshake, .fails(.tls)),
        EvilRow(.closesInHandshake, .fails(.tls), .fails(.reset)),
        EvilRow(.resetsInHandshake, .fails(.tls), .fails(.reset)),
        EvilRow(.outdatedTLS, .fails(.tls)),
        EvilRow(.resetsAfterHandshake, .fails(.reset)),
        EvilRow(
            .cutWithoutFarewell, .fails(.truncated), .fails(.reset),
            defect: .always("Under TLS, a body that is cut and has no length passes for a whole one: libcurl does not tell.")),
        EvilRow(.garbageUnderTLS, .fails(.protocolError)),
        EvilRow(.http2GoAway, .fails(.reset)),
        EvilRow(.http2Refused, .fails(.reset), isStream: true),
        EvilRow(.http2Reset, .fails(.reset), isStream: true),
        EvilRow(.http2Garbage, .fails(.reset), .fails(.protocolError)),
        EvilRow(.http2Silent, .fails(.timeout(.response)), isStream: true),
        EvilRow(.http2Pings, .fails(.timeout(.response)), .fails(.reset), .fails(.protocolError), isStream: true),
        EvilRow(.http2Settings, .fails(.timeout(.response)), .fails(.reset), .fails(.protocolError), isStream: true),
        EvilRow(.http2Continuations, .fails(.headersTooLarge), .fails(.reset), .fails(.protocolError), isStream: true),
        EvilRow(.http2EndlessBody, .fails(.tooLarge), isStream: true),
        EvilRow(.http2HeaderBomb, .fails(.headersTooLarge), .fails(.reset), .fails(.protocolError), isStream: true),
        EvilRow(.http2Push, .fails(.timeout(.response)), .fails(.reset), .fails(.protocolError), isStream: true),
    ]
}

import GannetTestKit

@testable import GannetHTTP

extension EvilRow {
    static let statusLines = [
        EvilRow(.http09, .fails(.protocolError)),
        EvilRow(.binaryGarbage, .fails(.protocolError)),
        EvilRow(.icy, .fails(.protocolError)),
        EvilRow(.http37, .fails(.protocolError)),
        EvilRow(.http2InPlain, .gives("hello"), .fails(.protocolError)),
        EvilRow(.lowerCaseHTTP, .gives("hello"), .fails(.protocolError)),
        EvilRow(.noSpaceInStatus, .fails(.protocolError)),
        EvilRow(.statusWithoutReason, .gives("hello")),
        EvilRow(.status000, .fails(.protocolError)),
        EvilRow(.status42, .fails(.protocolError)),
        EvilRow(.status1000, .fails(.protocolError)),
        EvilRow(.statusWord, .fails(.protocolError)),
        EvilRow(.negativeStatus, .fails(.protocolError)),
        EvilRow(.status599, .fails(.status(599))),
        EvilRow(.status600, .fails(.status(600))),
        EvilRow(.status999, .fails(.status(999))),
        EvilRow(.nulInStatusLine, .fails(.protocolError)),
        EvilRow(.escapeInReason, .fails(.status(404))),
        EvilRow(.emptyLinesFirst, .gives("hello"), .fails(.protocolError)),
        EvilRow(
            .switchingProtocols, .fails(.protocolError)),
        EvilRow(
            .switchesToGarbage, .fails(.protocolError)),
        EvilRow(.continueUnasked, .gives("hello")),
        EvilRow(.earlyHints, .gives("hello")),
        EvilRow(.unknownInformational, .gives("hello")),
        EvilRow(.onlyInformational, .fails(.reset)),
        EvilRow(.throttledSeconds, .fails(.status(429))),
        EvilRow(.throttledDate, .fails(.status(429))),
        EvilRow(.throttledPastDate, .fails(.status(429))),
        EvilRow(.throttledGarbage, .fails(.status(429))),
        EvilRow(.throttledNegative, .fails(.status(429))),
        EvilRow(.throttledForever, .fails(.status(429))),
        EvilRow(.unavailableSeconds, .fails(.status(503))),
        EvilRow(.proxyAuthentication, .fails(.status(407))),
        EvilRow(.unauthorized, .fails(.status(401))),
    ]
}

import GannetTestKit

@testable import GannetHTTP

extension EvilRow {
    static let headers = [
        EvilRow(.bareLineFeeds, .gives("hello")),
        EvilRow(.bareReturns, .fails(.protocolError), .fails(.reset)),
        EvilRow(.foldedHeader, .gives("hello")),
        EvilRow(.noColon, .gives("hello"), .fails(.protocolError)),
        EvilRow(.emptyName, .gives("hello"), .fails(.protocolError)),
        EvilRow(.blankBeforeColon, .gives("hello"), .fails(.protocolError)),
        EvilRow(.nulInHeader, .fails(.protocolError)),
        EvilRow(.nulInName, .fails(.protocolError)),
        EvilRow(.invalidUTF8, .gives("hello")),
        EvilRow(
            .controlInContentType, .gives("hello"), .fails(.protocolError)),
        EvilRow(.latin1ContentType, .gives("hello")),
        EvilRow(.twoContentTypes, .gives("hello")),
        EvilRow(.temptingHeaders, .gives("hello")),
        EvilRow(
            .endsInHeaders, .fails(.reset)
        ),
    ]
}

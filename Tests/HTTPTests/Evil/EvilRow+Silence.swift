import GannetTestKit

@testable import GannetHTTP

extension EvilRow {
    static let silent = [
        EvilRow(.neverAnswers, .fails(.timeout(.response))),
        EvilRow(.oneByteASecond, .fails(.timeout(.body))),
        EvilRow(.oneHeaderASecond, .fails(.timeout(.response))),
        EvilRow(.oneHeaderByteASecond, .fails(.timeout(.response))),
        EvilRow(.stallsInStatusLine, .fails(.timeout(.response))),
        EvilRow(.stallsInHeaders, .fails(.timeout(.response))),
        EvilRow(.stallsInBody, .fails(.timeout(.body))),
        EvilRow(.stallsInChunk, .fails(.timeout(.body))),
        EvilRow(.stallsBeforeLastChunk, .fails(.timeout(.body))),
        EvilRow(.staysOpenAfterBody, .gives("hello")),
        EvilRow(.staysOpenWithoutLength, .fails(.timeout(.body))),
        EvilRow(.slowInformationals, .fails(.timeout(.response))),
        EvilRow(.slowRedirects, .fails(.timeout(.response))),
        EvilRow(.neverAccepts, .fails(.timeout(.connect))),
        EvilRow(.silentHandshake, .fails(.timeout(.connect))),
        EvilRow(.slowHandshake, .fails(.timeout(.connect))),
    ]
}

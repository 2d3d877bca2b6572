import GannetTestKit

@testable import HTTPEngine

extension EvilRow {
    static let silent = [
        EvilRow(.neverAnswers, .fails(.timeout(.response))),
        EvilRow(.oneByteASecond, .fails(.timeout(.body)), defect: early),
        EvilRow(.oneHeaderASecond, .fails(.timeout(.response))),
        EvilRow(.oneHeaderByteASecond, .fails(.timeout(.response))),
        EvilRow(.stallsInStatusLine, .fails(.timeout(.response))),
        EvilRow(.stallsInHeaders, .fails(.timeout(.response))),
        EvilRow(.stallsInBody, .fails(.timeout(.body)), defect: early),
        EvilRow(.stallsInChunk, .fails(.timeout(.body)), defect: early),
        EvilRow(.stallsBeforeLastChunk, .fails(.timeout(.body)), defect: early),
        EvilRow(.staysOpenAfterBody, .gives("hello")),
        EvilRow(.staysOpenWithoutLength, .fails(.timeout(.body)), defect: early),
        EvilRow(.slowInformationals, .fails(.timeout(.response))),
        EvilRow(.slowRedirects, .fails(.timeout(.response))),
        EvilRow(.neverAccepts, .fails(.timeout(.connect))),
        EvilRow(.silentHandshake, .fails(.timeout(.connect))),
        EvilRow(.slowHandshake, .fails(.timeout(.connect))),
    ]
}

import GannetTestKit

@testable import GannetHTTP

extension EvilRow {
    static let floods = [
        EvilRow(.endlessBody, .fails(.tooLarge)),
        EvilRow(.endlessChunks, .fails(.tooLarge)),
        // A hundred thousand pieces may take their time.
        // Where a call of libcurl takes too long over it, the connection is shut down.
        EvilRow(.endlessTinyChunks, .fails(.tooLarge), .fails(.timeout(.body)), .fails(.truncated), .fails(.reset)),
        // Nothing of these reaches the body's limit: a decoder's own limits end them, or the time, as a body that hardly moves.
        EvilRow(.endlessChunkExtension, .fails(.protocolError), .fails(.tooLarge), .fails(.timeout(.body)), .fails(.tooSlow)),
        EvilRow(.endlessExtensions, .fails(.protocolError), .fails(.tooLarge), .fails(.timeout(.body)), .fails(.tooSlow)),
        EvilRow(.endlessChunkSize, .fails(.protocolError)),
        EvilRow(.endlessTrailers, .fails(.headersTooLarge)),
        EvilRow(.endlessHeaders, .fails(.headersTooLarge)),
        EvilRow(.endlessFoldedHeader, .fails(.headersTooLarge)),
        EvilRow(.endlessStatusLine, .fails(.headersTooLarge)),
        EvilRow(.endlessEmptyLines, .fails(.protocolError), .fails(.headersTooLarge)),
        EvilRow(.endlessErrorBody, .fails(.status(404))),
        // A redirect's own body is nobody's concern.
        EvilRow(.endlessRedirectBody, .gives(EvilBench.good)),
        EvilRow(.gigabyteHeader, .fails(.headersTooLarge)),
        EvilRow(.informationalFlood, .fails(.headersTooLarge)),
        EvilRow(.cookieFlood, .fails(.headersTooLarge)),
        EvilRow(.manyCookies, .gives("hello")),
        EvilRow(.manySmallHeaders, .gives("hello")),
        EvilRow(.hugeETag, .fails(.headersTooLarge)),
        EvilRow(.hugeContentType, .fails(.headersTooLarge)),
        EvilRow(.longContentType, .gives("hello")),
        EvilRow(.announcesTerabyte, .fails(.tooLarge)),
    ]
}

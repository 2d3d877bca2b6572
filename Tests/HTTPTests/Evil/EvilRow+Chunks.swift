import GannetTestKit

@testable import GannetHTTP

extension EvilRow {
    static let chunks = [
        EvilRow(.truncatedChunk, .fails(.truncated)),
        EvilRow(.noLastChunk, .fails(.truncated)),
        EvilRow(.noTrailerEnd, .fails(.truncated)),
        EvilRow(.overflowingChunk, .fails(.protocolError)),
        EvilRow(.wrappingChunk, .fails(.protocolError)),
        EvilRow(.negativeChunk, .fails(.protocolError)),
        EvilRow(.hexPrefixChunk, .fails(.protocolError)),
        EvilRow(.emptyChunkSize, .fails(.protocolError)),
        // "f" is a size, and a lenient reader skips the rest of the line.
        EvilRow(.wordChunk, .fails(.protocolError), .fails(.truncated)),
        EvilRow(.chunkWithBlanks, .gives("hello")),
        EvilRow(.longerChunk, .fails(.protocolError)),
        EvilRow(.bareLineFeedChunks, .gives("hello"), .fails(.protocolError)),
        EvilRow(.forgedTrailers, .gives("hello"), .fails(.protocolError)),
        // The chunks count, and nothing else may become of it.
        EvilRow(.chunkedAndLength, .gives("hello"), .fails(.protocolError)),
        EvilRow(.chunkedTwice, .gives("hello"), .fails(.protocolError)),
        EvilRow(.chunkedInTwoHeaders, .gives("hello"), .fails(.protocolError)),
        EvilRow(.chunkedInHTTP10, .gives("hello"), .fails(.protocolError)),
        EvilRow(.chunkedNotLast, .gives("hello"), .fails(.protocolError)),
        EvilRow(
            .chunkedWithControl, .fails(.badEncoding), .fails(.protocolError)),
        EvilRow(.xChunked, .fails(.badEncoding), .fails(.protocolError)),
        EvilRow(.identityTransfer, .gives("hello"), .fails(.badEncoding)),
        EvilRow(.unknownTransfer, .fails(.badEncoding), .fails(.protocolError)),
        EvilRow(.unknownThenChunked, .fails(.badEncoding), .fails(.protocolError)),
    ]
}

import GannetTestKit

@testable import HTTPEngine

extension EvilRow {
    static let chunks = [
        EvilRow(.truncatedChunk, .fails(.truncated)),
        EvilRow(.noLastChunk, .fails(.truncated)),
        EvilRow(.noTrailerEnd, .fails(.truncated)),
        EvilRow(.overflowingChunk, .fails(.protocolError), defect: malformedChunk),
        EvilRow(.wrappingChunk, .fails(.protocolError), defect: malformedChunk),
        EvilRow(.negativeChunk, .fails(.protocolError), defect: malformedChunk),
        EvilRow(.hexPrefixChunk, .fails(.protocolError), defect: engineFault),
        EvilRow(.emptyChunkSize, .fails(.protocolError), defect: malformedChunk),
        // "f" is a size, and a lenient reader skips the rest of the line.
        EvilRow(.wordChunk, .fails(.protocolError), .fails(.truncated)),
        EvilRow(.chunkWithBlanks, .gives("hello")),
        EvilRow(.longerChunk, .fails(.protocolError), defect: malformedChunk),
        EvilRow(.bareLineFeedChunks, .gives("hello"), .fails(.protocolError)),
        EvilRow(.forgedTrailers, .gives("hello"), .fails(.protocolError), defect: engineFault),
        // The chunks count, and nothing else may become of it.
        EvilRow(.chunkedAndLength, .gives("hello"), .fails(.protocolError)),
        EvilRow(.chunkedTwice, .gives("hello"), .fails(.protocolError)),
        EvilRow(.chunkedInTwoHeaders, .gives("hello"), .fails(.protocolError)),
        EvilRow(.chunkedInHTTP10, .gives("hello"), .fails(.protocolError)),
        EvilRow(.chunkedNotLast, .gives("hello"), .fails(.protocolError)),
        EvilRow(
            .chunkedWithControl, .fails(.badEncoding), .fails(.protocolError),
            defect: .always("An unknown transfer encoding behind a control character is taken for none, and the chunks for the body.")),
        EvilRow(.xChunked, .fails(.badEncoding), .fails(.protocolError)),
        EvilRow(.identityTransfer, .gives("hello"), .fails(.badEncoding)),
        EvilRow(.unknownTransfer, .fails(.badEncoding), .fails(.protocolError)),
        EvilRow(.unknownThenChunked, .fails(.badEncoding), .fails(.protocolError)),
    ]
}

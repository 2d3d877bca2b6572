import GannetTestKit

@testable import GannetHTTP

extension EvilRow {
    /// RFC 9112, section 6.3: a length that is invalid, and several that differ, are errors a client cannot recover from.
    static let lengths = [
        EvilRow(.truncatedBody, .fails(.truncated)),
        EvilRow(.longerBody, .gives("hello")),
        EvilRow(.twoLengths, .fails(.protocolError)),
        EvilRow(.twoEqualLengths, .gives("hello")),
        EvilRow(.lengthList, .gives("hello"), .fails(.protocolError)),
        EvilRow(.differingLengthList, .fails(.protocolError)),
        EvilRow(.negativeLength, .fails(.protocolError)),
        EvilRow(.plusLength, .fails(.protocolError)),
        EvilRow(.hexLength, .fails(.protocolError)),
        EvilRow(.emptyLength, .fails(.protocolError)),
        EvilRow(.wordLength, .fails(.protocolError)),
        EvilRow(.lengthWithGarbage, .fails(.protocolError)),
        EvilRow(.lengthWithBlank, .fails(.protocolError)),
        EvilRow(.lengthBehindBlank, .fails(.protocolError)),
        EvilRow(.foldedLength, .fails(.protocolError)),
        EvilRow(.chunkedBehindBlank, .fails(.protocolError)),
        EvilRow(.foldedChunked, .fails(.protocolError)),
        EvilRow(.overflowingLength, .fails(.tooLarge), .fails(.protocolError)),
        EvilRow(.wrappingLength, .fails(.tooLarge), .fails(.protocolError)),
        EvilRow(.noContentWithBody, .gives("")),
        EvilRow(.noContentWithLength, .gives("")),
        EvilRow(.resetContentWithBody, .gives(""), .gives("hello")),
        EvilRow(.notModifiedUnasked, .fails(.status(304))),
        EvilRow(
            .notModifiedWithBody, .fails(.status(304)),
            aftermath: .sometimes("What comes behind a 304 when the next request is on its way is taken for that one's answer.")),
        EvilRow(.partialUnasked, .fails(.protocolError)),
        EvilRow(.endsWithConnection, .gives("hello")),
        EvilRow(.emptyBody, .gives("")),
    ]
}

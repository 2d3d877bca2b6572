import GannetTestKit

@testable import HTTPEngine

extension EvilRow {
    /// RFC 9112, section 6.3: a length that is invalid, and several that differ, are errors a client cannot recover from.
    static let lengths = [
        EvilRow(.truncatedBody, .fails(.truncated)),
        EvilRow(.longerBody, .gives("hello"), aftermath: leftover),
        EvilRow(.twoLengths, .fails(.protocolError), defect: .always("Of two lengths one is believed.")),
        EvilRow(.twoEqualLengths, .gives("hello")),
        EvilRow(.lengthList, .gives("hello"), .fails(.protocolError)),
        EvilRow(.differingLengthList, .fails(.protocolError), defect: .always("Of two lengths one is believed.")),
        EvilRow(.negativeLength, .fails(.protocolError)),
        EvilRow(.plusLength, .fails(.protocolError), defect: .always("A length is believed as far as it is a number.")),
        EvilRow(.hexLength, .fails(.protocolError), defect: .always("A length is believed as far as it is a number."), aftermath: leftover),
        EvilRow(.emptyLength, .fails(.protocolError)),
        EvilRow(.wordLength, .fails(.protocolError)),
        EvilRow(.lengthWithGarbage, .fails(.protocolError), defect: .always("A length is believed as far as it is a number.")),
        EvilRow(.lengthWithBlank, .fails(.protocolError), defect: .always("A length is believed as far as it is a number.")),
        EvilRow(.overflowingLength, .fails(.tooLarge), .fails(.protocolError)),
        EvilRow(.wrappingLength, .fails(.tooLarge), .fails(.protocolError)),
        EvilRow(.noContentWithBody, .gives(""), aftermath: leftover),
        EvilRow(.noContentWithLength, .gives(""), aftermath: leftover),
        EvilRow(.resetContentWithBody, .gives(""), .gives("hello")),
        EvilRow(.notModifiedUnasked, .fails(.status(304))),
        EvilRow(.notModifiedWithBody, .fails(.status(304)), aftermath: leftover),
        EvilRow(.partialUnasked, .fails(.protocolError)),
        EvilRow(.endsWithConnection, .gives("hello")),
        EvilRow(.emptyBody, .gives("")),
    ]
}

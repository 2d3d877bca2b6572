@testable import FetchCache

extension Rule {
    /// For which requests is it?
    static let varying: [Rule] = [
        Rule(
            section: "9111 4.1", sentence: "* fits no other request", answer: ["Cache-Control: max-age=60", "Vary: *"], after: 0,
            outcome: .notKept(.variesByAnything)),
        Rule(
            section: "9110 12.5.5", sentence: "also among names", answer: ["Cache-Control: max-age=60", "Vary: accept, *"], after: 0,
            outcome: .notKept(.variesByAnything)),
        Rule(
            section: "9110 5.6.1", sentence: "also behind an empty member, on a line of its own",
            answer: ["Cache-Control: max-age=60", "Vary: accept", "Vary: , *"], after: 0, outcome: .notKept(.variesByAnything)),
        Rule(
            section: "9110 12.5.5", sentence: "what is no name may mean anything",
            answer: ["Cache-Control: max-age=60", "Vary: accept language"],
            after: 0, outcome: .notKept(.variesByAnything)),
        Rule(
            section: "9111 4.1", sentence: "more names than are told apart",
            answer: ["Cache-Control: max-age=60", "Vary: " + (1...17).map { "a\($0)" }.joined(separator: ",")], after: 0,
            outcome: .notKept(.variesByTooMuch)),
        Rule(
            section: "9111 4.1", sentence: "the same value is the same variant",
            answer: ["Cache-Control: max-age=60", "Vary: Accept-Language"],
            request: ["Accept-Language: de"], asks: ["accept-language: de", "X-Other: 1"], after: 0, outcome: .fresh),
        Rule(
            section: "9111 4.1", sentence: "another value is another", answer: ["Cache-Control: max-age=60", "Vary: Accept-Language"],
            request: ["Accept-Language: de"], asks: ["Accept-Language: en"], after: 0, outcome: .miss),
        Rule(
            section: "9111 4.1", sentence: "and none is another", answer: ["Cache-Control: max-age=60", "Vary: Accept-Language"],
            request: ["Accept-Language: de"], asks: [], after: 0, outcome: .miss),
        Rule(
            section: "9111 4.1", sentence: "and one where there was none", answer: ["Cache-Control: max-age=60", "Vary: Accept-Language"],
            request: [], asks: ["Accept-Language: de"], after: 0, outcome: .miss),
        Rule(
            section: "9111 4.1", sentence: "an empty value is not none", answer: ["Cache-Control: max-age=60", "Vary: Accept-Language"],
            request: [], asks: ["Accept-Language:"], after: 0, outcome: .miss),
        Rule(
            section: "9111 4.1", sentence: "where both have none they are the same",
            answer: ["Cache-Control: max-age=60", "Vary: Accept-Language"],
            request: [], asks: ["Accept: */*"], after: 0, outcome: .fresh),
        Rule(
            section: "9111 4.1", sentence: "lines may be joined and blanks be otherwise",
            answer: ["Cache-Control: max-age=60", "Vary: X-List"],
            request: ["X-List: a,b , c"], asks: ["X-List: a", "X-List: b,c"], after: 0, outcome: .fresh),
        Rule(
            section: "9111 4.1", sentence: "but not within quotes", answer: ["Cache-Control: max-age=60", "Vary: X-List"],
            request: ["X-List: \"a,b\""], asks: ["X-List: \"a, b\""], after: 0, outcome: .miss),
        Rule(
            section: "9111 4.1", sentence: "all that are named have to be the same",
            answer: ["Cache-Control: max-age=60", "Vary: X-One, X-Two"],
            request: ["X-One: 1", "X-Two: 2"], asks: ["X-One: 1", "X-Two: 3"], after: 0, outcome: .miss),
        Rule(
            section: "9111 4.1", sentence: "the value of one is not the other's",
            answer: ["Cache-Control: max-age=60", "Vary: X-One, X-Two"],
            request: ["X-One: 1"], asks: ["X-Two: 1"], after: 0, outcome: .miss),
        Rule(
            section: "9111 4.1", sentence: "encodings are always asked for alike, and undone",
            answer: ["Cache-Control: max-age=60", "Vary: Accept-Encoding"],
            after: 0, outcome: .fresh),
    ]
}

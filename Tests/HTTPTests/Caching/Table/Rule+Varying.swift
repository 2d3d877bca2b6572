@testable import GannetHTTP

extension Rule {
    /// For which requests is it?
    static let varying: [Rule] = [
        row("9111 4.1", "* fits no other request", ["Cache-Control: max-age=60", "Vary: *"], .notKept(.variesByAnything)),
        row("9110 12.5.5", "also among names", ["Cache-Control: max-age=60", "Vary: accept, *"], .notKept(.variesByAnything)),
        row(
            "9110 5.6.1", "also behind an empty member, on a line of its own", ["Cache-Control: max-age=60", "Vary: accept", "Vary: , *"],
            .notKept(.variesByAnything)),
        row(
            "9110 12.5.5", "what is no name may mean anything", ["Cache-Control: max-age=60", "Vary: accept language"],
            .notKept(.variesByAnything)),
        row(
            "9111 4.1", "more names than are told apart",
            ["Cache-Control: max-age=60", "Vary: " + (1...17).map { "a\($0)" }.joined(separator: ",")], .notKept(.variesByTooMuch)),
        row(
            "9111 4.1", "the same value is the same variant", ["Cache-Control: max-age=60", "Vary: Accept-Language"],
            request: ["Accept-Language: de"], asks: ["accept-language: de", "X-Other: 1"], .fresh),
        row(
            "9111 4.1", "another value is another", ["Cache-Control: max-age=60", "Vary: Accept-Language"],
            request: ["Accept-Language: de"], asks: ["Accept-Language: en"], .miss),
        row(
            "9111 4.1", "and none is another", ["Cache-Control: max-age=60", "Vary: Accept-Language"], request: ["Accept-Language: de"],
            asks: [], .miss),
        row(
            "9111 4.1", "and one where there was none", ["Cache-Control: max-age=60", "Vary: Accept-Language"], request: [],
            asks: ["Accept-Language: de"], .miss),
        row(
            "9111 4.1", "an empty value is not none", ["Cache-Control: max-age=60", "Vary: Accept-Language"], request: [],
            asks: ["Accept-Language:"], .miss),
        row(
            "9111 4.1", "where both have none they are the same", ["Cache-Control: max-age=60", "Vary: Accept-Language"], request: [],
            asks: ["Accept: */*"], .fresh),
        row(
            "9111 4.1", "lines may be joined and blanks be otherwise", ["Cache-Control: max-age=60", "Vary: X-List"],
            request: ["X-List: a,b , c"], asks: ["X-List: a", "X-List: b,c"], .fresh),
        row(
            "9111 4.1", "but not within quotes", ["Cache-Control: max-age=60", "Vary: X-List"], request: ["X-List: \"a,b\""],
            asks: ["X-List: \"a, b\""], .miss),
        row(
            "9111 4.1", "all that are named have to be the same", ["Cache-Control: max-age=60", "Vary: X-One, X-Two"],
            request: ["X-One: 1", "X-Two: 2"], asks: ["X-One: 1", "X-Two: 3"], .miss),
        row(
            "9111 4.1", "the value of one is not the other's", ["Cache-Control: max-age=60", "Vary: X-One, X-Two"], request: ["X-One: 1"],
            asks: ["X-Two: 1"], .miss),
        row(
            "9111 4.1", "encodings are always asked for alike, and undone", ["Cache-Control: max-age=60", "Vary: Accept-Encoding"], .fresh),
    ]
}

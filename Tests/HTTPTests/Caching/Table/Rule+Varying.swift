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
        row("9110 12.5.5", "nor a quoted one", ["Cache-Control: max-age=60", "Vary: \"accept\""], .notKept(.variesByAnything)),
        row("9110 12.5.5", "nor one with other letters", ["Cache-Control: max-age=60", "Vary: é"], .notKept(.variesByAnything)),
        row("9110 12.5.5", "an empty list names nothing", ["Cache-Control: max-age=60", "Vary: , "], .fresh),
        row(
            "9111 4.1", "names choose nothing: a request with other headers has another key",
            ["Cache-Control: max-age=60", "Vary: Accept-Language", "Vary: X-List, x-a"], request: ["Accept-Language: de"], .fresh),
        row(
            "9111 4.1", "encodings are always asked for alike, and undone", ["Cache-Control: max-age=60", "Vary: Accept-Encoding"], .fresh),
    ]
}

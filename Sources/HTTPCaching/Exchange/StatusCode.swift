/// What the status of an answer says about keeping it.
enum StatusCode {
    /// Whether an answer of it may be kept for a guessed time (RFC 9110, section 15.1; 451: RFC 7725, section 3). 206 could be too, by caches that
    /// put parts together.
    static func isHeuristicallyCacheable(_ status: Int) -> Bool {
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 451, 501].contains(status)
    }

    /// Whether the rules for it are known here, which `must-understand` asks for (RFC 9111, section 5.2.2.3).
    static func isUnderstood(_ status: Int) -> Bool {
        switch status {
        case 200...205, 300...303, 307, 308, 400...415, 417, 421, 422, 426, 451, 500...505: true
        default: false
        }
    }

    /// Whether its definition forbids to keep it (RFC 6585, sections 3 to 6).
    static func forbidsStorage(_ status: Int) -> Bool { [428, 429, 431, 511].contains(status) }

    /// Whether it leads on for good (RFC 9110, sections 15.4.2 and 15.4.9).
    static func isPermanentRedirect(_ status: Int) -> Bool { status == 301 || status == 308 }
}

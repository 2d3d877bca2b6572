import GannetTestKit

/// The URLs of a long run: new ones and known ones, with answers of all kinds. It is the same in each run.
struct SoakLoad: Sendable {
    /// The port of the origin.
    let port: UInt16

    /// Files that are asked for again and again, so most of their answers are old or unchanged.
    static let files = 500
    static let perSecond = 200

    private static let hosts = 50

    /// The URLs to enqueue in a second.
    func urls(second: Int) -> [String] {
        // An origin in trouble gets new names each minute. The state of its old names can then be removed.
        let minute = second / 60
        return (0..<Self.perSecond).map { number in
            let new = second * Self.perSecond + number
            let host = "host\(new % Self.hosts).soak.localhost:\(port)"
            return switch number % 100 {
            case ..<50: "http://\(host)/new/\(new)"
            case ..<75: file(new)
            case ..<83: "http://\(host)/moved/\(new)"
            case ..<88: "http://\(host)/gone/\(new)"
            case ..<90: "http://\(host)/late/\(new)"
            case ..<93: "http://busy\(minute).soak.localhost:\(port)/busy/\(new)"
            case ..<96: "http://broken\(minute).soak.localhost:\(port)/broken/\(new)"
            case ..<99: "http://cut\(minute).soak.localhost:\(port)/cut/\(new)"
            // Nothing listens there.
            default: "http://dead\(minute).soak.localhost:1/\(new)"
            }
        }
    }

    /// A URL of the files.
    func file(_ number: Int) -> String {
        let file = number * 7919 % Self.files
        return "http://host\(file % Self.hosts).soak.localhost:\(port)/\(file).bin"
    }
}

extension Origin.Options {
    /// Answers of all kinds, by the first part of the path.
    mutating func answersForLong() {
        fileCount = SoakLoad.files
        largestFile = 40_000
        isFast = true
        let thousand = String(repeating: "x", count: 1000)
        let body = "set $part \"\(thousand)\"; return 200 \"$request_uri\(String(repeating: "$part", count: 10))\";"
        // Three of ten requests.
        let sometimes = "if ($request_id ~ \"^[0-4]\")"
        directives = """
            absolute_redirect off;
            location ~ \\.bin$ { add_header Cache-Control max-age=2; }
            location /new/ { \(body) }
            location /moved/ { rewrite ^/moved/.*([0-9][0-9])$ /$1.bin redirect; }
            location /gone/ { return 404; }
            location /late/ { limit_rate 8k; \(body) }
            location /busy/ { \(sometimes) { return 503; } return 200 "$request_uri"; }
            location /broken/ { \(sometimes) { return 500; } return 200 "$request_uri"; }
            location /cut/ { \(sometimes) { return 444; } return 200 "$request_uri"; }
            """
    }
}

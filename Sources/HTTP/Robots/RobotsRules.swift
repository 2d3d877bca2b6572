internal import GannetBase

/// The rules of a robots.txt for one agent.
///
/// Takes about as much memory as the lines that it came from, and a pattern of other octets than letters up to three times its own.
package struct RobotsRules: Sendable, Equatable {
    /// All is allowed. It stands for a robots.txt that is not there: a 4xx (RFC 9309, section 2.3.1.3).
    package static let everything = RobotsRules()

    /// Nothing is allowed but /robots.txt. It stands for a robots.txt that cannot be had: a 5xx (RFC 9309, section 2.3.1.4). Its rule says
    /// `Disallow: /` on line 0, because no file has that line.
    package static let nothing: RobotsRules = {
        let line = Array("Disallow: /".utf8)
        var rules = RobotsRules()
        rules.add(isAllow: false, pattern: line[10...], text: line[...], line: 0)
        return rules
    }()

    /// Seconds between two requests, finite and not negative: the longest of the groups that apply. Its bound is the caller's.
    package private(set) var crawlDelay: Double?

    /// How many rules there are; rules without a pattern do not count. The length of a file bounds them to some 64,000.
    package var count: Int { rules.count }

    /// A verdict that takes more steps is given up. Fifty thousand patterns with `*` take fewer with a path of fifty octets, and so does each
    /// number of patterns without.
    static let maximumSteps = 5_000_000
    /// In characters, for a person: the text is a stranger's.
    private static let longestShown = 120

    /// Patterns in normal form, and the lines' texts.
    private var octets: [UInt8] = []
    /// The rules with the most octets first, of these the allowing ones first.
    private var rules: [Rule] = []

    private struct Rule: Equatable {
        let isAllow: Bool
        let isAnchored: Bool
        let pattern: Range<Int>
        let text: Range<Int>
        let line: Int

        /// In octets of the normal form, with each `*` and the `$`.
        var length: Int { pattern.count + (isAnchored ? 1 : 0) }
    }

    private init() {}

    init(_ lines: [RobotsLine], of file: [UInt8], crawlDelay: Double?) {
        self.crawlDelay = crawlDelay
        rules.reserveCapacity(lines.count)
        for line in lines { add(isAllow: line.key == .allow, pattern: file[line.value], text: file[line.text], line: line.number) }
        rules.sort { ($0.length, $0.isAllow ? 1 : 0, $1.line) > ($1.length, $1.isAllow ? 1 : 0, $0.line) }
    }

    private mutating func add(isAllow: Bool, pattern: ArraySlice<UInt8>, text: ArraySlice<UInt8>, line: Int) {
        let start = octets.count
        let isAnchored = NormalPath.append(pattern: pattern, to: &octets)
        let end = octets.count
        if !isAllow { octets += text.prefix(4 * Self.longestShown) }
        rules.append(Rule(isAllow: isAllow, isAnchored: isAnchored, pattern: start..<end, text: end..<octets.count, line: line))
    }

    /// The verdict on a path with its query, percent-encoded as it goes over the wire. `/robots.txt` itself is always allowed.
    ///
    /// A path that would take more than five million steps is disallowed: nobody knows whether the rules allow it.
    package func verdict(path: String) -> RobotsVerdict {
        verdict(path: path).verdict
    }

    func verdict(path: String) -> (verdict: RobotsVerdict, steps: Int) {
        if rules.isEmpty { return (.allowed, 0) }
        let path = NormalPath.octets(of: path)
        if path.elementsEqual("/robots.txt".utf8) { return (.allowed, 0) }
        return path.withUnsafeBufferPointer { path in
            octets.withUnsafeBufferPointer { octets in
                var matcher = PatternMatcher(path: path)
                for rule in rules {
                    if matcher.steps > Self.maximumSteps {
                        return (.disallowed(rule: "more rules with * than can be compared", line: rule.line), matcher.steps)
                    }
                    guard matcher.matches(octets[rule.pattern], isAnchored: rule.isAnchored) else { continue }
                    if rule.isAllow { return (.allowed, matcher.steps) }
                    let text = String(decoding: octets[rule.text], as: UTF8.self).shown(atMost: Self.longestShown)
                    return (.disallowed(rule: text, line: rule.line), matcher.steps)
                }
                return (.allowed, matcher.steps)
            }
        }
    }
}

/// Whether a URL may be fetched.
package enum RobotsVerdict: Sendable, Equatable {
    case allowed
    /// The rule is the line as the file has it, for a person: shortened, and without control characters. Lines are counted from 1.
    case disallowed(rule: String, line: Int)
}

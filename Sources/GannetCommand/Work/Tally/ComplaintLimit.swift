/// How much of a kind is told one by one, such as failures: some at first, a few in each minute after that, and of the rest their number. Ten thousand lines about
/// one dead host help nobody. A struct without a clock.
struct ComplaintLimit: Sendable {
    enum Word: Equatable {
        case tell
        /// And say first how many were not told of.
        case tellAfter(Int)
        case keep
    }

    private let aMinute: Int
    private var windowBegan: ContinuousClock.Instant?
    private var left: Int
    private var untold = 0

    private static let window = Duration.seconds(60)

    init(atFirst: Int, aMinute: Int) {
        left = atFirst
        self.aMinute = aMinute
    }

    mutating func note(at now: ContinuousClock.Instant) -> Word {
        let began = windowBegan ?? now
        windowBegan = began
        if now - began >= Self.window {
            windowBegan = now
            left = aMinute
        }
        guard left > 0 else {
            untold += 1
            return .keep
        }
        left -= 1
        return rest().map(Word.tellAfter) ?? .tell
    }

    /// Those not told of since this was asked last.
    mutating func rest() -> Int? {
        defer { untold = 0 }
        return untold > 0 ? untold : nil
    }
}

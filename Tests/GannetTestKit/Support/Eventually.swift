/// Looks again and again for a change that gives no sign, and throws when it has not come within the limit.
///
/// A line of output, a stream, a pipe that closes and a command that Redis carries out are signs: a test waits for these instead.
///
/// - Parameter what: Names the change; it is put together only when the wait was in vain.
package func eventually(
    _ what: @autoclosure () -> String, within limit: Duration = .seconds(90), file: String = #fileID, line: Int = #line,
    isolation: isolated (any Actor)? = #isolation, _ isSo: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while true {
        let begun = ContinuousClock.now
        if try await isSo() { return }
        guard .now < end else { throw KitError("\(file):\(line): waited \(limit) in vain for this: \(what())") }
        // A look may be a command or start a process. Looks without a pause would take the processor from what they wait for.
        try await Task.sleep(for: max(.milliseconds(2), min(begun.duration(to: .now) * 4, .milliseconds(200))))
    }
}

/// Waits for a sign, and throws when it has not come within the limit. `sign` ends when its task is cancelled.
package func bounded<Value: Sendable>(
    _ what: String, within limit: Duration = .seconds(60), _ sign: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask(operation: sign)
        group.addTask {
            try await Task.sleep(for: limit)
            throw KitError("waited \(limit) in vain for this: \(what)")
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}

/// Tries `body` with longer and longer times, until it says that the machine was quick enough.
///
/// It is for a test in which other work has to be done before a time of the product ends, on a slow machine too. With one long time such a test
/// would take that long everywhere.
package func withGrowingTime(
    from first: Duration, upTo last: Duration, isolation: isolated (any Actor)? = #isolation, _ body: (Duration) async throws -> Bool
) async throws {
    var time = first
    while try await !body(time) {
        guard time < last else { throw KitError("the work was not done within \(time)") }
        time = min(time * 4, last)
    }
}

import Foundation

/// Runs the body of a test in a process of its own: the test program once more, which is told to run that test alone.
///
/// It is for tests of what a whole process has, such as its descriptors, threads and memory, and for tests that change these. An exit test of
/// swift-testing waits for its process on one of the few threads that all tests share. Two of them hold up all others.
///
/// - Parameters:
///   - end: How the process has to end.
///   - more: Variables of its environment.
package func inOwnProcess(
    ending end: ChildProcess.ExitStatus = .exited(0), with more: [String: String] = [:], file: String = #fileID, test: String = #function,
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
) async throws {
    let mark = "GANNET_TEST_ALONE"
    var environment = ProcessInfo.processInfo.environment
    guard environment[mark] == nil else { return try await body() }
    environment.merge(more) { $1 }
    environment[mark] = test
    let words = ["--testing-library", "swift-testing", "--filter", pattern(of: test, file)]
    let outcome = try await ChildProcess.run(.init(CommandLine.arguments[0], words, environment: environment))
    guard outcome.status == end else {
        throw KitError("the test's own process ended with \(outcome.status): \(outcome.output)\(outcome.errors)")
    }
}

/// Matches the one test of this name in this file, whose name is `ROOM/FILE`.
private func pattern(of test: String, _ file: String) -> String {
    let name = test.hasSuffix("()") ? test.dropLast(2) : test[...]
    let (room, place) = (file.prefix { $0 != "/" }, file.drop { $0 != "/" })
    func escaped(_ text: some StringProtocol) -> String { NSRegularExpression.escapedPattern(for: String(text)) }
    return "^\(room)\\..*/`?\(escaped(name.filter { $0 != "`" }))`?\\(\\)\(escaped(place)):"
}

extension ChildProcess {
    /// What a program that has ended left behind.
    package struct Outcome: Sendable {
        package let status: ExitStatus
        package let output: String
        package let errors: String
    }

    /// Runs a program to its end. A cancelled caller kills it.
    package static func run(_ options: Options) async throws -> Outcome {
        let child = try ChildProcess(options)
        let status = try await child.exitStatus
        try await child.output.finished()
        try await child.errors.finished()
        return Outcome(status: status, output: child.output.text, errors: child.errors.text)
    }

    /// Runs a program that has to succeed; answers its standard output.
    @discardableResult
    package static func succeed(_ program: String, _ arguments: [String], folder: String? = nil) async throws -> String {
        let outcome = try await run(Options(program, arguments, folder: folder))
        guard outcome.status == .exited(0) else {
            throw KitError("\(program) \(arguments.joined(separator: " ")) ended with \(outcome.status): \(outcome.errors)")
        }
        return outcome.output
    }
}

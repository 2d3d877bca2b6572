import BenchmarkKit
import GannetTestKit

/// A program that runs to its end. It has to succeed, and its time has a bound.
struct Command: Sendable {
    var program: String
    var arguments: [String]
    var environment: [String: String]?
    var folder: String?
    var limit = Duration.seconds(600)

    init(_ program: String, _ arguments: [String], environment: [String: String]? = nil, folder: String? = nil) {
        self.program = program
        self.arguments = arguments
        self.environment = environment
        self.folder = folder
    }

    /// The time from its start to its end, and what the system says of the process and of the children that it waited for.
    struct End: Sendable {
        let seconds: Double
        let usage: ChildProcess.Usage
        let output: String
        let errors: String
    }

    func run() async throws -> End {
        let options = ChildProcess.Options(program, arguments, environment: environment, folder: folder)
        let start = ContinuousClock.now
        let outcome = try await bounded("\(name) ends", within: limit) { try await ChildProcess.run(options) }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        guard outcome.status == .exited(0) else {
            throw KitError("\(name) \(arguments.joined(separator: " ")) ended with \(outcome.status): \(outcome.output)\(outcome.errors)")
        }
        return End(seconds: seconds, usage: outcome.usage, output: outcome.output, errors: outcome.errors)
    }

    /// The last part of the program's path.
    var name: String { program.split(separator: "/").last.map(String.init) ?? program }

    /// Its words as a reader types them. Of the paths of this run only the last part is kept.
    var line: String {
        ([name] + arguments).map { word in
            if word.isEmpty { return "''" }
            for start in ["/", "unix:///"] where word.hasPrefix(start) && word != "/dev/null" {
                return String(start.dropLast()) + (word.split(separator: "/").last ?? "")
            }
            return word
        }.joined(separator: " ")
    }
}

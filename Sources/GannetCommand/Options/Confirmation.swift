import CommandLineKit
import GannetBasics

/// Asking before something is lost: on a terminal a question, elsewhere only with `--yes`.
struct Confirmation: Sendable {
    static let yes = Toggle("yes", short: "y", "Do not ask.")

    private let isGiven: Bool

    var mustAsk: Bool { !isGiven }

    /// - Parameter what: What would be lost, for whoever cannot be asked: `'purge' empties a queue`.
    init(_ arguments: Arguments, of what: String) throws(UsageError) {
        isGiven = arguments.isSet(Self.yes)
        guard isGiven || (isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1) else {
            throw arguments.usageError("\(what), and there is no terminal to ask at: say '--yes' to do it.", about: Self.yes.entry)
        }
    }

    /// Whether to go on. Anything but a yes is a no.
    func ask(_ question: @autoclosure () -> String, _ console: Console) -> Bool {
        if isGiven { return true }
        console.ask(question() + " [y/N] ")
        let answer = readLine()?.lowercased() ?? ""
        if ["y", "yes"].contains(answer) { return true }
        console.complain("Nothing was changed.")
        return false
    }
}

/// Options and commands of other tools, and their names here.
package struct Habits: Sendable {
    package enum Advice: Sendable {
        /// The option of this name, without its dashes.
        case option(String)
        /// A sentence about what this program does instead.
        case sentence(String)
    }

    private let options: [String: Advice]
    private let commands: [String: String]

    /// - Parameters:
    ///   - options: By their names without dashes.
    ///   - commands: Words of commands, each with a sentence.
    package init(options: [String: Advice] = [:], commands: [String: String] = [:]) {
        self.options = options
        self.commands = commands
    }

    /// A sentence about an option that a command does not have; nil where nothing is known of it.
    func advice(on option: String, in spec: CommandSpec, root: CommandSpec) -> String? {
        switch options[option.replacingUnderscores] ?? options[option] {
        case .sentence(let sentence)?: return sentence
        case .option(let name)?:
            if spec.allFlags.contains(where: { $0.name == name && !$0.isHidden }) { return "Here it is '--\(name)'." }
            let owner = root.listed.first { $0.spec.flags.contains { $0.name == name && !$0.isHidden } }
            return owner.map { "It is '--\(name)' of '\($0.name)'." }
        case nil:
            let owners = root.listed.filter { command in
                command.spec.flags.contains { ($0.name == option || $0.short.map(String.init) == option) && !$0.isHidden }
            }
            // Without a command its name was left out, and the first one is meant.
            let names = owners.prefix(spec.name == root.name ? 1 : 3).map { "'\($0.name)'" }
            return names.isEmpty ? nil : "It is an option of \(Sentence.all(of: Array(names)))."
        }
    }

    /// An address stands for a command that fetches it.
    func advice(on command: String) -> String? { commands[command.contains("://") ? "fetch" : command] }
}

extension String {
    /// Some programs write `url_list` where others write `url-list`.
    fileprivate var replacingUnderscores: String { String(map { $0 == "_" ? "-" : $0 }) }
}

/// A shell that can be told what may follow on a command line.
package enum CompletionShell: String, Sendable, CaseIterable {
    case bash
    case zsh
    case fish

    /// The script that such a shell reads, made from the table alone.
    package func script(for root: CommandSpec) -> String {
        switch self {
        case .bash: BashCompletion(root: root).text
        case .zsh: ZshCompletion(root: root).text
        case .fish: FishCompletion(root: root).text
        }
    }
}

extension CommandSpec {
    /// Every option of any command that is followed by a value: what a script has to step over on its way to the command's name.
    var spellingsWithValues: [String] {
        var seen: Set<String> = []
        return listed.flatMap(\.spec.shownFlags).filter { $0.valueCompletion != nil }.flatMap(\.spellings).filter {
            seen.insert($0).inserted
        }
    }
}

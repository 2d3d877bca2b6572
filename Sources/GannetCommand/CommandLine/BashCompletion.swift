/// For bash 3.2 and later, with or without the package bash-completion.
struct BashCompletion {
    let root: CommandSpec

    var text: String {
        let function = "_\(root.name)"
        let names = root.listed.dropFirst().map { "'\($0.name)'" }.joined(separator: "|")
        return """
            # Completions of \(root.name) for bash; made by '\(root.name) completions bash'.
            \(function)() {
                local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path=\(root.name) skip= word i
                local options= commands= words= files= IFS=$'\\n'
                # bash cuts words at '=' too.
                if [[ $cur == '=' ]]; then cur=; elif [[ $prev == '=' ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
                for ((i = 1; i < COMP_CWORD; i++)); do
                    word=${COMP_WORDS[i]}
                    if [[ $word == '=' ]]; then skip=1; continue; fi
                    if [[ -n $skip ]]; then skip=; continue; fi
                    case $word in
                    \(root.spellingsWithValues.joined(separator: "|"))) [[ ${COMP_WORDS[i+1]} == '=' ]] || skip=1 ;;
                    *)
                        case "$path $word" in
                        \(names)) path="$path $word" ;;
                        esac
                        ;;
                    esac
                done
                case $path in
            \(root.listed.map(command).joined(separator: "\n"))
                esac
                if [[ -n $files ]]; then
                    compopt -o filenames 2>/dev/null
                    COMPREPLY=($(compgen "$files" -- "$cur"))
                elif [[ $words != - && -n $words ]]; then
                    COMPREPLY=($(compgen -W "$words" -- "$cur"))
                elif [[ $words != - && $cur == -* ]]; then
                    COMPREPLY=($(compgen -W "$options" -- "$cur"))
                elif [[ $words != - ]]; then
                    COMPREPLY=($(compgen -W "$commands" -- "$cur"))
                else
                    COMPREPLY=()
                fi
            }
            complete -F \(function) \(root.name)
            """
    }

    private func command(_ listed: CommandSpec.Listed) -> String {
        var lines = ["    '\(listed.name)')"]
        lines.append("        options=\(Self.words(listed.spec.shownFlags.flatMap(\.spellings)))")
        var commands = listed.spec.shownCommands.map(\.name)
        if case .choices(let words)? = listed.spec.positional?.completion { commands += words }
        if !commands.isEmpty { lines.append("        commands=\(Self.words(commands))") }
        lines.append("        case $prev in")
        for flag in listed.spec.shownFlags {
            guard let completion = flag.valueCompletion else { continue }
            lines.append("        \(flag.spellings.joined(separator: "|"))) \(Self.offer(completion)) ;;")
        }
        if let positional = listed.spec.positional?.completion, positional == .file || positional == .folder {
            lines.append("        *) [[ $cur == -* ]] || \(Self.offer(positional)) ;;")
        }
        return (lines + ["        esac", "        ;;"]).joined(separator: "\n")
    }

    /// A dash alone says that nothing can be offered.
    private static func offer(_ completion: Completion) -> String {
        switch completion {
        case .none: "words=-"
        case .file: "files=-f"
        case .folder: "files=-d"
        case .choices(let words): "words=\(Self.words(words))"
        }
    }

    /// One a line, as `compgen -W` cuts them here.
    private static func words(_ words: [String]) -> String { "$'\(words.joined(separator: "\\n"))'" }
}

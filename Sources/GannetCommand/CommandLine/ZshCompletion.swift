/// For zsh: to be read as it is, or put into a folder of `fpath` as `_gannet`.
struct ZshCompletion {
    let root: CommandSpec

    var text: String {
        """
        #compdef \(root.name)
        # Completions of \(root.name) for zsh; made by '\(root.name) completions zsh'.

        \(root.listed.map(function).joined(separator: "\n\n"))

        if [[ $funcstack[1] == _\(root.name) ]]; then
            _\(root.name) "$@"
        else
            compdef _\(root.name) \(root.name)
        fi
        """
    }

    private func function(_ listed: CommandSpec.Listed) -> String {
        let name = Self.name(listed.path)
        var specs = listed.spec.shownFlags.flatMap(Self.option)
        let commands = listed.spec.shownCommands
        if commands.isEmpty {
            if let positional = listed.spec.positional {
                let count = positional.isSingle ? "1" : "*"
                specs.append(Self.quoted("\(count):\(Self.plain(positional.placeholder)):\(Self.action(positional.completion))"))
            }
            return """
                \(name)() {
                    _arguments -s -S : \\
                        \(specs.joined(separator: " \\\n        "))
                }
                """
        }
        specs += ["'1:command:->command'", "'*::argument:->arguments'"]
        let described = commands.map { Self.quoted("\($0.name):\($0.summary)") }
        let cases = commands.map { "        \($0.name)) \(Self.name(listed.path + [$0.name])) ;;" }
        return """
            \(name)() {
                local context state state_descr line
                typeset -A opt_args
                _arguments -C -s -S : \\
                    \(specs.joined(separator: " \\\n        ")) && return
                case $state in
                command)
                    local -a commands=(
                        \(described.joined(separator: "\n            "))
                    )
                    _describe -t commands command commands
                    ;;
                arguments)
                    case $words[1] in
            \(cases.joined(separator: "\n"))
                    esac
                    ;;
                esac
            }
            """
    }

    private static func name(_ path: [String]) -> String { "_" + path.joined(separator: "_") }

    /// One for each way to write it, which rule each other out unless the option can be repeated.
    private static func option(_ flag: FlagEntry) -> [String] {
        let excluded = flag.isRepeatable ? "*" : "(\(flag.spellings.joined(separator: " ")))"
        return flag.spellings.map { spelling in
            var spec = excluded + spelling
            guard let completion = flag.valueCompletion, case .value(let placeholder, _, _) = flag.form else {
                return quoted(spec + "[\(plain(flag.summary))]")
            }
            spec += spelling.hasPrefix("--") ? "=" : "+"
            return quoted(spec + "[\(plain(flag.summary))]:\(plain(placeholder)):\(action(completion))")
        }
    }

    private static func action(_ completion: Completion) -> String {
        switch completion {
        case .none: " "
        case .file: "_files"
        case .folder: "_files -/"
        case .choices(let words): "(\(words.joined(separator: " ")))"
        }
    }

    /// Brackets and colons mean something in a specification.
    private static func plain(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("[", with: "\\[").replacing("]", with: "\\]").replacing(":", with: "\\:")
    }

    private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
}

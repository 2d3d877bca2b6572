/// The scripts by which a shell completes commands and options, made from the table alone.
struct Completions {
    let root: CommandSpec

    /// Every option of any command that is followed by a value. A script steps over these on its way to the command's name.
    private var spellingsWithValues: [String] {
        var seen: Set<String> = []
        return root.listed.flatMap(\.spec.shownFlags).filter { $0.value != nil }.flatMap(\.spellings).filter {
            seen.insert($0).inserted
        }
    }

    /// The commands but the program itself, as patterns of a shell.
    private func names(separator: String) -> String { root.listed.dropFirst().map { "'\($0.name)'" }.joined(separator: separator) }

    /// For bash 3.2 and later, with or without the package bash-completion.
    var bash: String {
        let function = "_\(root.name)"
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
                    \(spellingsWithValues.joined(separator: "|"))) [[ ${COMP_WORDS[i+1]} == '=' ]] || skip=1 ;;
                    *)
                        case "$path $word" in
                        \(names(separator: "|"))) path="$path $word" ;;
                        esac
                        ;;
                    esac
                done
                case $path in
            \(root.listed.map(bashCase).joined(separator: "\n"))
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

    private func bashCase(_ listed: CommandSpec.Listed) -> String {
        // One word a line, as `compgen -W` cuts them here.
        func list(_ words: [String]) -> String { "$'\(words.joined(separator: "\\n"))'" }
        // A dash alone says that nothing can be offered.
        func offer(_ completion: Completion) -> String {
            switch completion {
            case .none: "words=-"
            case .file: "files=-f"
            case .folder: "files=-d"
            case .choices(let words): "words=\(list(words))"
            }
        }
        var lines = ["    '\(listed.name)')"]
        lines.append("        options=\(list(listed.spec.shownFlags.flatMap(\.spellings)))")
        var commands = listed.spec.shownCommands.map(\.name)
        if case .choices(let words)? = listed.spec.positional?.completion { commands += words }
        if !commands.isEmpty { lines.append("        commands=\(list(commands))") }
        lines.append("        case $prev in")
        for flag in listed.spec.shownFlags {
            guard let completion = flag.value?.completion else { continue }
            lines.append("        \(flag.spellings.joined(separator: "|"))) \(offer(completion)) ;;")
        }
        if let positional = listed.spec.positional?.completion, positional == .file || positional == .folder {
            lines.append("        *) [[ $cur == -* ]] || \(offer(positional)) ;;")
        }
        return (lines + ["        esac", "        ;;"]).joined(separator: "\n")
    }
}

extension Completions {
    /// For zsh: to be read as it is, or put into a folder of `fpath` as `_gannet`.
    var zsh: String {
        """
        #compdef \(root.name)
        # Completions of \(root.name) for zsh; made by '\(root.name) completions zsh'.

        \(root.listed.map(zshFunction).joined(separator: "\n\n"))

        if [[ $funcstack[1] == _\(root.name) ]]; then
            _\(root.name) "$@"
        else
            compdef _\(root.name) \(root.name)
        fi
        """
    }

    private func zshFunction(_ listed: CommandSpec.Listed) -> String {
        let name = Self.zshName(listed.path)
        var specs = listed.spec.shownFlags.flatMap(Self.zshOption)
        let commands = listed.spec.shownCommands
        if commands.isEmpty {
            if let positional = listed.spec.positional {
                let count = positional.isSingle ? "1" : "*"
                specs.append(Self.zshQuoted("\(count):\(Self.zshPlain(positional.placeholder)):\(Self.zshAction(positional.completion))"))
            }
            return """
                \(name)() {
                    _arguments -s -S : \\
                        \(specs.joined(separator: " \\\n        "))
                }
                """
        }
        specs += ["'1:command:->command'", "'*::argument:->arguments'"]
        let described = commands.map { Self.zshQuoted("\($0.name):\($0.summary)") }
        let cases = commands.map { "        \($0.name)) \(Self.zshName(listed.path + [$0.name])) ;;" }
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

    private static func zshName(_ path: [String]) -> String { "_" + path.joined(separator: "_") }

    /// One for each way to write it, which rule each other out unless the option can be repeated.
    private static func zshOption(_ flag: FlagEntry) -> [String] {
        let excluded = flag.isRepeatable ? "*" : "(\(flag.spellings.joined(separator: " ")))"
        return flag.spellings.map { spelling in
            var spec = excluded + spelling
            guard let value = flag.value else { return zshQuoted(spec + "[\(zshPlain(flag.summary))]") }
            spec += spelling.hasPrefix("--") ? "=" : "+"
            return zshQuoted(spec + "[\(zshPlain(flag.summary))]:\(zshPlain(value.placeholder)):\(zshAction(value.completion))")
        }
    }

    private static func zshAction(_ completion: Completion) -> String {
        switch completion {
        case .none: " "
        case .file: "_files"
        case .folder: "_files -/"
        case .choices(let words): "(\(words.joined(separator: " ")))"
        }
    }

    /// Brackets and colons mean something in a specification.
    private static func zshPlain(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("[", with: "\\[").replacing("]", with: "\\]").replacing(":", with: "\\:")
    }

    private static func zshQuoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
}

extension Completions {
    /// For fish 3 and later.
    var fish: String {
        let function = "__\(root.name)_at"
        return """
            # Completions of \(root.name) for fish; made by '\(root.name) completions fish'.
            function \(function) -d 'Whether the command line is at this command'
                set -l path \(root.name)
                set -l skip 0
                for word in (commandline -opc)[2..]
                    if test $skip = 1
                        set skip 0
                        continue
                    end
                    switch $word
                        case \(spellingsWithValues.joined(separator: " "))
                            set skip 1
                        case '*'
                            if contains -- "$path $word" \(names(separator: " "))
                                set path "$path $word"
                            end
                    end
                end
                test "$path" = "$argv[1]"
            end
            complete -c \(root.name) -e
            complete -c \(root.name) -f
            \(root.listed.flatMap { fishLines($0, at: function) }.joined(separator: "\n"))
            """
    }

    private func fishLines(_ listed: CommandSpec.Listed, at function: String) -> [String] {
        func quoted(_ text: String) -> String { "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'" }
        func offer(_ completion: Completion, isValue: Bool) -> String {
            switch completion {
            case .none: " -x"
            case .file: isValue ? " -r -F" : " -F"
            case .folder: (isValue ? " -x" : "") + " -a '(__fish_complete_directories)'"
            case .choices(let words): (isValue ? " -x" : "") + " -a \(quoted(words.joined(separator: " ")))"
            }
        }
        let start = "complete -c \(root.name) -n \"\(function) '\(listed.name)'\""
        var lines = listed.spec.shownCommands.map { "\(start) -a \($0.name) -d \(quoted($0.summary))" }
        if let completion = listed.spec.positional?.completion, completion != .none {
            lines.append(start + offer(completion, isValue: false))
        }
        for flag in listed.spec.shownFlags {
            let short = flag.short.map { " -s \($0)" } ?? ""
            let value = flag.value.map { offer($0.completion, isValue: true) } ?? ""
            lines.append("\(start) -l \(flag.name)\(short)\(value) -d \(quoted(flag.summary))")
        }
        return lines
    }
}

/// For fish 3 and later.
struct FishCompletion {
    let root: CommandSpec

    private var function: String { "__\(root.name)_at" }

    var text: String {
        let names = root.listed.dropFirst().map { "'\($0.name)'" }.joined(separator: " ")
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
                        case \(root.spellingsWithValues.joined(separator: " "))
                            set skip 1
                        case '*'
                            if contains -- "$path $word" \(names)
                                set path "$path $word"
                            end
                    end
                end
                test "$path" = "$argv[1]"
            end
            complete -c \(root.name) -e
            complete -c \(root.name) -f
            \(root.listed.flatMap(lines).joined(separator: "\n"))
            """
    }

    private func lines(_ listed: CommandSpec.Listed) -> [String] {
        let start = "complete -c \(root.name) -n \"\(function) '\(listed.name)'\""
        var lines = listed.spec.shownCommands.map { "\(start) -a \($0.name) -d \(Self.quoted($0.summary))" }
        if let completion = listed.spec.positional?.completion, completion != .none {
            lines.append(start + Self.offer(completion, isValue: false))
        }
        for flag in listed.spec.shownFlags {
            let short = flag.short.map { " -s \($0)" } ?? ""
            let value = flag.valueCompletion.map { Self.offer($0, isValue: true) } ?? ""
            lines.append("\(start) -l \(flag.name)\(short)\(value) -d \(Self.quoted(flag.summary))")
        }
        return lines
    }

    private static func offer(_ completion: Completion, isValue: Bool) -> String {
        switch completion {
        case .none: " -x"
        case .file: isValue ? " -r -F" : " -F"
        case .folder: (isValue ? " -x" : "") + " -a '(__fish_complete_directories)'"
        case .choices(let words): (isValue ? " -x" : "") + " -a \(quoted(words.joined(separator: " ")))"
        }
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }
}

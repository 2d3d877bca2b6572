import GannetBase

/// `gannet config`: the values of options, and where they are from.
enum ConfigCommand {
    static let spec = CommandSpec(
        "config",
        summary: "Show the values of options, and where each value is from.",
        discussion:
            "A configuration file has a line 'name = value' for an option, with its name as here. Lines below '[run]' or '[batch wait]' are for that "
            + "command alone, and win over those above. An option that can be repeated may stand in several lines. '#' begins a line that is a "
            + "comment. Values stand without quotes; 'true' sets an option without a value.\n"
            + "An option on the command line wins over its variable, and that over the file. A name or a line that is not understood is an error.",
        positional: Positional(
            "command",
            "The command whose options are shown, such as run or batch wait. Without one: all options that a variable or the file sets."),
        flags: [CommonFlags.json.entry] + CommonFlags.everywhere,
        examples: [
            "gannet config run": "Shows each option of 'gannet run' with its value.",
            "gannet config --config fleet.conf": "Checks a file, and shows the options that it sets.",
        ]
    ) { arguments in
        let (words, file) = (arguments.positionals, arguments.configuration)
        let console = Console(try LogOptions(arguments))
        let name = words.joined(separator: " ")
        let rows: [Row] = words.isEmpty ? try everywhere(file) : try settings(of: words, file).map { (setting: $0, commands: [name]) }
        if arguments.isSet(CommonFlags.json) {
            let json: JSONValue = ["schema": 1, "file": JSONValue(file?.path), "settings": .array(rows.map(Self.json))]
            return try console.print(json.text, last: .done)
        }
        if !rows.isEmpty { try console.print(table(of: rows, words.isEmpty)) }
        sayWhere(file, hasRows: !rows.isEmpty, console)
        return .done
    }

    /// A setting, and the commands that have it.
    private typealias Row = (setting: Setting, commands: [String])

    private static func settings(of command: [String], _ file: ConfigurationFile?) throws -> [Setting] {
        try CommandTable.parser.settings(of: command, environment: Surroundings.current.environment, configuration: file)
    }

    /// The settings that are no defaults, each once for all commands.
    private static func everywhere(_ file: ConfigurationFile?) throws -> [Row] {
        var rows: [Row] = []
        for command in CommandTable.parser.root.listed where command.spec.subcommands.isEmpty {
            let words = Array(command.path.dropFirst())
            let name = words.joined(separator: " ")
            for setting in try settings(of: words, file) where setting.origin != nil {
                if let place = rows.firstIndex(where: { $0.setting == setting }) {
                    // An option may have the same value twice.
                    if rows[place].commands.last != name { rows[place].commands.append(name) }
                } else {
                    rows.append((setting, [name]))
                }
            }
        }
        return rows
    }

    private static func table(of rows: [Row], _ areOfAll: Bool) -> TextTable {
        var table = areOfAll ? TextTable("OPTION", "VALUE", "FROM", "OF") : TextTable("OPTION", "VALUE", "FROM")
        for row in rows {
            let cells = [row.setting.option, row.setting.value ?? "-", source(row.setting)]
            let commands = row.commands.count == 1 ? row.commands[0] : "\(row.commands.count) commands"
            table.add((areOfAll ? cells + [commands] : cells).map { StyledText($0) })
        }
        return table
    }

    private static func sayWhere(_ file: ConfigurationFile?, hasRows: Bool, _ console: Console) {
        if !hasRows { console.note("no variable and no file sets an option.") }
        let usual = ConfigurationPlace(Surroundings.current.environment).usual.map { ", or make \(Sentence.quoted($0))" } ?? ""
        console.note(
            file.map { "the configuration file is \(Sentence.quoted($0.path))." }
                ?? "there is no configuration file: name one with '--config'\(usual).")
        if file == nil, access(ConfigurationPlace.name, F_OK) == 0 {
            console.note("the file '\(ConfigurationPlace.name)' in this folder is read only with '--config \(ConfigurationPlace.name)'.")
        }
    }

    private static func source(_ setting: Setting) -> String {
        switch setting.origin {
        case nil, .option?: "default"
        case .variable(let name)?: "environment \(name)"
        case .file(let path, let line)?: "file \(Sentence.quoted(path).dropFirst().dropLast()):\(line)"
        }
    }

    private static func json(_ row: Row) -> JSONValue {
        var (source, variable, line): (String, String?, Int?) = ("default", nil, nil)
        switch row.setting.origin {
        case nil, .option?: break
        case .variable(let name)?: (source, variable) = ("environment", name)
        case .file(_, let number)?: (source, line) = ("file", number)
        }
        return [
            "option": .string(row.setting.option), "value": JSONValue(row.setting.value), "source": .string(source),
            "variable": JSONValue(variable), "line": JSONValue(line), "commands": .array(row.commands.map { .string($0) }),
        ]
    }
}

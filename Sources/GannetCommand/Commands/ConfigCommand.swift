import GannetBase

/// `gannet config`: the values of options, and where they are from.
struct ConfigCommand: Command {
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
            Example("gannet config run", "Shows each option of 'gannet run' with its value."),
            Example("gannet config --config fleet.conf", "Checks a file, and shows the options that it sets."),
        ])

    private let words: [String]
    private let json: Bool
    private let console: Console
    private let file: ConfigurationFile?

    init(_ arguments: Arguments) throws {
        words = arguments.positionals
        json = arguments.isSet(CommonFlags.json)
        console = Console(try LogOptions(arguments))
        file = arguments.configuration
    }

    /// A setting, and the commands that have it.
    private struct Row {
        let setting: Setting
        var commands: [String]
    }

    func run() async throws -> ExitStatus {
        let rows =
            words.isEmpty ? try everywhere() : try settings(of: words).map { Row(setting: $0, commands: [words.joined(separator: " ")]) }
        if json {
            let json: JSONValue = ["schema": 1, "file": JSONValue(file?.path), "settings": .array(rows.map(Self.json))]
            try console.print(json.text)
            return .done
        }
        if !rows.isEmpty { try console.print(table(of: rows)) }
        sayWhere(hasRows: !rows.isEmpty)
        return .done
    }

    private func settings(of command: [String]) throws -> [Setting] {
        try CommandTable.parser.settings(of: command, environment: Surroundings.current.environment, configuration: file)
    }

    /// The settings that are no defaults, each once for all commands.
    private func everywhere() throws -> [Row] {
        var rows: [Row] = []
        var places: [Setting: Int] = [:]
        for command in CommandTable.parser.root.listed where command.spec.subcommands.isEmpty {
            let words = Array(command.path.dropFirst())
            for setting in try settings(of: words) where setting.origin != nil {
                let name = words.joined(separator: " ")
                if let place = places[setting] {
                    // An option may have the same value twice.
                    if rows[place].commands.last != name { rows[place].commands.append(name) }
                } else {
                    places[setting] = rows.count
                    rows.append(Row(setting: setting, commands: [name]))
                }
            }
        }
        return rows
    }

    private func table(of rows: [Row]) -> TextTable {
        var table = words.isEmpty ? TextTable("OPTION", "VALUE", "FROM", "OF") : TextTable("OPTION", "VALUE", "FROM")
        for row in rows {
            let cells = [row.setting.option, row.setting.value ?? "-", Self.source(row.setting)]
            let commands = row.commands.count == 1 ? row.commands[0] : "\(row.commands.count) commands"
            table.add((words.isEmpty ? cells + [commands] : cells).map { StyledText($0) })
        }
        return table
    }

    private func sayWhere(hasRows: Bool) {
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

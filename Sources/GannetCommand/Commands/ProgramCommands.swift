import GannetBase

/// Commands about the program itself and its processes on this machine.
enum ProgramCommands {
    private static let address = Flag(
        "listen", .listenAddress,
        "The address to ask: the '--listen' of a 'gannet work' or 'gannet run', or the '--bind' of a 'gannet serve' without TLS.")
    private static let ready = Toggle("ready", "Ask whether the worker can take jobs, rather than whether it is alive.")

    /// Longer than a worker takes to answer when its Redis is away.
    private static let healthBound = Duration.seconds(8)

    /// Container engines check health by running a program.
    static let health = CommandSpec(
        "health",
        summary: "Ask a worker or a gateway on this machine how it is.",
        discussion: "The exit status is 0 when all is well, and 69 when it is not or nobody answers.",
        flags: [address.entry, ready.entry] + CommonFlags.everywhere,
        examples: ["gannet health --listen 127.0.0.1:9464": "Asks the worker that was started with 'gannet work --listen 127.0.0.1:9464'."]
    ) { arguments in
        guard let address = try arguments.optional(address) else {
            throw arguments.usageError("Name the address to ask: '--listen 127.0.0.1:9464', as its 'gannet work' has it.")
        }
        let console = Console(try LogOptions(arguments))
        let path = arguments.isSet(ready) ? "/readyz" : "/healthz"
        let status = try await address.status(of: path, within: healthBound)
        guard status == 200 else { throw CommandFailure(.unavailable, "\(address.url) answers \(status) to \(path).") }
        console.detail("well: 200 to \(path) at \(address.url)")
        return .done
    }

    static let redis = CommandSpec(
        "redis", summary: "Stop the private Redis, which commands start and use without '--redis'.",
        subcommands: [stop, PrivateRedisKeepCommand.spec],
        examples: ["gannet redis stop": "Stops the private Redis, if it runs."])

    private static let stop = CommandSpec(
        "stop", summary: "Stop the private Redis now. Its data stays.",
        discussion: "While other commands use it, this one asks first. A run or a worker that goes on starts it again.",
        flags: [Confirmation.yes.entry] + CommonFlags.everywhere,
        examples: ["gannet redis stop": "Stops the private Redis, if it runs."]
    ) { arguments in
        let console = Console(try LogOptions(arguments))
        let news = try await PrivateRedis.stop(.current) { users in
            try Confirmation(arguments, of: "The private Redis is in use by \(users)").ask(
                "The private Redis is in use by \(users). Stop it?", console)
        }
        if let news { console.note(news) }
        return .done
    }

    private static let shells = ["bash", "zsh", "fish"]

    static let completions: CommandSpec = CommandSpec(
        "completions",
        summary: "Print a script that completes commands and options in a shell.",
        discussion: """
            bash: source <(gannet completions bash)
            zsh: source <(gannet completions zsh), behind compinit
            fish: gannet completions fish | source
            """,
        positional: Positional("shell", completion: .choices(shells), isSingle: true, "bash, zsh or fish."),
        flags: CommonFlags.everywhere,
        examples: ["source <(gannet completions bash)": "Completes gannet's commands in this shell."]
    ) { arguments in
        let scripts = Completions(root: CommandTable.parser.root)
        switch arguments.single {
        case "bash": try Console().print(scripts.bash)
        case "zsh": try Console().print(scripts.zsh)
        case "fish": try Console().print(scripts.fish)
        default: throw arguments.usageError("There are completions for \(Sentence.alternatives(shells.map { "'\($0)'" })).")
        }
        return .done
    }

    private static let man = Toggle("man", "Print a page for 'man'.")

    /// The page `Docs/COMMANDS.md`, and with `--man` the page `gannet.1`. For the build, so help does not list it.
    static let reference: CommandSpec = CommandSpec(
        "reference", summary: "Print all commands and options as Markdown.", flags: [man.entry], isHidden: true
    ) { arguments in
        let page = ManPage(CommandTable.parser, version: Version.current, seeAlso: ["curl(1)", "redis-server(1)"])
        try Console().print(arguments.isSet(man) ? page.text : Reference(CommandTable.parser).text)
        return .done
    }
}

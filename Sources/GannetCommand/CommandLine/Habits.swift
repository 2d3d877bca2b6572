/// Options and commands of other tools, and their names here.
struct Habits: Sendable {
    /// By names without dashes: an option here, without its dashes, or a sentence about what this program does instead.
    private let options: [String: String]
    /// Words of commands, each with a sentence.
    private let commands: [String: String]

    /// - Parameters: Pairs of names, with blanks between them, and what is said of each.
    init(options: [(String, String)] = [], commands: [(String, String)] = []) {
        func table(_ pairs: [(String, String)]) -> [String: String] {
            pairs.reduce(into: [:]) { table, pair in for name in pair.0.split(separator: " ") { table[String(name)] = pair.1 } }
        }
        self.options = table(options)
        self.commands = table(commands)
    }

    /// A sentence about an option that a command does not have; nil where nothing is known of it.
    func advice(on option: String, in spec: CommandSpec, root: CommandSpec) -> String? {
        // Some programs write `url_list` where others write `url-list`.
        if let known = options[option.replacing("_", with: "-")] ?? options[option] {
            if known.contains(" ") { return known }
            if spec.allFlags.contains(where: { $0.name == known && !$0.isHidden }) { return "Here it is '--\(known)'." }
            let owner = root.listed.first { $0.spec.flags.contains { $0.name == known && !$0.isHidden } }
            return owner.map { "It is '--\(known)' of '\($0.name)'." }
        }
        let owners = root.listed.filter { command in
            command.spec.flags.contains { ($0.name == option || $0.short.map(String.init) == option) && !$0.isHidden }
        }
        // Without a command its name was left out, and the first one is meant.
        let names = owners.prefix(spec.name == root.name ? 1 : 3).map { "'\($0.name)'" }
        return names.isEmpty ? nil : "It is an option of \(Sentence.all(of: Array(names)))."
    }

    /// An address stands for a command that fetches it.
    func advice(on command: String) -> String? { commands[command.contains("://") ? "fetch" : command] }

    /// Options and commands of curl, wget, aria2, img2dataset, Scrapy, Sidekiq and their like.
    static let ofOtherTools = Habits(
        options: [
            // How much at once, and how fast.
            ("j parallel-max max-concurrent-downloads thread-count processes-count threads", "concurrency"),
            ("parallel Z", "URLs are fetched side by side; '--concurrency' bounds that."),
            ("max-connection-per-server parallel-max-host concurrent-requests-per-domain", "host-limit"),
            ("silent", "quiet"),
            ("s", "curl's '-s' is '--quiet' here, that of aria2 '--host-limit', and Scrapy's settings have options of their own."),
            ("q", "wget's '-q' is '--quiet' here, and that of Sidekiq '--queue'."),
            ("split", "Each URL is fetched over one connection; '--host-limit' bounds the requests at one host."),
            ("max-download-limit max-overall-download-limit", "limit-rate"),
            ("rate-limit rate", "host-rate"),
            ("random-wait", "Pauses at a host come from '--host-rate': 'auto' keeps them as long as its answers take."),
            ("w wait download-delay", "'--host-rate 0.2' asks a host every five seconds."),
            // Time and attempts.
            ("max-time m T read-timeout", "timeout"),
            ("tries t retry max-tries retry-all-errors", "retries"),
            ("retry-max-time", "give-up-after"),
            ("retry-wait retry-delay waitretry", "Pauses between attempts grow by themselves."),
            // The list, and its pictures.
            ("input-file url-list", "input"),
            ("url-col", "column"),
            ("input-format", "format"),
            ("caption-col save-additional-columns", "carry"),
            ("image-size", "resize"),
            ("number-sample-per-shard", "samples-per-shard"),
            ("encode-format", "picture-format"),
            ("encode-quality", "picture-quality"),
            ("min-image-size", "min-size"),
            ("max-aspect-ratio", "max-aspect"),
            ("compute-hash", "The manifest has the SHA-256 of each body; '--verify' compares it with a column."),
            ("verify-hash checksum", "verify"),
            ("max-filesize", "max-body"),
            ("disallowed-header-directives", "opt-outs"),
            ("data post-data X request", "Only GET requests are sent."),
            ("recursive r", "Links in pages are not followed: a list names all URLs."),
            // How it is asked for.
            ("H", "header"),
            ("A U user-agent-token", "user-agent"),
            ("e", "'--header \"Referer: URL\"' sends a referer, and '--robots ignore' is wget's '-e robots=off'."),
            ("referer", "'--header \"Referer: URL\"' sends it."),
            ("b cookie load-cookies", "'--header \"Cookie: …\"' sends it."),
            ("u user", "The URL has them, as https://user:password@host/."),
            ("x", "curl's '-x' is '--proxy' here, and that of aria2 '--host-limit'."),
            ("all-proxy http-proxy https-proxy", "proxy"),
            ("socks5-hostname socks5", "'--proxy socks5h://HOST:PORT' goes through it."),
            ("cacert ca-certificate", "ca-file"),
            (
                "k insecure no-check-certificate check-certificate",
                "Certificates are always checked; '--ca-file' names an authority of your own."
            ),
            ("L location", "Redirects are followed, ten at most."),
            ("I head spider", "Only GET requests are sent; the manifest has each status and type."),
            ("max-redirs max-redirect", "Ten redirects are followed."),
            ("compressed", "Bodies are asked for compressed, and stored unpacked."),
            // Where it goes.
            ("P directory-prefix output-folder output-dir o output", "dir"),
            ("O remote-name remote-name-all output-document", "Bodies go into the folder of '--dir', under names of their own ('--name')."),
            ("c", "The same command again goes on where it stopped; '--concurrency' is Sidekiq's '-c'."),
            ("continue C continue-at incremental-mode", "The same command again goes on where it stopped."),
            ("no-clobber nc", "URLs whose bodies are there are not fetched again."),
            ("accept", "The list names what is fetched; 'grep' may choose among its lines."),
            ("N timestamping", "max-age"),
            ("fail f", "A 404 or a 500 is a failure, and its body is not stored."),
            ("allow-network allow-private", "allow-net"),
        ],
        commands: [
            ("wget", "'gannet run' fetches a list into a folder."),
            ("curl", "'gannet get --fetch URL' prints one body."),
            ("runspider crawl", "'gannet run' fetches a list into a folder. Links in pages are not followed."),
            ("dead", "'gannet jobs list --state dead' lists the jobs that were given up."),
            ("fetch download", "'gannet run' fetches a list into a folder, and 'gannet get --fetch' one URL."),
            ("retry", "'gannet jobs retry' tries dead jobs again, and 'gannet run' again the failed rows of a run."),
            ("list", "'gannet jobs list', 'gannet batch list', 'gannet hosts list' and 'gannet workers list' list what there is."),
            ("add push", "'gannet enqueue' adds URLs to a queue."),
            ("worker", "'gannet work' is a worker, and 'gannet workers list' lists those there are."),
            ("start", "'gannet work' starts a worker, and 'gannet serve' a gateway."),
            ("stop", "Ctrl-C or SIGTERM stops a command, and 'gannet workers drain' lets workers end."),
            ("server", "'gannet serve' starts a gateway."),
            ("clear flush", "'gannet purge' empties a queue."),
            ("inspect", "'gannet explain URL' says how a URL stands."),
            ("stats", "'gannet status' shows a queue."),
            ("monitor", "'gannet status --watch' shows a queue as it changes."),
            ("dashboard", "'gannet serve' shows queues in a browser."),
            ("cancel", "'gannet batch cancel' ends the waiting jobs of a batch."),
            ("delete", "'gannet jobs delete' deletes jobs."),
            ("ls", "'gannet jobs list' lists jobs."),
            ("shell", "'gannet get --fetch URL' prints one body, and 'gannet explain URL' what is known of it."),
        ])
}

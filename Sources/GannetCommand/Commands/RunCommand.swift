import Crawl
import GannetHTTP
import GannetQueue
import Results

/// `gannet run`: the whole thing in one process.
struct RunCommand {
    static let directory = Flag(
        "dir", short: "d", .folder(), isRequired: true, "The folder that receives the bodies. It is made when it is missing.")
    private static let maxFailures = Flag(
        "max-failures", .failureLimit, default: "0",
        "How many rows, or what share of them, may fail or be invalid before the exit status is 1."
    )
    static let json = Toggle("json", "Print a JSON object for each row of the input, in its order, and one with the totals.")

    private static let deadline = Flag(
        "deadline", .duration(in: .seconds(1)...(.seconds(365 * 86_400))),
        "How long the run may take. After that time requests in flight may end within '--drain-timeout'. URLs that are left count as failed, and the "
            + "same command goes on with it; with '--refresh' it begins anew.")
    private static let only = Flag(
        "only", .choice("rows", of: ["failed"]),
        "'failed' fetches only the URLs that the folder has not got, because they failed or are new, and asks again for bodies that could not be checked. "
            + "It does not look at the files of the others."
    )
    private static let errorClass = Flag(
        "class", .failureClass(besides: Self.classesOfRuns), isRepeatable: true, hasVariable: false,
        "With '--only failed': only URLs that failed with this class, such as 'timeout', or with this status, such as '404' or '5xx'. "
            + "Given again, also those of that class.")
    private static let classesOfRuns =
        Manifest.classesWithoutRecord + [VerifiedBodies.errorClass]
        + ThumbnailFailure.Kind.allCases.filter { $0.isOfPicture && !$0.isFinal }.map(\.rawValue)
    private static let finish = Toggle(
        "finish", hasVariable: false,
        "End the run that is at work in this folder, in whatever process of this machine, and wait for its end. Its requests in flight may end within "
            + "its '--drain-timeout', and URLs that are left count as failed. All options but '--dir' and '--json' are ignored.")
    private static let serve = Toggle(
        "serve",
        "Show the run and all pictures of its folder, in browsers of this machine, at an address that it prints. At a terminal the window stays "
            + "after the run until Ctrl-C.")

    static let spec = CommandSpec(
        "run",
        summary: "Fetch URLs into a folder, in one process.",
        discussion:
            "It writes a manifest with the outcome of each row into the folder, and leaves no jobs in Redis. The same command again "
            + "fetches only the URLs that are not there already. At a terminal the key f ends a run early, as '--deadline' and '--finish' do.",
        positional: InputOptions.positional,
        flags: InputOptions.flags + [
            InputOptions.carry.entry, VerifyOption.flag.entry, directory.entry, ResultOptions.format.entry, ResultOptions.archiveSize.entry,
            ResultOptions.samples.entry, ResultOptions.falsePictures.entry, ResultOptions.names.entry, ResultOptions.manifest.entry,
            maxFailures.entry, only.entry, errorClass.entry,
        ] + PictureOptions.flags + [ThumbnailOptions.programOfRun.entry] + SubmissionFlags.flags
            + [json.entry, serve.entry, deadline.entry, finish.entry, FetchOptions.drainTimeout.entry, ListenOption.ofRun.entry]
            + FetchOptions.flagsForJobs + ConnectionOptions.creatingFlags + CommonFlags.everywhere + [QueueOption.refused],
        mostUsed: ["input", "dir", "concurrency", "host-limit", "max-body", "retries", "json"],
        examples: [
            "gannet run -i urls.txt -d out": "Fetches each URL of a file into the folder 'out', and writes out/manifest.jsonl.",
            "gannet run -i images.csv --column image_url -d out --resize 256":
                "Stores a picture of 256 by 256 pixels for each URL in a column of a table.",
        ]
    ) { $0.isSet(finish) ? try await RunFinish.run($0) : try await RunCommand($0).run() }

    let input: InputOptions
    /// The folder for bodies.
    let directory: String
    let format: OutputFormat
    let archiveSize: Int
    let samplesPerShard: Int
    let names: NameStyle
    let manifest: ResultOptions.ManifestFormat
    /// Nil where bodies may be any.
    let verify: VerifyOption?
    /// Nil where bodies are stored as they are.
    let pictures: PictureOptions?
    /// Whether a body is refused that was served as a picture and is none.
    let refusesFalsePictures: Bool
    private let thumbnailProgram: ThumbnailProgram
    let batch: String
    let submission: BatchOptions
    let maxFailures: FailureLimit
    let json: Bool
    private let hasWindow: Bool
    let drainTimeout: Duration
    /// Nil where the run may take as long as it takes.
    let deadline: Duration?
    /// Which URLs of the list are fetched again.
    let demand: RecordedFolder.Demand
    /// Where it answers questions about its health, if anywhere.
    let listen: ListenAddress?
    let fetch: FetchOptions
    let connection: ConnectionOptions
    let console: Console

    private init(_ arguments: Arguments) throws {
        try QueueOption.refuse(arguments)
        directory = try arguments.require(Self.directory)
        verify = try VerifyOption(arguments)
        input = try InputOptions(arguments, rest: " -d " + Sentence.quotedForShell(directory), verify: verify)
        format = try ResultOptions.format(arguments)
        archiveSize = try arguments.require(ResultOptions.archiveSize)
        samplesPerShard = try arguments.require(ResultOptions.samples)
        names = try arguments.require(ResultOptions.names)
        manifest = try arguments.require(ResultOptions.manifest)
        pictures = try PictureOptions(arguments)
        thumbnailProgram = ThumbnailProgram(named: try arguments.optional(ThumbnailOptions.programOfRun), beside: Executable.path)
        batch = try arguments.optional(SubmissionFlags.batch) ?? RunIdentity.batch
        var submission = try SubmissionFlags.options(from: arguments)
        // Its bodies go into the folder, and none into Redis.
        submission.keeping = .cache
        self.submission = submission
        maxFailures = try arguments.require(Self.maxFailures)
        json = arguments.isSet(Self.json)
        hasWindow = arguments.isSet(Self.serve)
        drainTimeout = try arguments.require(FetchOptions.drainTimeout)
        deadline = try arguments.optional(Self.deadline)
        demand = try Self.demand(submission, arguments)
        if format == .warc, pictures != nil {
            throw arguments.usageError("Options for pictures change bodies, and '--output-format warc' stores these as they were sent.")
        }
        let keepsFalsePictures = arguments.isSet(ResultOptions.falsePictures)
        if keepsFalsePictures, pictures != nil {
            throw arguments.usageError(
                "'--keep-false-pictures' keeps bodies of which no picture can be made, and options for pictures make one of each.")
        }
        refusesFalsePictures = pictures != nil || format == .shards && !keepsFalsePictures
        if format != .files, hasWindow {
            throw arguments.usageError("'--serve' shows files of bodies, which '--output-format \(format.rawValue)' does not write.")
        }
        if format == .shards, submission.refresh || submission.maximumAge != nil {
            throw arguments.usageError(
                "'--refresh' and '--max-age' replace bodies, and a complete shard is never changed. Choose another folder without them.")
        }
        listen = try arguments.optional(ListenOption.ofRun)
        fetch = try FetchOptions(arguments)
        connection = try ConnectionOptions(arguments)
        console = Console(try LogOptions(arguments))
    }

    private static func demand(_ submission: BatchOptions, _ arguments: Arguments) throws -> RecordedFolder.Demand {
        let errorClasses = try arguments.all(errorClass)
        guard try arguments.optional(only) != nil else {
            if !errorClasses.isEmpty { throw arguments.usageError("'--class' chooses among failures: give '--only failed' too.") }
            return submission.refresh ? .fresh : submission.maximumAge.map { .younger(than: $0) } ?? .any
        }
        if submission.refresh || submission.maximumAge != nil {
            throw arguments.usageError("'--only failed' leaves all else as it is, and '--refresh' and '--max-age' do not.")
        }
        return .failed(errorClasses: errorClasses)
    }

    private func run() async throws -> ExitStatus {
        do {
            return try await fetchAll()
        } catch let failure as StorageFailure where failure.isFullDisk {
            throw CommandFailure(
                .cannotWrite, "\(failure.sentence) Complete files stay; when there is room, the same command goes on.")
        }
    }

    private func pictureMaker() async throws -> PictureMaker? {
        guard let pictures else { return nil }
        let maker = PictureMaker(thumbnailProgram, pictures.request)
        do throws(ThumbnailFailure) {
            try await maker.check()
        } catch {
            maker.close()
            throw CommandFailure(error)
        }
        return maker
    }

    private func fetchAll() async throws -> ExitStatus {
        let settings = try fetch.checkedSettings()
        // Before anything is fetched, and before a folder is made.
        let maker = try await pictureMaker()
        defer { maker?.close() }
        let rows = try RunInput(input)
        let folder = try WorkFolder.open(directory, names: names)
        var lock = try WorkFolder.lock(folder, .alone)
        defer { withExtendedLifetime(lock) {} }
        try WorkFolder.claim(folder, format, pictures: pictures?.text ?? "", console)
        try folder.checkRoom()
        let swept = lock.sweep()
        if swept > 0 { console.detail("removed \(Amounts.count(swept, "file")) that an earlier run left half-written") }
        let pipe = lock.finishPipe(in: folder)
        let identity = RunIdentity(input, folder: try lock.identity())
        let endpoint = try listen.map { try WorkerEndpoint($0, console: console) }
        defer { endpoint?.stop() }
        do {
            return try await connection.withAccess(console) { access, interruption in
                fetch.sayWhatProxyMeans(console)
                // Python takes a second to begin, in which a signal may come.
                let prepared = await interruption.cancelling { try await TableWriter.prepare(manifest) }
                guard let tables = try prepared.get(unlessInterrupted: interruption) else { return interruption.status }
                let window =
                    hasWindow ? try await RunWindow.open(self, settings, queue: identity.queue, access, folder) : nil
                let early = EarlyEnd(self, pipe, interruption)
                let run = Run(
                    options: self, input: rows, settings: settings, identity: identity, access: access, bodies: folder,
                    followsKill: swept > 0 || pipe.followsKill, interruption: interruption,
                    endpoint: endpoint, window: window, tables: tables, maker: maker,
                    expected: verify.map { ExpectedDigests($0.algorithm) }, early: early)
                do {
                    let status = try await run.run()
                    await window?.close(interruption)
                    return status
                } catch {
                    await window?.close(interruption)
                    throw error
                }
            }
        } catch let failure as StorageFailure where failure.isFullDisk {
            folder.noteFull()
            throw failure
        }
    }
}

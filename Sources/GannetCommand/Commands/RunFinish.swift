import GannetBase
import Results

/// `gannet run --finish`: asks the run that works in a folder to end now, waits for its end, and says what its manifest holds.
enum RunFinish {
    private static let pause = Duration.milliseconds(200)
    private static let noteInterval = Duration.seconds(10)

    static func run(_ arguments: Arguments) async throws -> ExitStatus {
        let directory = try arguments.require(RunCommand.directory)
        let console = Console(try LogOptions(arguments))
        let interruption = try Interruption()
        return try await interruption.watching {
            let folder = try WorkFolder.reading(directory)
            let outcome = await interruption.cancelling { try await finish(folder, json: arguments.isSet(RunCommand.json), console) }
            if let status = try outcome.get(unlessInterrupted: interruption) { return status }
            console.note("the run in \(folder.displayPath) was asked to end, and does so without this command.")
            return interruption.status
        }
    }

    private static func finish(_ folder: BodyFolder, json: Bool, _ console: Console) async throws -> ExitStatus {
        let path = "\(folder.path)/manifest.jsonl"
        let before = mark(of: path)
        try await ask(folder, console)
        guard mark(of: path) != before else {
            throw CommandFailure(
                .unavailable,
                "The run in \(folder.displayPath) has ended and has written no manifest: it failed or was killed. The same command goes on with its list."
            )
        }
        let found = try Manifest.count(ofFile: path)
        let counts = Manifest.outcomes.map { (name: $0, count: found.outcomes[$0] ?? 0) }
        if json {
            let members =
                [(key: "rows", value: JSONValue.integer(found.rows))] + counts.map { (key: $0.name, value: .integer($0.count)) }
            return try console.print(JSONValue.object([(key: "manifest", value: .object(members))]).text, last: .done)
        }
        let told = counts.filter { $0.count > 0 }.map { "\($0.count) \($0.name)" }.joined(separator: ", ")
        let sentence = "The run in \(folder.displayPath) has ended. Its manifest holds \(Amounts.count(found.rows, "row")): \(told)."
        return try console.print(prose: sentence, last: .done)
    }

    /// Returns when the run has ended.
    private static func ask(_ folder: BodyFolder, _ console: Console) async throws {
        let request: FinishRequest
        do {
            request = try FinishRequest(to: folder)
        } catch {
            throw CommandFailure(.unavailable, sentence(error, folder.displayPath))
        }
        console.note("asked the run in \(folder.displayPath) to end; waiting for its requests in flight and its manifest.")
        let patience = Times.current.finish
        let end = ContinuousClock.now + patience
        var nextNote = ContinuousClock.now + noteInterval
        while !request.hasEnded {
            let now = ContinuousClock.now
            guard now < end else {
                throw CommandFailure(
                    .timedOut,
                    "The run in \(folder.displayPath) was asked to end, and has not ended within \(Amounts.roughTime(patience)). The same command waits again."
                )
            }
            if now >= nextNote {
                nextNote = now + noteInterval
                console.note(
                    "the run has not ended yet: requests in flight may take its '--drain-timeout', and then it writes the manifest.")
            }
            try await Task.sleep(for: pause)
        }
    }

    private static func sentence(_ refusal: FinishRequest.Refusal, _ folder: String) -> String {
        switch refusal {
        case .noRun: "No run is at work in the folder \(folder), so there is nothing to end."
        case .otherUser: "The run in the folder \(folder) belongs to another user. That user or root may end it."
        case .unreachable:
            "The folder \(folder) is in use by a command that cannot be asked from here: an export, or a run on another machine or a disk "
                + "without named pipes. End it there with Ctrl-C."
        }
    }

    /// Tells a manifest from the one that replaces it.
    private static func mark(of path: String) -> [Int]? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return [Int(status.st_ino), status.modification.tv_sec, status.modification.tv_nsec]
    }
}

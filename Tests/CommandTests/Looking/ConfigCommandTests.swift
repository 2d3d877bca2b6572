import Foundation
import GannetTestKit
import Testing

/// `gannet config`, and configuration files that commands find.
@Suite(.timeLimit(.minutes(2))) struct ConfigCommandTests {
    private let folder: TemporaryFolder
    private let program: Program

    init() throws {
        folder = try TemporaryFolder()
        program = Program(home: folder.path)
    }

    /// The file that is read where none is named, below the home or in another folder.
    private func makeUsual(_ text: String, in parent: String = ".config") throws -> String {
        let path = folder.file("\(parent)/gannet")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try folder.write(Array(text.utf8), to: "\(parent)/gannet/gannet.conf")
        return path + "/gannet.conf"
    }

    private func row(_ option: String, in output: String) -> [String]? {
        output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }.first { $0.first == option }
    }

    @Test func `each option of a command is shown with its value, and a default, a variable or a line of the file as its source`()
        async throws
    {
        let file = try makeUsual("concurrency = 16\n[batch wait]\ntimeout = 1h\n[run]\nmax-body = 5MB\n")
        let outcome = try await program.run(["config", "run"], with: ["GANNET_RETRIES": "3"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(row("concurrency", in: outcome.output) == ["concurrency", "16", "file", "\(file):1"])
        #expect(row("max-body", in: outcome.output) == ["max-body", "5MB", "file", "\(file):5"])
        #expect(row("retries", in: outcome.output) == ["retries", "3", "environment", "GANNET_RETRIES"])
        #expect(row("timeout", in: outcome.output) == ["timeout", "1m", "default"])
        #expect(row("refresh", in: outcome.output) == ["refresh", "false", "default"])
        #expect(row("proxy", in: outcome.output) == ["proxy", "-", "default"])
        #expect(
            row("queue", in: outcome.output) == nil && row("listen", in: outcome.output) == nil && row("config", in: outcome.output) == nil)
        #expect(outcome.errors == "gannet: the configuration file is '\(file)'.\n")
        let wait = try await program.run("config", "batch", "wait")
        #expect(row("timeout", in: wait.output) == ["timeout", "1h", "file", "\(file):3"])
    }

    @Test func `without a command the options are shown that a variable or the file sets, each with its commands`() async throws {
        let file = try makeUsual("[run]\nmax-body = 5MB\n", in: "xdg")
        let outcome = try await program.run(["config"], with: ["XDG_CONFIG_HOME": folder.file("xdg"), "GANNET_UNTIL_EMPTY": "yes"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let lines = outcome.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        // The tests' own environment says how robots.txt is treated.
        let expected = [
            "OPTION VALUE FROM OF", "robots ignore environment GANNET_ROBOTS 2 commands", "max-body 5MB file \(file):2 run",
            "until-empty true environment GANNET_UNTIL_EMPTY work",
        ]
        #expect(lines == expected)
        // A relative folder is no place of configuration files.
        let none = try await program.run(["config"], with: ["XDG_CONFIG_HOME": "xdg", "GANNET_ROBOTS": nil])
        #expect(none.output == "")
        #expect(
            none.errors == """
                gannet: no variable and no file sets an option.
                gannet: there is no configuration file: name one with '--config', or make '\(folder.path)/.config/gannet/gannet.conf'.

                """)
    }

    @Test func `JSON has the same`() async throws {
        let file = folder.file("f.conf")
        try folder.write(Array("# ours\nqueue = mine\n".utf8), to: "f.conf")
        let outcome = try await program.run("config", "pause", "--json", "--config", file)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        #expect(json["schema"] as? Int == 1 && json["file"] as? String == file)
        let settings = try #require(json["settings"] as? [[String: Any]])
        let queue = try #require(settings.first { $0["option"] as? String == "queue" })
        #expect(queue["value"] as? String == "mine" && queue["source"] as? String == "file" && queue["line"] as? Int == 2)
        #expect(queue["variable"] is NSNull && queue["commands"] as? [String] == ["pause"])
        let redis = try #require(settings.first { $0["option"] as? String == "redis" })
        #expect(redis["value"] is NSNull && redis["source"] as? String == "default" && redis["line"] is NSNull)
    }

    @Test func `secrets are not shown`() async throws {
        let secrets = [
            "redis = redis://me:hunter2@h:1/3", "token = hunter2", "header = Authorization: Bearer hunter2",
            "proxy = http://me:hunter2@h:1",
        ]
        try folder.write(Array(secrets.joined(separator: "\n").utf8), to: "f.conf")
        let variables = ["GANNET_TOKEN": "hunter2", "GANNET_REDIS": "redis://:hunter2@h"]
        for (words, more) in [(["config"], [:]), (["config", "--json"], [:]), (["config"], variables), (["config", "run"], [:])] {
            let outcome = try await program.run(words + ["--config", folder.file("f.conf")], with: more)
            #expect(outcome.status == 0 && outcome.output.contains("•••"), "\(words): \(outcome.errors)")
            #expect(!(outcome.output + outcome.errors).contains("hunter2"), "\(words): \(outcome.output)")
        }
        let shown = try await program.run("config", "run", "--config", folder.file("f.conf"))
        #expect(row("redis", in: shown.output)?[1] == "redis://•••@h:1/3")
        for line in ["redis = hunter2", "hunter2", "[hunter2", "token = \"hunter2\"", "header = hunter2 #"] {
            try folder.write(Array(line.utf8), to: "f.conf")
            let outcome = try await program.run("status", "--config", folder.file("f.conf"))
            #expect(outcome.status == 64 && !outcome.errors.contains("hunter2"), "\(outcome.errors)")
        }
    }

    @Test func `a file that is named and cannot be read is exit 64 with one sentence`() async throws {
        let large = folder.file("large")
        try folder.write([UInt8](repeating: 0x0A, count: 65_537), to: "large")
        for (path, reason) in [
            (folder.file("none"), "cannot be read: No such file or directory."), (folder.path, "cannot be read: Is a directory."),
            (large + "/x", "cannot be read: Not a directory."), (large, "has more than 65536 bytes."),
        ] {
            for (words, more) in [(["status", "--config", path], [:]), (["run", "u"], ["GANNET_CONFIG": path])] {
                let outcome = try await program.run(words, with: more)
                #expect(outcome.status == 64 && outcome.output == "")
                #expect(outcome.errors == "Error: The configuration file '\(path)' \(reason)\n")
            }
        }
        let usual = try makeUsual("queue = a\nqueue = b\n")
        let broken = try await program.run("status")
        #expect(broken.status == 64)
        #expect(broken.errors == "Error: Line 2 of the configuration file '\(usual)': 'queue' is set in line 1 already.\n")
    }

    @Test func `a file in the working folder is read only if it is named`() async throws {
        try folder.write(Array("queue = theirs\n".utf8), to: "gannet.conf")
        let script = "program=$(realpath \"$0\") && cd \"$1\" && exec \"$program\" config"
        let unnamed = try await program.run(script: script, [folder.path])
        #expect(unnamed.status == 0 && !unnamed.output.contains("theirs"))
        #expect(unnamed.errors.hasSuffix("gannet: the file 'gannet.conf' in this folder is read only with '--config gannet.conf'.\n"))
        let named = try await program.run(script: script + " --config gannet.conf", [folder.path])
        #expect(named.output.contains("theirs"))
        #expect(named.errors == "gannet: the configuration file is 'gannet.conf'.\n")
    }

    @Test func `a run takes its options from a file`() async throws {
        let fleet = try await Fleet.start(files: 3)
        let lines = [
            "redis = \(fleet.address)", "allow-net = 127.0.0.0/8", "queue = other", "[run]", "input = \(fleet.list)", "dir = \(fleet.out)",
        ]
        try folder.write(Array(lines.joined(separator: "\n").utf8), to: "f.conf")
        let outcome = try await fleet.outcome(["run", "--config", folder.file("f.conf")])
        #expect(outcome.status == 0, "\(outcome.errors)")
        try fleet.expectAllBodies()
        try await fleet.stop()
    }
}

import Foundation
import GannetBase
import GannetTestKit
import Testing

@testable import GannetCommand

@Suite struct UsageTests {
    private let program = Program(home: "/dev/null/none")

    @Test(
        "Help goes to standard output and is a success",
        arguments: ["--help", "run --help", "help work", "enqueue -h", "status --help", "redis"])
    func help(words: String) async throws {
        let outcome = try await program.run(words.split(separator: " ").map(String.init))
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("OVERVIEW: "))
        #expect(outcome.output.contains("\nUSAGE: gannet"))
        #expect(outcome.errors == "")
    }

    @Test("The version is told")
    func version() async throws {
        let outcome = try await program.run("--version")
        #expect(outcome.status == 0)
        #expect(outcome.output == "gannet \(Version.current)\n")
    }

    @Test("A mistyped option is exit 64, with a suggestion on standard error")
    func mistypedOption() async throws {
        let outcome = try await program.run("run", "--verbos")
        #expect(outcome.status == 64)
        #expect(outcome.output == "")
        #expect(
            outcome.errors == """
                Error: Unknown option '--verbos'. Did you mean '--verbose'?
                Usage: gannet run --dir <dir> [<options>] [<url> ...]
                  See 'gannet run --help' for more information.

                """)
    }

    @Test(
        "A command line that cannot be followed is exit 64 and says why: a dot in it stands for a blank",
        arguments: [
            ("run u -d out --log-format yaml", "--log-format <format>"),
            ("work --listen 9464", "use an IP address and a port such as 127.0.0.1:9464"),
            ("health", "Name the address to ask"),
            ("enqueue u --priority urgent", "use 'high', 'normal' or 'low'"),
            ("enqueue u --refresh --max-age 1h", "'--refresh' and '--max-age' contradict each other"),
            ("enqueue u --batch a·b", "printable ASCII characters without blanks"),
            ("batch show", "Missing expected argument '<batch>'."),
            ("batch wait a b", "Unexpected argument 'b'."),
            ("batch list --limit 0", "use a whole number from 1 to 100000"),
            ("purge", "say '--yes' to do it"),
            ("run u -d out --queue mine", "'run' uses a queue of its own; '--queue' is for"),
            ("--queue mine run u -d out", "'run' uses a queue of its own; '--queue' is for"),
            ("bench", "Unknown command 'bench'."),
            ("version --bogus", "Unknown option '--bogus'."),
            ("-i list -d out", "Unknown option '-i'. It is an option of 'gannet run'."),
            ("--resize=256", "Unknown option '--resize'. It is an option of 'gannet run'."),
            (
                "enqueue --allow-net 10.0.0.0/8 https://h/",
                "Unknown option '--allow-net'. It is an option of 'gannet run', 'gannet work' and 'gannet serve'."
            ),
            ("status -d out", "Unknown option '-d'. It is an option of 'gannet run' and 'gannet export'."),
            ("run -j 16 -d out -i list", "Unknown option '-j'. Here it is '--concurrency'."),
            ("run --max-time 30 -d out", "Unknown option '--max-time'. Here it is '--timeout'."),
            ("run --url_list x --output_folder y", "Unknown option '--url_list'. Here it is '--input'."),
            ("enqueue -P out https://h/", "Unknown option '-P'. It is '--dir' of 'gannet run'."),
            ("run -k -d out", "Unknown option '-k'. Certificates are always checked"),
            ("run -x 8 -d out", "Unknown option '-x'. curl's '-x' is '--proxy' here, and that of aria2 '--host-limit'."),
            ("run --image_size 256 -d out", "Unknown option '--image_size'. Here it is '--resize'."),
            ("fetch https://h/", "Unknown command 'fetch'. 'gannet run' fetches a list into a folder"),
            ("https://h/", "Unknown command 'https://h/'. 'gannet run' fetches a list into a folder"),
            ("retry", "Unknown command 'retry'. 'gannet jobs retry' tries dead jobs again"),
            ("run --allow-network 10.0.0.0/8", "Here it is '--allow-net'."),
            ("version extra", "Unexpected argument 'extra'."),
            ("help run bogus", "Unexpected argument 'bogus'."),
            ("run u -d out --max-body -1", "The value '-1' is invalid for '--max-body <size>': "),
            ("export", "Missing expected argument '--batch <id>'."),
            ("export --batch b", "Missing expected argument '--dir <dir>'."),
            ("work --cache-limit 1kB", "use a size from 1MB to 1TB"),
            ("get", "Missing expected argument '<url>'."),
            ("get http://h/ --meta --fetch", "'--meta' shows what is known; it does not fetch."),
            ("get http://h/ --refresh", "'--refresh' and '--max-age' need '--fetch'."),
            ("run -d out", "Nothing to fetch"),
            ("enqueue -", "'-' is not a URL"),
            ("run /etc/hosts -d out", "'/etc/hosts' is a file, not a URL. To fetch the URLs in it: gannet run -i /etc/hosts -d out"),
            ("enqueue http://h/ /etc/hosts", "To fetch the URLs in it: gannet enqueue -i /etc/hosts"),
            ("run u -d out --concurrency 0", "use a whole number from 1 to 10000"),
            ("run u -d out --retries 101", "use a whole number from 0 to 100"),
            ("work --store out --host-limit 0", "use a whole number from 1 to 10000"),
            ("run u -d out --host-rate 0", "use a number from 0.001 to 1000, such as 2 or 0.5"),
            ("run u -d out --host-rate 1e2", "use a number from 0.001 to 1000, such as 2 or 0.5"),
            ("run u -d out --limit-rate 0", "use a number of bytes a second such as 500k, 1.5M or 2MB, from 1KiB to 1TiB."),
            ("work --limit-rate fast", "The value 'fast' is invalid for '--limit-rate <speed>': use a number of bytes a second"),
            ("get http://h/ --fetch --limit-rate -5k", "use a number of bytes a second such as 500k, 1.5M or 2MB"),
            ("run u -d out --give-up-after 1.5h", "use a whole number with a unit"),
            ("run u -d out --timeout 5sec", "use a whole number with a unit"),
            ("run u -d out --allow-net 10.0.0.0/33", "use a network such as"),
            ("run u -d out --allow-net 10.0.0", "use a network such as"),
            ("run http://h/ -d out --ca-file missing.pem", "The CA file missing.pem cannot be read: No such file or directory."),
            ("run http://h/ -d out --ca-file /dev/null", "The CA file /dev/null is not a file."),
            ("work --store out --ca-file /usr/bin/env", "holds no certificate in PEM form"),
            ("run http://h/ -d out --proxy h:1", "A proxy's address is http://host:port, https://host:port or socks5h://host:port."),
            ("work --store out --proxy http://h", "A proxy's address is http://host:port, https://host:port or socks5h://host:port."),
            ("status --namespace a:b", "use 1 to 64 letters"),
            ("status --redis-password-file f", "'--redis-password-file' needs '--redis'"),
            ("status --redis redis://h --redis-ca-file f", "begins with rediss://"),
            ("status --quiet --verbose", "contradict each other"),
            ("redis stop --redis redis://h", "Unknown option '--redis'"),
        ])
    func refusals(words: String, sentence: String) async throws {
        let outcome = try await program.run(words.split(separator: " ").map { String($0).replacing("·", with: " ") })
        #expect(outcome.status == 64)
        #expect(outcome.errors.hasPrefix("Error: "))
        #expect(outcome.errors.contains(sentence))
        #expect(outcome.output == "")
    }

    @Test("An encrypted CA file is refused, and nobody is asked for its password")
    func encryptedAuthority() async throws {
        let folder = try TemporaryFolder()
        let head = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0123456789ABCDEF0123456789ABCDEF"
        try folder.write(Array("-----BEGIN CERTIFICATE-----\n\(head)\n\nAAAA\n-----END CERTIFICATE-----\n".utf8), to: "ca.pem")
        // Without a terminal the question would be put to standard error.
        let outcome = try await program.run(
            script: "exec setsid --wait \"$0\" run http://h/ -d out --ca-file '\(folder.file("ca.pem"))' < /dev/null")
        #expect(outcome.status == 64)
        #expect(outcome.errors.hasPrefix("Error: The CA file "))
    }

    @Test("A password in a mistaken address is not repeated")
    func passwords() async throws {
        for option in ["--redis=http://:hunter2@h", "--redis-url=redis://:hunter2@h"] {
            let outcome = try await program.run("status", option)
            #expect(outcome.status == 64)
            #expect(!outcome.errors.contains("hunter2"))
        }
    }

    @Test("A pipe closed early is quiet, and a full disk is not")
    func outputs() async throws {
        // As processes: only these have a SIGPIPE of their own.
        let closed = try await program.run(script: "{ \"$0\" --help; echo \"status $?\" >&2; } | head -1")
        #expect(closed.errors == "status 0\n")
        let gone = try await program.run(script: "{ \"$0\" --help; echo \"status $?\" >&2; } | true")
        #expect(gone.errors == "status 0\n")
        let full = try await program.run(script: "exec \"$0\" --help > /dev/full")
        #expect(full.status == 74)
        #expect(full.errors.contains("Standard output cannot be written"))
    }
}

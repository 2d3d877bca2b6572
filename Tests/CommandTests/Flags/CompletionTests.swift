import Foundation
import GannetTestKit
import Testing

/// Asks real shells what they would offer.
@Suite(.timeLimit(.minutes(3))) struct CompletionTests {
    private let program = Program(home: "/dev/null/none")

    /// A line as far as it is typed, and what may follow (all of it, or some).
    private static let offers: [(line: String, offered: [String], isAll: Bool)] = [
        ("gannet enq", ["enqueue"], true),
        ("gannet redis ", ["stop"], true),
        ("gannet hosts ", ["list", "set", "clear"], true),
        ("gannet hosts set h --pa", ["--pause"], true),
        ("gannet run --for", ["--format"], true),
        ("gannet run --format ", ["text", "csv", "tsv", "jsonl", "sitemap", "parquet"], true),
        ("gannet run --format cs", ["csv"], true),
        ("gannet --queue run sta", ["status"], true),
        ("gannet completions ", ["bash", "zsh", "fish"], true),
        ("gannet enqueue -", ["--input", "--redis", "--queue", "--help"], false),
        ("gannet run -i li", ["list of urls"], true),
        ("gannet run -d ", ["a folder"], true),
        ("gannet work --store ", ["a folder"], true),
        ("gannet status --js", ["--json"], true),
    ]

    /// - Parameter asking: A script that is given the file of completions and the line, and prints what may follow.
    private func expectOffers(by shell: String, asking: String) async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.file("here/a folder"), withIntermediateDirectories: true)
        try folder.write([], to: "here/list of urls")
        try folder.write(Array(asking.utf8), to: "ask")
        let name = String(shell.prefix { $0 != " " })
        let completions = try await program.run("completions", name)
        #expect(completions.status == 0)
        try folder.write(Array(completions.output.utf8), to: "completions")
        for offer in Self.offers {
            let outcome = try await program.run(
                script: "cd '\(folder.file("here"))' && exec \(shell) ../ask '\(folder.file("completions"))' '\(offer.line)'")
            #expect(outcome.errors == "", "\(offer.line)")
            // A folder may have its slash, and a name with blanks be quoted.
            let lines = outcome.output.split(separator: "\n").map { $0.filter { $0 != "\\" && $0 != "/" } }
            if offer.isAll {
                #expect(Set(lines) == Set(offer.offered), "\(offer.line)")
            } else {
                #expect(Set(lines).isSuperset(of: offer.offered), "\(offer.line): \(lines)")
            }
        }
    }

    @Test func `bash offers commands, options, choices, files and folders`() async throws {
        try await expectOffers(
            by: "bash --norc",
            asking: """
                source "$1"
                IFS=" " read -r -a COMP_WORDS <<< "$2"
                [[ $2 == *" " ]] && COMP_WORDS+=("")
                COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
                _gannet
                printf "%s\\n" "${COMPREPLY[@]}"
                """)
    }

    @Test func `bash, which cuts words at an equals sign, completes behind one`() async throws {
        let outcome = try await program.run(
            script: """
                exec bash --norc -c '
                source <("$0" completions bash)
                COMP_WORDS=(gannet run --format = cs) COMP_CWORD=4
                _gannet
                printf "%s\\n" "${COMPREPLY[@]}"
                COMP_WORDS=(gannet --queue = run sta) COMP_CWORD=4
                _gannet
                printf "%s\\n" "${COMPREPLY[@]}"' "$0"
                """)
        #expect(outcome.output == "csv\nstatus\n")
        #expect(outcome.errors == "")
    }

    @Test func `fish offers commands, options, choices, files and folders`() async throws {
        try await expectOffers(
            by: "fish --no-config",
            asking: """
                source $argv[1]
                for offer in (complete -C $argv[2])
                    string split -f 1 \\t -- $offer
                end
                """)
    }

    /// zsh completes only where there is a terminal, so it gets one of its own (zpty), in which the step that adds what matches also notes it.
    @Test func `zsh offers commands, options, choices, files and folders`() async throws {
        try await expectOffers(
            by: "zsh -f",
            asking: #"""
                zmodload zsh/zpty
                zpty it zsh -f -i
                zpty -w it "PS1=; PROMPT_SP=; autoload -U compinit && compinit -u -d ../functions; source \"$1\"; typeset -ga offers"
                zpty -w it "compadd() {
                    local -a offered
                    if [[ \${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then builtin compadd -O offered \"\$@\"; offers+=(\$offered); fi
                    builtin compadd \"\$@\"
                }"
                zpty -w it "tell() { zle complete-word; print; print -rl -- OFFER:\${^offers} THE-END }; zle -N tell; bindkey ^G tell; print READY"
                zpty -r -m it started "*READY*READY*"
                zpty -w -n it "$2"$'\a'
                zpty -r -m it text "*THE-END*"
                print -r -- "$text" | tr -d "\r" | sed -n "s/^OFFER://p" | sort -u
                """#)
    }
}

import Foundation
import GannetBase
import GannetTestKit

/// A made-up web for clients of any kind.
///
///     WebBenchmark PROFILE SEED FOLDER [hosts=N] [urls=N] [dns=PORT] [processor=SECONDS] [tame]
///
/// It writes the list into FOLDER, and prints where all of it is as a line of JSON. It serves until its input ends, or a signal comes. Then it writes the
/// record of all requests into FOLDER, and prints its analysis as a line of JSON.
struct Arguments {
    var profile: WebProfile
    var seed: UInt64
    var folder: String
    var hosts = 1000
    var urls = 10_000
    var dns: UInt16 = 0
    var processor = 0.0

    init?(_ words: [String]) {
        guard words.count >= 3, let profile = WebProfile.named(words[0]), let seed = UInt64(words[1]) else { return nil }
        self.profile = profile
        self.seed = seed
        folder = words[2]
        for word in words.dropFirst(3) {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            switch (parts[0], parts.count > 1 ? parts[1] : "") {
            case ("hosts", let text):
                guard let number = Int(text), number > 0 else { return nil }
                hosts = number
            case ("urls", let text):
                guard let number = Int(text), number > 0 else { return nil }
                urls = number
            case ("dns", let text):
                guard let number = UInt16(text) else { return nil }
                dns = number
            case ("processor", let text):
                guard let number = Double(text), number >= 0 else { return nil }
                processor = number
            case ("tame", ""): self.profile = self.profile.withoutTrouble()
            default: return nil
            }
        }
    }
}

struct Place: Encodable {
    let dns: String
    let authority: String
    let list: String
    let good: Int
    let ideal: [String: Double]
}

func printJSON(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    print(String(decoding: try encoder.encode(value), as: UTF8.self))
    fflush(nil)
}

guard let arguments = Arguments(Array(CommandLine.arguments.dropFirst())) else {
    print(
        "usage: WebBenchmark \(WebProfile.all.map(\.name).joined(separator: "|")) SEED FOLDER [hosts=N] [urls=N] [dns=PORT] [processor=SECONDS] [tame]"
    )
    exit(64)
}
// Each connection is a descriptor.
var limit = rlimit()
getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
limit.rlim_cur = limit.rlim_max
setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)

let plan = WebPlan(arguments.profile, seed: arguments.seed, hosts: arguments.hosts, urls: arguments.urls)
let web = try await MadeUpWeb(plan, dnsPort: arguments.dns)
let list = arguments.folder + "/list.txt"
try Data(web.urls.joined(separator: "\n").utf8 + [0x0a]).write(to: URL(fileURLWithPath: list))
let before = web.analysis(processor: arguments.processor)
try printJSON(
    Place(dns: web.dns.address, authority: web.authority, list: list, good: before.good, ideal: before.ideal))

guard let ends = Descriptor.pipe() else { fatalError("The system has no descriptor left.") }
Signals.forward([SIGINT, SIGTERM], to: ends.write)
var waiting = [pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0), pollfd(fd: ends.read, events: Int16(POLLIN), revents: 0)]
var byte: UInt8 = 0
repeat {
    _ = poll(&waiting, 2, -1)
} while waiting[1].revents == 0 && (waiting[0].revents == 0 || read(STDIN_FILENO, &byte, 1) > 0)

try web.record.write(to: arguments.folder + "/record.tsv")
try printJSON(web.analysis(processor: arguments.processor))

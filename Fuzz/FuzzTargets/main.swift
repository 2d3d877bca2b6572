// The process that Scripts/fuzz runs: one target, driven by libFuzzer.
//
//   FuzzTargets TARGET --write-seeds FOLDER    writes the inputs to begin with
//   FuzzTargets TARGET [libFuzzer's arguments]

import Glibc

#if FUZZER
import CLibFuzzer
#endif

let arguments = Array(CommandLine.arguments.dropFirst())
guard let name = arguments.first, let target = FuzzTarget.all.first(where: { $0.name == name }) else {
    complain("usage: FuzzTargets \(FuzzTarget.all.map(\.name).joined(separator: "|")) --write-seeds FOLDER | libFuzzer's arguments")
    exit(64)
}

if arguments.count == 3, arguments[1] == "--write-seeds" {
    for (number, seed) in target.seeds().enumerated() {
        let path = "\(arguments[2])/\(number)"
        guard let file = fopen(path, "w"), fwrite(seed, 1, seed.count, file) == seed.count, fclose(file) == 0 else {
            complain("cannot write \(path): \(String(cString: strerror(errno)))")
            exit(74)
        }
    }
    exit(0)
}

do {
    try await target.prepare()
} catch {
    complain("the servers of \(name) cannot be started: \(error)")
    exit(69)
}

#if FUZZER
LibFuzzer.run(target, Array(arguments.dropFirst()))
#else
complain("this was built without libFuzzer: use Scripts/fuzz")
exit(64)
#endif

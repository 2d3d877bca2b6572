#if FUZZER
import CLibFuzzer

import Glibc

/// Runs a target on inputs that libFuzzer makes up, led by which code they reach.
enum LibFuzzer {
    // The target of the callback, which has no context. Set once, before there is another thread.
    nonisolated(unsafe) private static var target: FuzzTarget?

    static func run(_ target: FuzzTarget, _ arguments: [String]) -> Never {
        Self.target = target
        // A trap of Swift's is SIGILL on some processors, which libFuzzer notices, and on others SIGTRAP, which it does not.
        signal(SIGTRAP) { _ in abort() }
        var argv = (["FuzzTargets", "-max_len=\(target.maximumLength)"] + arguments).map { strdup($0) } + [nil]
        var argc = Int32(argv.count - 1)
        let status = argv.withUnsafeMutableBufferPointer { buffer in
            var base = buffer.baseAddress
            return LLVMFuzzerRunDriver(&argc, &base) { data, count in
                LibFuzzer.check(Array(UnsafeBufferPointer(start: data, count: count)))
                return 0
            }
        }
        exit(status)
    }

    private static func check(_ input: [UInt8]) {
        guard let target else { return }
        do throws(BrokenInvariant) {
            try target.check(input)
        } catch {
            complain("\(target.name): \(error.description)")
            abort()
        }
    }
}
#endif

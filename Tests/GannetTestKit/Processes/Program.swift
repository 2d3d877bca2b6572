import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Where programs are.
package enum Program {
    /// The path of a program: `PATH`, then where servers are on Debian and with Homebrew, which an ordinary user's `PATH` may lack.
    package static func find(_ name: String) -> String? {
        if name.contains("/") { return access(name, X_OK) == 0 ? name : nil }
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let folders = path.split(separator: ":").map(String.init) + ["/usr/bin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"]
        return folders.lazy.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// The path of a program of this package, which is built beside the tests. It is found by where the tests themselves lie.
    package static func built(_ name: String) -> String {
        let bundles = CommandLine.arguments + Bundle.allBundles.map(\.bundlePath)
        let folders = bundles.compactMap { bundle in bundle.firstRange(of: ".xctest").map { bundle[..<$0.lowerBound] } }
            .compactMap { path in path.lastIndex(of: "/").map { path[..<$0] } }
        return folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 } ?? "\(name), which is not beside the tests"
    }
}

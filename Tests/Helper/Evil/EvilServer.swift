import Foundation
import GannetTestKit

/// An evil origin for any client: prints a URL for each behaviour, and serves until its input ends (^D) or it is killed.
///
///     swift run TestHelper evil                all URLs
///     curl --cacert <what it printed> <a URL>  what another client makes of one
enum EvilServer: HelperJob {
    static func run(_ words: [String]) async throws {
        let certificates = try await Certificates.shared
        let origin = try EvilOrigin(certificates)
        print("authority: \(certificates.authority)")
        for behaviour in EvilBehaviour.allCases { print(origin.url(behaviour)) }
        fflush(nil)
        while readLine() != nil {}
        try await origin.stop()
    }
}

import GannetTestKit
import Testing

@testable import GannetHTTP

/// The request that another host gets after a redirect: `/echo` answers with the request's own lines.
@Suite(.serialized, .timeLimit(.minutes(3))) struct EvilRedirectTests {
    private static func head(_ outcome: EvilOutcome) throws -> String {
        guard case .gives(let head) = outcome else { throw KitError("the fetch \(outcome)") }
        return head
    }

    @Test func `neither the URL's credentials nor secret headers follow a redirect to another host`() async throws {
        let bench = try await EvilBench()
        let secrets = try [("Authorization", "Bearer token"), ("Cookie", "session=token")].map { name, value in
            try #require(HeaderField(name: name, value: value))
        }
        let own = try await bench.fetch(bench.origin.url(.echo), headers: secrets)
        #expect(try Self.head(own).contains("token"))

        let url = bench.origin.url(.redirectToOtherHost, credentials: "me:secret@")
        for headers in [[], secrets] {
            let head = try Self.head(try await bench.fetch(url, headers: headers)).lowercased()
            #expect(head.contains("host: localhost"))
            #expect(!head.contains("authorization") && !head.contains("cookie") && !head.contains("token"))
        }
    }

    @Test func `credentials in a redirect's URL are sent to no host`() async throws {
        let bench = try await EvilBench()
        switch try await bench.fetch(.redirectWithCredentials) {
        case .gives(let head): #expect(!head.lowercased().contains("authorization"))
        case let outcome: #expect(outcome == .fails(.refusedRedirect))
        }
    }

    @Test func `cookies are not kept`() async throws {
        let bench = try await EvilBench()
        #expect(try await bench.fetch(.manyCookies) == .gives("hello"))
        #expect(try await bench.fetch(.temptingHeaders) == .gives("hello"))
        #expect(!(try Self.head(try await bench.fetch(.echo))).lowercased().contains("cookie"))
    }

    @Test(arguments: [.redirectToEncodedLineBreak, .redirectToSpaces, .redirectToNonASCII, .redirectToControl] as [EvilBehaviour])
    func `a redirect's URL cannot break the request line or add headers`(
        behaviour: EvilBehaviour
    ) async throws {
        let bench = try await EvilBench()
        let outcome = try await bench.fetch(behaviour)
        guard case .gives(let head) = outcome else {
            // Some versions of libcurl refuse control characters.
            #expect(behaviour == .redirectToControl, "\(outcome)")
            return
        }
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
        #expect(lines.first?.hasPrefix("GET /echo?a") == true || lines.first?.hasPrefix("GET /echo?%") == true)
        #expect(lines.first?.hasSuffix(" HTTP/1.1") == true)
        #expect(lines.first?.split(separator: " ").count == 3)
        #expect(lines.first?.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f } == true)
        let names = lines.dropFirst().compactMap { $0.split(separator: ":").first }.map { $0.lowercased() }
        #expect(Set(names).isSubset(of: ["host", "user-agent", "accept", "accept-encoding", "connection"]))
    }
}

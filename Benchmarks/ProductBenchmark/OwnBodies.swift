import GannetTestKit

extension Origin.Options {
    /// Below `/bench/` each URL has a body of 10 KB that is like no other: Redis would keep equal bodies once.
    mutating func answersWithOwnBodies(type: String = "application/octet-stream") {
        fileCount = 0
        isFast = true
        // nginx takes no word of more than 4 KB.
        let tenth = String(repeating: "x", count: 1000)
        directives = """
            set $tenth "\(tenth)";
            location /bench/ { default_type \(type); return 200 "$request_uri\(String(repeating: "$tenth", count: 10))"; }
            """
    }

    /// Below `/3/` each URL has a body of 10^3 bytes and a few more, which is like no other, and so on for each power of ten.
    mutating func answersWithOwnBodies(ofPowers powers: [Int]) {
        fileCount = 0
        isFast = true
        let thousand = String(repeating: "x", count: 1000)
        directives = powers.map { power in
            let sets = (3..<power).map { "set $body\($0 + 1) \"\(String(repeating: "$body\($0)", count: 10))\";" }
            return """
                location /\(power)/ { set $body3 "\(thousand)"; \(sets.joined(separator: " ")) return 200 "$request_uri$body\(power)"; }
                """
        }.joined(separator: "\n")
    }
}

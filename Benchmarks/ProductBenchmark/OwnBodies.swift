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
}

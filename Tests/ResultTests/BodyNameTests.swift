import Testing

@testable import GannetQueue
@testable import Results

@Suite struct BodyNameTests {
    private static let id = URLID((0..<16).map { $0 == 0 ? 0x3f : $0 })!
    private static let stem = "3f0/3f0102030405060708090a0b0c0d0e0f"

    @Test(arguments: [
        ("http://h/a/cat.png", "-cat.webp"), ("http://h/cat.JPEG", "-cat.webp"), ("http://h/cat.php?x.png", "-cat.php.webp"),
        ("http://h/cat", "-cat.webp"), ("http://h/", ".webp"), ("http://h/.gif", "-.webp"), ("http://h/cat.png.zip", "-cat.png.zip.webp"),
    ])
    func `a picture that is made of a body has its own ending`(url: String, rest: String) {
        #expect(BodyName(of: url, id: Self.id, ending: "webp").relativePath == Self.stem + rest)
        let long = "http://h/" + String(repeating: "x/", count: 200) + String(repeating: "y", count: 300)
        for style in NameStyle.allCases {
            let name = BodyName(of: long, id: Self.id, style: style, ending: "webp").relativePath
            #expect(name.utf8.count <= BodyName.mostBytes && name.hasSuffix("y.webp"))
        }
    }

    @Test(arguments: [
        ("http://h/a/cat.jpg", "-cat.jpg"),
        ("http://h/cat.jpg?size=1&token=secret#x", "-cat.jpg"),
        ("http://h/a/", ""),
        ("http://h/", ""),
        ("http://h", ""),
        ("http://h?a/b", ""),
        ("http://h#a/b", ""),
        ("http://user:secret@h", ""),
        ("http:///user:secret@h", ""),
        ("http:/user:secret@h", ""),
        ("http://user:secret@h/x", "-x"),
        ("http://h/..", "-._"),
        ("http://h/../../etc/passwd", "-passwd"),
        ("http://h/..%2f..%2fetc%2fpasswd", "-.._2f.._2fetc_2fpasswd"),
        ("http://h/a%00b", "-a_00b"),
        ("http://h/a\\..\\b", "-b"), ("http:\\/me:pw@h", ""), ("http:\\\\me:pw@h\\", ""),
        ("http://h/a\u{0}b\n\u{1b}[2J", "-a_b___2J"),
        ("http://h/ü", "-__"),
        ("http://h/x\u{301}/y\u{301}", "-y__"),
        ("http://h/\u{301}x", "-__x"),
        ("http://h/x?\u{301}token=secret", "-x"),
        ("http://h/-rf", "--rf"),
        ("http://h/.gannet-x", "-.gannet-x"),
        ("http://h/CON", "-CON"),
        ("http://h/a b:c|d*e\"f'g$h`i;j", "-a_b_c_d_e_f_g_h_i_j"),
        ("", ""), ("/", ""), ("..", ""), (":", ""), ("://", ""),
    ])
    func `a name is its id and the harmless part of its URL`(url: String, hint: String) {
        #expect(BodyName(of: url, id: Self.id) == BodyName(of: url, id: Self.id))
        #expect(BodyName(of: url, id: Self.id).relativePath == Self.stem + hint)
    }

    @Test func `a long last part of the path is cut at its beginning`() {
        let name = BodyName(of: "http://h/" + String(repeating: "ä", count: 4000) + ".jpeg", id: Self.id).relativePath
        #expect(name == Self.stem + "-" + String(repeating: "_", count: 75) + ".jpeg")
    }

    @Test func `the name of any URL's body is one file in one folder, of printable ASCII`() {
        for byte in UInt8.min...UInt8.max {
            let text = String(decoding: [0x68, 0x3a, 0x2f, 0x2f, 0x68, 0x2f, 0x61, byte, 0x2e, 0x2e, byte, 0x62], as: UTF8.self)
            let parts = BodyName(of: text, id: Self.id).relativePath.split(separator: "/", omittingEmptySubsequences: false)
            #expect(parts.count == 2)
            #expect(parts[1].hasPrefix("3f0102030405060708090a0b0c0d0e0f"))
            #expect(parts[1].utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x5c })
        }
    }

    @Test func `two ids have two names, also for one URL`() {
        let other = URLID(Array(Self.id.bytes.dropLast()) + [0])!
        #expect(BodyName(of: "http://h/x", id: Self.id) != BodyName(of: "http://h/x", id: other))
    }

    @Test(arguments: [
        ("http://Example.COM/a/b/cat.jpg?x", "example.com", "a/b", "-cat.jpg"),
        ("http://h:8080/cat.jpg", "h_8080", "", "-cat.jpg"),
        ("https://h:443/", "h", "", ""),
        ("http://user:secret@h/a/x", "h", "a", "-x"),
        ("http://[::1]:8080/a/x", "_1_8080", "a", "-x"),
        ("http://h/.git/-rf/CON/com1.txt/nul/x", "h", "_git/_rf/_CON/_com1.txt/_nul", "-x"),
        ("http://h/a./b../%2e%2e/x", "h", "a_", "-x"),
        ("http://h/a%2Fb/%00/caf%C3%A9%20x/x", "h", "a_b/_/caf_x", "-x"),
        ("http://h//a///x", "h", "a", "-x"),
        ("http://h/3f0102030405060708090a0b0c0d0e0f-y/x", "h", "_3f0102030405060708090a0b0c0d0e0f-y", "-x"),
        ("http://manifest.jsonl/x", "_manifest.jsonl", "", "-x"),
        ("no url", "_", "", ""),
    ])
    func `a name with its host or path is as harmless`(url: String, host: String, folders: String, hint: String) {
        let file = "3f0102030405060708090a0b0c0d0e0f" + hint
        let path = folders.isEmpty ? "\(host)/3f0/\(file)" : "\(host)/3f0/\(folders)/\(file)"
        #expect(BodyName(of: url, id: Self.id, style: .host).relativePath == "\(host)/3f0/\(file)")
        #expect(BodyName(of: url, id: Self.id, style: .path).relativePath == path)
    }

    @Test func `however long and deep a URL is, a name and its parts stay within bounds`() {
        let parts = [String(repeating: "a", count: 300), String(repeating: "ü", count: 300)]
        let host = (0..<50).map { "label\($0)" }.joined(separator: ".").suffix(250)
        for part in parts {
            for depth in [0, 1, 5, 20] {
                let url = "http://\(host)/" + String(repeating: part + "/", count: depth) + part + ".jpeg"
                for style in NameStyle.allCases {
                    let name = BodyName(of: url, id: Self.id, style: style).relativePath
                    #expect(name.utf8.count <= 240)
                    #expect(name.hasSuffix(".jpeg"))
                    #expect(name.split(separator: "/").allSatisfy { $0.utf8.count <= 113 })
                }
            }
        }
    }

    @Test func `no folder holds more than a few thousand of 10 million bodies of one host`() {
        // A sample of a thousandth, spread as digests are.
        var generator = SystemRandomNumberGenerator()
        for style in NameStyle.allCases {
            var counts: [Substring: Int] = [:]
            for _ in 0..<10_000 {
                let id = URLID((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })!
                let name = BodyName(of: "http://h/pets/cat.jpg", id: id, style: style).relativePath
                counts[name[..<name.lastIndex(of: "/")!], default: 0] += 1
            }
            // 4096 folders: 2.4 of the sample in each, and never twenty.
            #expect(counts.count > 3000 && counts.values.max()! < 20)
        }
    }
}

import Testing

@testable import GannetCommand

@Suite struct ValueTests {
    @Test(
        "A time is read with its unit",
        arguments: [
            ("500ms", Duration.milliseconds(500)), ("8s", .seconds(8)), ("10m", .seconds(600)), ("24h", .seconds(86_400)),
            ("7d", .seconds(604_800)),
            ("0s", .zero), ("007s", .seconds(7)), ("8", .seconds(8)),
        ])
    func times(text: String, duration: Duration) throws {
        #expect(try TimeSpan.parse(text) == duration)
    }

    @Test(
        "A text that is no time is refused and never traps",
        arguments: [
            "", "s", "-8", "-8s", "+8s", "8 s", "1.5s", "8S", "8sec", "٨s", "99999999999999999999s", "9223372036854775807d",
            "106751991168d",
            "8s8s",
        ])
    func notTimes(text: String) {
        #expect(throws: UsageError.self) { try TimeSpan.parse(text) }
    }

    @Test(
        "A size is read with its unit, decimal or binary",
        arguments: [
            ("20MB", 20_000_000), ("20MiB", 20 << 20), ("1KB", 1000), ("1KiB", 1024), ("512B", 512), ("512", 512), ("3GB", 3_000_000_000),
            ("1TiB", 1 << 40), ("0", 0), ("20M", 20 << 20), ("20m", 20 << 20), ("1.5GB", 1_500_000_000), (".5k", 512),
        ])
    func sizes(text: String, bytes: Int) throws {
        #expect(try ByteCount.parse(text) == bytes)
    }

    @Test(
        "A text that is no size is refused and never traps",
        arguments: [
            "", "MB", "-1MB", "20 MB", "20Mb", "1.5", ".M", "1.2.3M", "1e3M", "1,5M", "9223372036854775807KB", "99999999999999999999",
            "8388608TiB", "２MB",
        ])
    func notSizes(text: String) {
        #expect(throws: UsageError.self) { try ByteCount.parse(text) }
    }

    @Test(
        "A speed is read as curl writes it, or as a size",
        arguments: [
            ("500k", 512_000), ("500K", 512_000), ("1.5M", 1_572_864), ("2m", 2_097_152), ("2G", 2_147_483_648), ("1T", 1_099_511_627_776),
            ("2048", 2048), (".5M", 524_288), ("1.0001k", 1024), ("2MB", 2_000_000), ("2MiB", 2_097_152), ("64KB", 64_000), ("2048B", 2048),
        ] as [(String, Int)])
    func speeds(text: String, bytes: Int) throws {
        #expect(try ValueType.speed(in: 1024...(1 << 40)).parse(text) == bytes)
    }

    @Test(
        "A text that is no speed, or none in the range, is refused and never traps",
        arguments: [
            "", "0", "0k", "k", ".", ".k", "-1k", "+1k", "1023", "0.9k", "1.1T", "2T", "1.5", "1,5M", "1e3k", "1 M", "5kbit",
            "500k/s", "infk",
            "nank", "0x10k", "٣k", "1.2.3M", "99999999999999999999k", "99999999999999999999", "fast",
        ])
    func notSpeeds(text: String) {
        #expect(throws: UsageError("use a number of bytes a second such as 500k, 1.5M or 2MB, from 1KiB to 1TiB.")) {
            try ValueType.speed(in: 1024...(1 << 40)).parse(text)
        }
    }

    @Test("Times and sizes are written as they are read", arguments: ["500ms", "8s", "90s", "24h", "7d", "0s"])
    func timesRoundTrip(text: String) throws {
        #expect(try TimeSpan.parse(TimeSpan.text(of: TimeSpan.parse(text))) == TimeSpan.parse(text))
        #expect(TimeSpan.text(of: .seconds(86_400)) == "1d")
        #expect(TimeSpan.text(of: .seconds(Int64.max)) == "9223372036854775807s")
        #expect(ByteCount.text(of: 20_000_000) == "20MB")
        #expect(ByteCount.text(of: 20 << 20) == "20MiB")
        #expect(ByteCount.text(of: 0) == "0B")
    }

    @Test(
        "A whole number is within its range, in ASCII digits",
        arguments: ["", "0", "101", "-1", "+5", "5 ", "1e2", "٥", "99999999999999999999"])
    func integers(text: String) {
        #expect(throws: UsageError("use a whole number from 1 to 100.")) { try ValueType.integer(in: 1...100).parse(text) }
    }

    @Test("A choice is one of its words")
    func choices() throws {
        let type = ValueType.choice("priority", of: ["high", "normal", "low"])
        #expect(try type.parse("low") == "low")
        #expect(type.completion == .choices(["high", "normal", "low"]))
        #expect(throws: UsageError("use 'high', 'normal' or 'low'.")) { try type.parse("HIGH") }
    }
}

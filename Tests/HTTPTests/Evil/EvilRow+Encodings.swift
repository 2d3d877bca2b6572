import GannetTestKit

@testable import GannetHTTP

extension EvilRow {

    static let encodings = [
        EvilRow(.gzip, .gives("hello")),
        EvilRow(.brotli, .gives("hello")),
        EvilRow(.zstd, .gives("hello")),
        EvilRow(.zlibDeflate, .gives("hello")),
        EvilRow(.rawDeflate, .gives("hello"), .fails(.badEncoding)),
        EvilRow(.shoutedGzip, .gives("hello")),
        EvilRow(.gzipBomb, .fails(.tooLarge)),
        EvilRow(.brotliBomb, .fails(.tooLarge)),
        EvilRow(.zstdBomb, .fails(.tooLarge)),
        // Nothing comes out of it, so that only what goes in can be limited.
        EvilRow(.gzipOfNothing, .fails(.tooLarge), .fails(.badEncoding)),
        EvilRow(.gzipEndlessName, .fails(.tooLarge), .fails(.badEncoding)),
        EvilRow(.gzipEndlessMembers, .fails(.tooLarge), .fails(.badEncoding)),
        // Where a call of libcurl takes too long over it, the connection is shut down.
        EvilRow(.zstdEndlessSkipping, .fails(.tooLarge), .fails(.badEncoding), .fails(.truncated), .fails(.reset)),
        EvilRow(.zstdWideWindow, .gives("hello"), .fails(.badEncoding)),
        EvilRow(.zstdHugeWindow, .fails(.badEncoding)),
        EvilRow(.gzipWrongSum, .fails(.badEncoding)),
        EvilRow(.gzipWrongSize, .fails(.badEncoding)),
        EvilRow(.gzipCut, .fails(.badEncoding), .fails(.truncated)),
        EvilRow(.gzipThenGarbage, .gives("hello"), .fails(.badEncoding)),
        EvilRow(.gzipTwoMembers, .gives("hello"), .fails(.badEncoding)),
        EvilRow(.gzipUnpacked, .fails(.badEncoding)),
        EvilRow(.gzipEmpty, .gives(""), .fails(.badEncoding)),
        EvilRow(.doubleGzip, .gives("hello"), .fails(.badEncoding)),
        EvilRow(.secretlyDoubleGzip, .givesSomething),
        EvilRow(.thousandEncodings, .fails(.badEncoding)),
        EvilRow(.deflateGarbage, .fails(.badEncoding)),
        EvilRow(.brotliGarbage, .fails(.badEncoding)),
        EvilRow(.zstdGarbage, .fails(.badEncoding)),
        EvilRow(.unknownEncoding, .fails(.badEncoding)),
        EvilRow(.gzipTransfer, .fails(.badEncoding), .gives("hello")),
    ]
}

/// How much a picture may take, and how many programs work on pictures.
package struct ThumbnailBounds: Sendable {
    /// Programs at a time. Each works on one picture with one thread.
    package var programs = 2
    /// Bytes of one picture.
    package var input = 64 << 20
    /// Pixels of one picture, counted before any is decoded.
    package var pixels = 100_000_000
    /// Bytes of memory that a program may take for a picture, beside about 60 MB for itself. A picture of 100 million pixels that cannot be decoded
    /// in parts takes 400 MB.
    package var memory = 768 << 20
    /// Processor time for one picture.
    package var computing = Duration.seconds(10)
    /// Time for one picture, from its first byte in the pipe.
    package var time = Duration.seconds(20)
    /// Time for the start of a program.
    package var start = Duration.seconds(20)
    /// A program is replaced after this many pictures, so that no leak of a decoder lasts.
    package var pictures = 500
    /// A program without work ends after this time.
    package var idle = Duration.seconds(60)
    /// Bytes of all pictures that wait for a program.
    package var waiting = 256 << 20
    /// How many pictures wait for a program. Each may take it some seconds.
    package var waitingPictures = 64

    package init() {}

    /// As the program reads them.
    var words: [String] {
        let wholeLife = computing.components.seconds * Int64(pictures)
        return [
            "memory=\(memory)", "input=\(input)", "pixels=\(pixels)", "milliseconds=\(computing.milliseconds)",
            "seconds=\(max(60, min(wholeLife, 86_400)))",
        ]
    }
}

extension Duration {
    /// Whole milliseconds, one at least.
    var milliseconds: Int64 { max(1, components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000) }
}

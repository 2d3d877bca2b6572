internal import GannetPictures
internal import Glibc

/// `gannet-thumbnail`: makes thumbnails of strangers' pictures, in a process that can do nothing else.
///
/// `gannet` starts it with a pipe each way, writes requests to its standard input, and reads answers from its standard output. It ends when
/// its input ends.
@main
enum EntryPoint {
    static func main() {
        let bounds: Bounds
        do {
            bounds = try Bounds(CommandLine.arguments.dropFirst())
        } catch {
            Pipes.complain("gannet-thumbnail: \(error)\n")
            exit(64)
        }
        do {
            try prepare(bounds)
        } catch {
            let sentence = Array("\(error)".utf8)
            _ = Pipes.write(ThumbnailAnswer.refused(.unfit).head(count: sentence.count)) && Pipes.write(sentence)
            exit(69)
        }
        guard Pipes.write(ThumbnailAnswer.ready.head(count: 0)) else { exit(0) }
        while serveOne(bounds) {}
        exit(0)
    }

    /// Loads all that pictures need, and gives up the rights to load more.
    private static func prepare(_ bounds: Bounds) throws {
        ProcessBounds.takeOneArena()
        try Library.start()
        try Library.useEveryCoder(pixels: bounds.pixels)
        try ProcessBounds.set(memory: bounds.memory, seconds: bounds.seconds)
        try Sandbox.enter()
    }

    /// False at the end of the input.
    private static func serveOne(_ bounds: Bounds) -> Bool {
        guard let head = Pipes.read(ThumbnailRequest.headBytes) else { return false }
        guard let (request, count) = ThumbnailRequest.read(head), count <= bounds.input else { exit(65) }
        guard let bytes = Pipes.readBuffer(count) else { return false }
        defer { bytes.deallocate() }
        ProcessBounds.setTime(milliseconds: bounds.milliseconds)
        defer { ProcessBounds.setTime(milliseconds: 0) }
        do {
            let picture = try Picture(UnsafeRawBufferPointer(bytes), pixels: bounds.pixels)
            let made = try picture.thumbnail(request)
            let answer = ThumbnailAnswer.thumbnail(format: made.format, size: made.size, original: made.original)
            return Pipes.write(answer.head(count: made.bytes.count)) && Pipes.write(made.bytes)
        } catch {
            let failure = error as? PictureFailure ?? PictureFailure(.broken, "\(error)")
            // The reader takes ASCII alone.
            let sentence = Array(failure.sentence.replacing("×", with: "x").utf8.prefix(1000))
            return Pipes.write(ThumbnailAnswer.refused(failure.refusal).head(count: sentence.count)) && Pipes.write(sentence)
        }
    }
}

internal import HTTPEngine

extension FoundFile {
    /// What is read or written before looking whether anybody still waits for it.
    static let piece = 1 << 20

    /// As many bytes from the given place on. Nil, when the file ends before, or the caller left.
    func bytes(_ count: Int, at offset: Int, for caller: FileThreads.Caller? = nil) throws(StorageFailure) -> [UInt8]? {
        var failure: StorageFailure?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            while done < count, caller?.isGone != true {
                let piece = UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[done..<min(count, done + Self.piece)])
                do throws(StorageFailure) {
                    let read = try self.read(into: piece, at: offset + done)
                    done += read
                    if read < piece.count { return }
                } catch {
                    failure = error
                    return
                }
            }
        }
        if let failure { throw failure }
        return bytes.count == count ? bytes : nil
    }
}

extension BodyFile {
    /// Appends the bytes piece by piece, and stops where the caller has left.
    func write(_ bytes: [UInt8], for caller: FileThreads.Caller) throws(StoreFailure) {
        for start in stride(from: 0, to: bytes.count, by: FoundFile.piece) {
            guard !caller.isGone else { throw .cancelled }
            var failure: StorageFailure?
            bytes.withUnsafeBytes { all in
                let piece = UnsafeRawBufferPointer(rebasing: all[start..<min(all.count, start + FoundFile.piece)])
                do throws(StorageFailure) { try write(piece) } catch { failure = error }
            }
            if let failure { throw .system(failure) }
        }
    }
}

internal import GannetBase
internal import GannetQueue
internal import Results

/// The pictures of the batches that clients look at, within a bound of memory. The batch that was unused for longest makes room.
actor PictureIndex {
    private struct Key: Hashable {
        let queue: String
        let batch: Int
    }

    /// The batch that was asked for last is the last.
    private var batches: [(key: Key, pictures: BatchPictures)] = []
    private let most: Int

    private static let mostBatches = 16

    /// - Parameter most: Pictures of one batch, and of the other batches together. Each takes some 300 bytes.
    init(most: Int = 200_000) { self.most = most }

    /// The pictures of a batch, which need not be read yet.
    /// - Parameter folder: The pictures that a run found in its folder, which belong to this batch.
    func pictures(of batch: Int, in queue: FetchQueue, and folder: FoundPictures? = nil) async -> BatchPictures {
        let key = Key(queue: queue.name, batch: batch)
        let found: BatchPictures
        if let place = batches.firstIndex(where: { $0.key == key }) {
            found = batches.remove(at: place).pictures
        } else {
            found = BatchPictures(queue, batch: batch, most: most, found: folder)
        }
        batches.append((key, found))
        await makeRoom()
        return found
    }

    private func makeRoom() async {
        while batches.count > 1 {
            var others = 0
            for (_, pictures) in batches.dropLast() { others += await pictures.count }
            guard batches.count > Self.mostBatches || others > most else { return }
            batches.removeFirst()
        }
    }
}

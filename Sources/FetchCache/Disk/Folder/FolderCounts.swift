/// What has become of reads and writes since a folder was opened.
package struct FolderCounts: Sendable, Hashable {
    package var hits = 0
    package var misses = 0
    /// Reads that the system refused, or for which there was no thread; they found nothing.
    package var failedReads = 0
    /// Files that were not what they should be, and were removed.
    package var damaged = 0
    package var writes = 0
    /// Writes that the system refused, or for which no room could be made.
    package var failedWrites = 0
    /// Writes that were not tried, because several before had failed.
    package var pausedWrites = 0
    /// Writes that were dropped because too many waited.
    package var droppedWrites = 0
    /// Files that were removed to make room.
    package var evictions = 0
    /// Half-written files of dead writers that were removed.
    package var leftovers = 0
}

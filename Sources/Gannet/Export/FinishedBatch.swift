/// A batch as it was at one moment, and the jobs of it that had ended then.
package struct FinishedBatch: Sendable {
    package let status: BatchStatus
    /// With which its URLs were asked for.
    package let headers: ExtraHeaders
    let walk: FinishedWalk

    /// How many ends there are; a URL may have several.
    package var count: Int { walk.count }
}

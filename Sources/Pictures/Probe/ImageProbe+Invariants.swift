extension ImageProbe {
    /// A sentence that says what the probe got wrong about these bytes, or nil. For fuzzers.
    package func violation(in bytes: UnsafeRawBufferPointer) -> String? {
        let whole = result(of: bytes)
        if case .success(let info) = whole, let violation = violation(in: info) { return violation }
        for count in Self.cuts(of: bytes.count) {
            guard case .success(let info) = result(of: UnsafeRawBufferPointer(rebasing: bytes[..<count])) else { continue }
            // Bytes behind the end of a whole image change nothing.
            guard whole == .success(info) else { return "the first \(count) bytes are \(info), and all of them are \(whole)" }
        }
        return nil
    }

    private func violation(in info: ImageInfo) -> String? {
        guard let size = info.size else { return info.format == .svg ? nil : "the \(info.format.name) has no size" }
        guard size.width > 0, size.height > 0 else { return "the \(info.format.name) has a side of no pixels" }
        return limits.permit(size) ? nil : "the \(info.format.name) of \(size) pixels exceeds the limits"
    }

    private func result(of bytes: UnsafeRawBufferPointer) -> Result<ImageInfo, ImageProbeError> {
        do { return .success(try examine(bytes)) } catch { return .failure(error) }
    }

    /// Lengths to cut at: near the end, where an image is usually incomplete, and ever smaller parts.
    private static func cuts(of count: Int) -> [Int] {
        let near = (1...4).map { count - $0 }
        let far = (1...6).map { count - count >> $0 } + (1...3).map { count >> $0 }
        return (near + far).filter { (0..<count).contains($0) }
    }
}

internal import GannetBase

/// A list that gzip packed, a piece at a time: one member or several, one behind the other, as `cat` and parallel compressors make them.
final class GunzipStream {
    private enum Phase {
        case member
        case between
        /// Zeros up to the end, with which tapes are filled up.
        case padding
    }

    /// The first byte of every member, with which no list begins.
    static let firstByte: UInt8 = 0x1F

    private let inflate: Inflate
    private let window = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
    private var phase = Phase.member

    init() throws {
        guard let inflate = Inflate(.gzip) else { throw ListError.outOfMemory }
        self.inflate = inflate
    }

    deinit { window.deallocate() }

    /// As much as one window holds, valid until the next call, which goes on where this one stopped. All of a member's bytes are out before its
    /// checksum is read.
    func unpack(_ input: inout UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer {
        var count = 0
        repeat {
            switch phase {
            case .member: try inflateOnce(&input, &count)
            case .between: try beginMember(input)
            case .padding:
                guard input.allSatisfy({ $0 == 0 }) else { throw ListError.badCompression("something else follows it") }
                input = input.part(input.count, input.count)
            }
        } while !input.isEmpty && count < window.count
        return UnsafeRawBufferPointer(rebasing: window[..<count])
    }

    /// Throws unless the input ends where its last member ends.
    func finish() throws {
        if phase == .member { throw ListError.truncatedCompression }
    }

    private func beginMember(_ input: UnsafeRawBufferPointer) throws {
        switch input.first {
        case nil: break
        case Self.firstByte?:
            inflate.restart()
            phase = .member
        case 0?: phase = .padding
        default: throw ListError.badCompression("something else follows it")
        }
    }

    private func inflateOnce(_ input: inout UnsafeRawBufferPointer, _ count: inout Int) throws {
        let (unpacked, outcome) = inflate.advance(&input, into: UnsafeMutableRawBufferPointer(rebasing: window[count...]))
        count += unpacked
        switch outcome {
        case .more: break
        case .ended: phase = .between
        case .damaged(let reason): throw ListError.badCompression(reason)
        case .outOfMemory: throw ListError.outOfMemory
        }
    }
}

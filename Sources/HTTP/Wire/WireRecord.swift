package import GannetBase

/// Keeps the exchanges of a download as they went over the wire, for a caller that puts it into its request. Other requests pay nothing for it.
///
/// Each hop makes one exchange: every redirect that was followed, and the last answer. An answer that was not taken whole makes none, such
/// as one that is too large, that is refused by its head, or whose body broke off. Answers of errors and redirects are no bodies that the
/// caller asked for, so they are taken as far as ``mostOfOthers``.
package final class WireRecord: Sendable {
    /// The bytes of a body before the decoding of its content coding, and without its transfer coding.
    package enum Body: Sendable {
        case bytes([UInt8])
        /// The file lives as long as this value.
        case file(WireFile, count: Int)
        /// The answer has no content coding: ``Download/body`` has the bytes.
        case downloaded
    }

    /// Why a body ends too early.
    package enum Cut: String, Sendable {
        /// It is longer than ``mostOfOthers``.
        case length
        /// The connection ended, or the time did.
        case disconnect
    }

    package struct Exchange: Sendable {
        /// Without user, password and fragment.
        package internal(set) var url = ""
        /// When the request was sent, by the wall clock.
        package internal(set) var date = Date()
        /// As it was sent, without headers that may be secrets.
        package internal(set) var requestHead: [UInt8] = []
        /// The status line and all fields as they came, without interim answers (1xx) and those of proxies.
        package internal(set) var answerHead: [UInt8] = []
        package internal(set) var body = Body.downloaded
        package internal(set) var cut: Cut?
        /// Such as `h2` or `http/1.1`.
        package internal(set) var protocolName = ""
        /// The numeric address of the origin; nil behind a proxy.
        package internal(set) var remoteAddress: String?
    }

    /// So much is kept of the bodies of redirects and errors, in bytes.
    package static let mostOfOthers = 1_000_000

    private struct State {
        var exchanges: [Exchange] = []
        /// The bytes of bodies that may still stay in memory. Other bytes go to files.
        var memoryLeft: Int
    }

    let folder: String
    private let memory: Int
    private let state: Mutex<State>

    /// - Parameters:
    ///   - folder: Gets temporary files with the bodies that are longer than `memory`, which holds for all bodies together.
    package init(fileIn folder: String, beyond memory: Int) {
        self.folder = folder
        self.memory = memory
        state = Mutex(State(memoryLeft: memory))
    }

    /// The exchanges so far. After the download they are all there.
    package var exchanges: [Exchange] { state.withLock { $0.exchanges } }

    /// Forgets all exchanges, so that another attempt can use it.
    package func clear() { state.withLock { $0 = State(memoryLeft: memory) } }

    func add(_ exchange: Exchange) { state.withLock { $0.exchanges.append(exchange) } }

    /// Whether so many further bytes may stay in memory.
    func takeMemory(_ count: Int) -> Bool {
        state.withLock { state in
            guard count <= state.memoryLeft else { return false }
            state.memoryLeft -= count
            return true
        }
    }
}

extension WireRecord: Hashable {
    package static func == (one: WireRecord, other: WireRecord) -> Bool { one === other }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A temporary file, which is removed with the last reference to it.
package final class WireFile: Sendable {
    package let path: String

    init(_ path: String) { self.path = path }

    deinit { unlink(path) }
}

internal import GannetBase
internal import GannetHTTP
internal import GannetQueue

/// The index of a journal: for each URL id the place of its record, and marks of how far the run has come with it.
///
/// An open-addressing table with 24 bytes a slot, at most three quarters full. A small table is in memory. A large one is in a file without
/// a name, which the kernel can write out: the index of 10 million URLs is not memory of this process. Only one thread at a time may use a
/// table.
package final class URLTable {
    package struct Marks: OptionSet, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        /// The latest record of the URL is a failure.
        package static let failed = Self(rawValue: 1)
        /// The latest record of the URL is of this run.
        static let current = Self(rawValue: 2)
        /// The URL is in this run's list.
        static let listed = Self(rawValue: 4)
        /// This run put the URL into the queue.
        static let queued = Self(rawValue: 8)
        /// The URL's file was checked, and it is as recorded.
        static let sound = Self(rawValue: 16)
        /// The URL's file is missing, changed or too old.
        static let broken = Self(rawValue: 32)
        /// A row of the manifest holds the URL's fetch.
        static let told = Self(rawValue: 64)
        /// The manifest of a list has a row with its URL.
        static let shown = Self(rawValue: 128)
    }

    package struct Entry: Equatable {
        /// The place of the URL's latest record in the journal; 0 without a record.
        package var offset = 0
        package var marks: Marks = []
    }

    private struct Slot {
        var high: UInt64
        var low: UInt64
        /// The offset above eight bits of marks; 0 in a free slot.
        var value: UInt64
    }

    private var slots: UnsafeMutableBufferPointer<Slot>
    private(set) var count = 0
    private let folder: String

    private static let smallestCapacity = 1024
    /// The largest table in memory, in bytes. A larger table is in a file.
    private static let mostMemory = 4 << 20

    /// - Parameters:
    ///   - folder: The folder for the file of a large table.
    ///   - expected: The least number of URLs.
    init(in folder: String, expecting expected: Int) throws {
        self.folder = folder
        slots = try Self.map(max(Self.smallestCapacity, expected + expected / 2), in: folder)
    }

    deinit { Self.unmap(slots) }

    subscript(id: URLID) -> Entry? {
        let slot = slots[find(id)]
        return slot.value == 0 ? nil : Self.entry(slot)
    }

    /// Changes the entry of a URL, which is empty for a new URL and must not be empty afterwards.
    func update<Result>(_ id: URLID, _ change: (inout Entry) -> Result) throws -> Result {
        if count >= slots.count / 4 * 3 { try grow() }
        let index = find(id)
        var entry = Self.entry(slots[index])
        if slots[index].value == 0 {
            count += 1
            (slots[index].high, slots[index].low) = Self.words(id)
        }
        let result = change(&entry)
        slots[index].value = UInt64(entry.offset) << 8 | UInt64(entry.marks.rawValue)
        precondition(slots[index].value != 0, "An entry of the table is empty.")
        return result
    }

    /// The slot of this id, or the free slot for it.
    private func find(_ id: URLID) -> Int { Self.find(Self.words(id), in: slots) }

    private static func find(_ key: (high: UInt64, low: UInt64), in slots: UnsafeMutableBufferPointer<Slot>) -> Int {
        // Ids are digests, so their first bits serve as a hash.
        var index = Int(key.high.multipliedFullWidth(by: UInt64(slots.count)).high)
        while slots[index].value != 0, slots[index].high != key.high || slots[index].low != key.low {
            index += 1
            if index == slots.count { index = 0 }
        }
        return index
    }

    private func grow() throws {
        let larger = try Self.map(slots.count * 2, in: folder)
        for slot in slots where slot.value != 0 { larger[Self.find((slot.high, slot.low), in: larger)] = slot }
        Self.unmap(slots)
        slots = larger
    }

    private static func entry(_ slot: Slot) -> Entry {
        Entry(offset: Int(slot.value >> 8), marks: Marks(rawValue: UInt8(truncatingIfNeeded: slot.value)))
    }

    private static func words(_ id: URLID) -> (high: UInt64, low: UInt64) {
        id.bytes.withUnsafeBytes {
            (UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)), UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }

    private static func map(_ capacity: Int, in folder: String) throws -> UnsafeMutableBufferPointer<Slot> {
        let bytes = capacity * MemoryLayout<Slot>.stride
        var descriptor: Int32 = -1
        if bytes > mostMemory {
            descriptor = try file(of: bytes, in: folder)
        }
        defer { if descriptor >= 0 { close(descriptor) } }
        let flags = descriptor >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS
        guard let pointer = mmap(nil, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0), pointer != MAP_FAILED else {
            throw StorageFailure(
                "There is not enough memory for the index of the folder \(folder.escapedForDisplay): \(String(cString: strerror(errno))).")
        }
        return UnsafeMutableBufferPointer(start: pointer.bindMemory(to: Slot.self, capacity: capacity), count: capacity)
    }

    private static func unmap(_ slots: UnsafeMutableBufferPointer<Slot>) {
        munmap(slots.baseAddress, slots.count * MemoryLayout<Slot>.stride)
    }

    /// A nameless file of this size. Its space is allocated now: a write to a mapped file without space would end the process.
    private static func file(of bytes: Int, in folder: String) throws -> Int32 {
        let path = "\(folder)/index-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        var code = errno
        if descriptor >= 0 {
            unlink(path)
            code = posix_fallocate(descriptor, 0, bytes)
            if code == 0 { return descriptor }
            close(descriptor)
        }
        throw StorageFailure.refused("file", path, "written", code)
    }
}

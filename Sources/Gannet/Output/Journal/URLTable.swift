internal import ClusterState
internal import HTTPEngine

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What a run knows of each URL, by its id: where in the journal its record is, and how far the run has come with it.
///
/// An open-addressing table, 24 bytes a slot, at most three quarters full. A small one is in memory; a large one in a file without a name, so that the
/// kernel may put it out of the way: 10 million URLs are no memory of this process' own. Not for two threads at once.
final class URLTable {
    struct Marks: OptionSet {
        let rawValue: UInt8
        /// Its record says that it failed.
        static let failed = Self(rawValue: 1)
        /// Its record is of this run.
        static let current = Self(rawValue: 2)
        /// It is in this run's list.
        static let listed = Self(rawValue: 4)
        /// It was put into the queue by this run.
        static let queued = Self(rawValue: 8)
        /// Its file was looked at and is what the record says, or is not.
        static let sound = Self(rawValue: 16)
        static let broken = Self(rawValue: 32)
        /// A row of the manifest has told of its fetch.
        static let told = Self(rawValue: 64)
    }

    struct Entry: Equatable {
        /// Where the journal has its latest record; 0 where it has none.
        var offset = 0
        var marks: Marks = []
    }

    private struct Slot {
        var high: UInt64
        var low: UInt64
        /// The offset above eight bits of marks; 0 in a slot that is free.
        var value: UInt64
    }

    private var slots: UnsafeMutableBufferPointer<Slot>
    private(set) var count = 0
    private let folder: String

    private static let smallestCapacity = 1024
    /// In bytes; what is larger is in a file.
    private static let mostMemory = 4 << 20

    /// - Parameters:
    ///   - folder: Where a large table's file is made.
    ///   - expected: How many URLs there will be at least.
    init(in folder: String, expecting expected: Int) throws(OutputFailure) {
        self.folder = folder
        slots = try Self.map(max(Self.smallestCapacity, expected + expected / 2), in: folder)
    }

    deinit { Self.unmap(slots) }

    subscript(id: URLID) -> Entry? {
        let slot = slots[find(id)]
        return slot.value == 0 ? nil : Self.entry(slot)
    }

    /// Changes what is known of a URL, also when that was nothing; it has to be something afterwards.
    func update<Result>(_ id: URLID, _ change: (inout Entry) -> Result) throws(OutputFailure) -> Result {
        if count >= slots.count / 4 * 3 { try grow() }
        let index = find(id)
        var entry = Self.entry(slots[index])
        if slots[index].value == 0 {
            count += 1
            (slots[index].high, slots[index].low) = Self.words(id)
        }
        let result = change(&entry)
        slots[index].value = UInt64(entry.offset) << 8 | UInt64(entry.marks.rawValue)
        precondition(slots[index].value != 0, "A URL of which nothing is known is in the table.")
        return result
    }

    /// The slot of this id, or the free one where it belongs.
    private func find(_ id: URLID) -> Int { Self.find(Self.words(id), in: slots) }

    private static func find(_ key: (high: UInt64, low: UInt64), in slots: UnsafeMutableBufferPointer<Slot>) -> Int {
        // Ids are digests, so their first bits are as good as any hash of them.
        var index = Int(key.high.multipliedFullWidth(by: UInt64(slots.count)).high)
        while slots[index].value != 0, slots[index].high != key.high || slots[index].low != key.low {
            index += 1
            if index == slots.count { index = 0 }
        }
        return index
    }

    private func grow() throws(OutputFailure) {
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

    private static func map(_ capacity: Int, in folder: String) throws(OutputFailure) -> UnsafeMutableBufferPointer<Slot> {
        let bytes = capacity * MemoryLayout<Slot>.stride
        var descriptor: Int32 = -1
        if bytes > mostMemory {
            descriptor = try file(of: bytes, in: folder)
        }
        defer { if descriptor >= 0 { close(descriptor) } }
        let flags = descriptor >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS
        guard let pointer = mmap(nil, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0), pointer != MAP_FAILED else {
            throw OutputFailure(
                "There is no memory for the index of the folder \(folder.escapedForDisplay): \(String(cString: strerror(errno))).")
        }
        return UnsafeMutableBufferPointer(start: pointer.bindMemory(to: Slot.self, capacity: capacity), count: capacity)
    }

    private static func unmap(_ slots: UnsafeMutableBufferPointer<Slot>) {
        munmap(slots.baseAddress, slots.count * MemoryLayout<Slot>.stride)
    }

    /// A file with room for so much, which is gone when nobody has it open. Room that was promised and is not there when it is written to ends the
    /// process, so all of it is taken now.
    private static func file(of bytes: Int, in folder: String) throws(OutputFailure) -> Int32 {
        let path = "\(folder)/index-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        var code = errno
        if descriptor >= 0 {
            unlink(path)
            #if canImport(Glibc)
            code = posix_fallocate(descriptor, 0, bytes)
            #else
            var store = fstore_t(
                fst_flags: UInt32(F_ALLOCATEALL), fst_posmode: F_PEOFPOSMODE, fst_offset: 0, fst_length: off_t(bytes), fst_bytesalloc: 0)
            code = fcntl(descriptor, F_PREALLOCATE, &store) == 0 && ftruncate(descriptor, off_t(bytes)) == 0 ? 0 : errno
            #endif
            if code == 0 { return descriptor }
            close(descriptor)
        }
        throw OutputFailure("The file \(path.escapedForDisplay) cannot be written: \(String(cString: strerror(code))).")
    }
}

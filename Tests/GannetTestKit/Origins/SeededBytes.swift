internal import COpenSSL

/// Bytes that follow from a seed, the same in every run.
package struct SeededBytes: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    /// The next number, by SplitMix64.
    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// The next bytes.
    package mutating func next(count: Int) -> [UInt8] {
        // Tests are built without optimisation, and make megabytes: eight bytes at a time.
        [UInt8](unsafeUninitializedCapacity: count + 7) { buffer, initialized in
            let words = UnsafeMutableRawBufferPointer(buffer)
            for offset in stride(from: 0, to: count, by: 8) {
                words.storeBytes(of: next().littleEndian, toByteOffset: offset, as: UInt64.self)
            }
            initialized = count
        }
    }
}

/// A piece, so many times. Without optimisation, joining arrays takes seconds for some megabytes.
package func repeated(_ piece: [UInt8], _ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: piece.count * count) { buffer, initialized in
        let target = UnsafeMutableRawBufferPointer(buffer)
        piece.withUnsafeBytes { piece in
            for number in 0..<count { UnsafeMutableRawBufferPointer(rebasing: target[(number * piece.count)...]).copyMemory(from: piece) }
        }
        initialized = piece.count * count
    }
}

/// The SHA-256 of `bytes`, in hexadecimal.
package func sha256(of bytes: [UInt8]) -> String {
    var digest = [UInt8](repeating: 0, count: 32)
    let status = EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
    precondition(status == 1, "libcrypto has no SHA-256")
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}

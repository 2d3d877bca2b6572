#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The bytes of a file. Foundation's own way to read one leaks a page for each that is empty (Swift 6.3, Linux), and tests have many.
package func contents(ofFile path: String) throws(KitError) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw KitError.system("cannot open \(path)", errno) }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
        let count = read(file, &buffer, buffer.count)
        guard count >= 0 else { throw KitError.system("cannot read \(path)", errno) }
        if count == 0 { return bytes }
        bytes += buffer[..<count]
    }
}

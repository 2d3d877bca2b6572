import GannetBase
import GannetTestKit
import Glibc

/// Writes a file piece by piece, so that the memory of this process stays small: programs that it starts begin with that as their peak.
func writeFile(_ path: String, _ count: Int, _ piece: (Int) -> String) throws {
    guard let file = fopen(path, "w") else { throw KitError("cannot write \(path)") }
    for number in 0..<count { fputs(piece(number), file) }
    guard fclose(file) == 0 else { throw KitError("cannot write \(path)") }
}

/// Says on standard error how far it is.
func note(_ sentence: String) {
    _ = Descriptor.writeAll("\(sentence)\n", to: 2)
}

import CommandLineKit
import Gannet

/// What the files of bodies are called.
enum NameOption {
    static let style = Flag(
        "name", .choice("style", of: NameStyle.allCases.map(\.rawValue)), default: NameStyle.hash.rawValue,
        "What bodies' files are called: 'hash' for 3fa/3fa94c…-cat.jpg, 'host' for example.com/3fa/3fa94c…-cat.jpg, 'path' for "
            + "example.com/3fa/pets/3fa94c…-cat.jpg.")

    static func style(_ arguments: Arguments) throws(UsageError) -> NameStyle {
        NameStyle(rawValue: try arguments.require(style)) ?? .hash
    }
}

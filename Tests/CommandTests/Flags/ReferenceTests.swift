import CommandLineKit
import Foundation
import Testing

@testable import GannetCommand

@Suite struct ReferenceTests {
    @Test func `the page of all commands is the one that the table makes: gannet reference > Docs/COMMANDS.md`() throws {
        let path = URL(fileURLWithPath: #filePath).appending(path: "../../../../Docs/COMMANDS.md").standardizedFileURL
        let page = try String(contentsOf: path, encoding: .utf8)
        #expect(page == Reference(CommandTable.parser).text + "\n")
    }
}

import Foundation
import GannetTestKit
import Testing

@testable import GannetCommand

@Suite struct ReferenceTests {
    @Test func `the page of all commands is the one that the table makes: gannet reference > Docs/COMMANDS.md`() throws {
        let page = try String(contentsOf: Repository.url("Docs/COMMANDS.md"), encoding: .utf8)
        #expect(page == Reference(CommandTable.parser).text + "\n")
    }
}

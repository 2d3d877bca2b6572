/// Waits until something is so that nobody tells of. A test that runs out of time ends here.
func eventually(_ condition: () throws -> Bool) async throws {
    while try !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}

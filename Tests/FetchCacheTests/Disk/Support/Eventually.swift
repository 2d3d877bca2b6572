/// Waits until a condition holds of which there is no signal. A test that runs out of time ends here.
func eventually(_ condition: () throws -> Bool) async throws {
    while try !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}

import Testing

@testable import ImageProbe

@Suite struct ImageFormatTests {
    @Test func `there are nine`() { #expect(ImageFormat.allCases.count == 9) }
}

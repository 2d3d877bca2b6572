import GannetTestKit

@testable import GannetHTTP

extension EvilRow {
    static let redirects = [
        EvilRow(.redirectLoop, .fails(.tooManyRedirects)),
        EvilRow(.growingRedirect, .fails(.tooManyRedirects)),
        EvilRow(.pingPong, .fails(.tooManyRedirects)),
        EvilRow(.securePingPong, .fails(.tooManyRedirects)),
        EvilRow(.redirectToPrivate, .fails(.refusedAddress)),
        EvilRow(.redirectToMetadata, .fails(.refusedAddress)),
        EvilRow(.redirectToLoopback, .fails(.refusedAddress)),
        EvilRow(.redirectToDecimalAddress, .fails(.refusedAddress)),
        EvilRow(.redirectToHexAddress, .fails(.refusedAddress)),
        EvilRow(.redirectToOctalAddress, .fails(.refusedAddress)),
        EvilRow(.redirectToShortAddress, .fails(.refusedAddress)),
        EvilRow(.redirectToMappedAddress, .fails(.refusedAddress)),
        EvilRow(.redirectToNAT64Address, .fails(.refusedAddress)),
        EvilRow(.redirectToUnspecified, .fails(.refusedAddress)),
        EvilRow(.redirectToFullWidthAddress, .fails(.refusedAddress), .fails(.refusedRedirect)),
        EvilRow(.redirectToZone, .fails(.refusedAddress), .fails(.refusedRedirect)),
        EvilRow(.redirectToFile, .fails(.refusedRedirect)),
        EvilRow(.redirectToFTP, .fails(.refusedRedirect)),
        EvilRow(.redirectToGopher, .fails(.refusedRedirect)),
        EvilRow(.redirectToData, .fails(.refusedRedirect)),
        EvilRow(.redirectToScript, .fails(.refusedRedirect)),
        EvilRow(.redirectToOtherHost, .givesSomething),
        EvilRow(.redirectWithCredentials, .givesSomething, .fails(.refusedRedirect)),
        EvilRow(.redirectWithMisleadingUser, .fails(.refusedAddress), .fails(.refusedRedirect)),
        EvilRow(.redirectWithMisleadingBackslash, .givesSomething, .fails(.refusedAddress), .fails(.refusedRedirect)),
        EvilRow(.redirectWithoutLocation, .fails(.status(302))),
        EvilRow(.redirectToNothing, .fails(.status(302)), .fails(.refusedRedirect), .fails(.tooManyRedirects)),
        EvilRow(
            .redirectToLongURL, .givesSomething, .fails(.refusedRedirect)),
        EvilRow(.redirectToEncodedLineBreak, .givesSomething),
        EvilRow(.redirectToControl, .givesSomething, .fails(.refusedRedirect), .fails(.protocolError)),
        EvilRow(.redirectToNonASCII, .givesSomething),
        EvilRow(.redirectToSpaces, .givesSomething),
        EvilRow(.redirectToNUL, .fails(.protocolError)),
        EvilRow(.redirectToPortZero, .fails(.connect), .fails(.refusedRedirect)),
        EvilRow(.redirectToPortTooHigh, .fails(.refusedRedirect)),
        EvilRow(.redirectToEmptyHost, .fails(.refusedRedirect)),
        EvilRow(.redirectToFragment, .gives(EvilBench.good)),
        EvilRow(.redirectWithoutScheme, .gives(EvilBench.good)),
        EvilRow(.twoLocations, .gives(EvilBench.good), .fails(.refusedRedirect), .fails(.protocolError)),
    ]
}

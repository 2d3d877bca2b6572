/// An attack of an `EvilOrigin` on its client. The name, in lower case with hyphens, is the path: `/never-answers`.
package enum EvilBehaviour: String, CaseIterable, Sendable {
    // Good, for comparison: a body of known content; the request's head as the body.
    case good, echo

    // Silent or slow: `EvilBehaviour+Silence.swift`.
    case neverAnswers, oneByteASecond, oneHeaderASecond, oneHeaderByteASecond, stallsInStatusLine, stallsInHeaders, stallsInBody,
        stallsInChunk, stallsBeforeLastChunk, staysOpenAfterBody, staysOpenWithoutLength, slowInformationals, slowRedirects,
        neverAccepts, silentHandshake, slowHandshake

    // Without end, or too much: `EvilBehaviour+Floods.swift`.
    case endlessBody, endlessChunks, endlessTinyChunks, endlessChunkExtension, endlessExtensions, endlessChunkSize, endlessTrailers,
        endlessHeaders, endlessFoldedHeader, endlessStatusLine, endlessEmptyLines, endlessErrorBody, endlessRedirectBody, gigabyteHeader,
        informationalFlood, cookieFlood, manyCookies, manySmallHeaders, hugeETag, hugeContentType, longContentType, announcesTerabyte

    // Lengths that are none: `EvilBehaviour+Lengths.swift`.
    case truncatedBody, longerBody, twoLengths, twoEqualLengths, lengthList, differingLengthList, negativeLength, plusLength, hexLength,
        emptyLength, wordLength, lengthWithGarbage, lengthWithBlank,
        lengthBehindBlank, foldedLength, chunkedBehindBlank, foldedChunked, overflowingLength, wrappingLength, noContentWithBody,
        noContentWithLength, resetContentWithBody, notModifiedUnasked, notModifiedWithBody, partialUnasked, endsWithConnection, emptyBody

    // Chunks that are none: `EvilBehaviour+Chunks.swift`.
    case truncatedChunk, noLastChunk, noTrailerEnd, overflowingChunk, wrappingChunk, negativeChunk, hexPrefixChunk, emptyChunkSize,
        wordChunk, chunkWithBlanks, longerChunk, bareLineFeedChunks, chunkedAndLength, chunkedTwice, chunkedInTwoHeaders, chunkedInHTTP10,
        chunkedNotLast, chunkedWithControl, xChunked, identityTransfer, unknownTransfer, unknownThenChunked, forgedTrailers

    // Status lines: `EvilBehaviour+StatusLines.swift`.
    case http09, binaryGarbage, icy, http37, http2InPlain, lowerCaseHTTP, noSpaceInStatus, statusWithoutReason, status000, status42,
        status1000, statusWord, negativeStatus, status599, status600, status999, nulInStatusLine, escapeInReason, emptyLinesFirst,
        switchingProtocols, switchesToGarbage, continueUnasked, earlyHints, unknownInformational, onlyInformational, throttledSeconds,
        throttledDate, throttledPastDate, throttledGarbage, throttledNegative, throttledForever, unavailableSeconds, proxyAuthentication,
        unauthorized

    // Header lines: `EvilBehaviour+Headers.swift`.
    case bareLineFeeds, bareReturns, foldedHeader, foldedFirstHeader, noColon, emptyName, blankBeforeColon, nulInHeader, nulInName,
        invalidUTF8,
        controlInContentType, latin1ContentType, twoContentTypes, endsInHeaders, temptingHeaders

    // Redirects: `EvilBehaviour+Redirects.swift`.
    case redirectLoop, growingRedirect, pingPong, securePingPong, redirectToPrivate, redirectToMetadata, redirectToLoopback,
        redirectToDecimalAddress, redirectToHexAddress, redirectToOctalAddress, redirectToShortAddress, redirectToMappedAddress,
        redirectToNAT64Address, redirectToUnspecified, redirectToFullWidthAddress, redirectToZone, redirectToFile, redirectToFTP,
        redirectToGopher, redirectToData,
        redirectToScript, redirectToOtherHost, redirectWithCredentials, redirectWithMisleadingUser, redirectWithMisleadingBackslash,
        redirectWithoutLocation, redirectToNothing, redirectToLongURL, redirectToEncodedLineBreak, redirectToControl,
        redirectToNonASCII, redirectToSpaces, redirectToNUL, redirectToPortZero, redirectToPortTooHigh, redirectToEmptyHost,
        redirectToFragment, redirectWithoutScheme, twoLocations, redirectToRebindingName

    // Encodings: `EvilBehaviour+Encodings.swift`.
    case gzip, brotli, zstd, zlibDeflate, rawDeflate, gzipBomb, brotliBomb, zstdBomb, gzipOfNothing, gzipEndlessName, gzipEndlessMembers,
        zstdEndlessSkipping, zstdWideWindow, zstdHugeWindow, gzipWrongSum, gzipWrongSize, gzipCut, gzipThenGarbage,
        gzipTwoMembers, gzipUnpacked, gzipEmpty, doubleGzip, secretlyDoubleGzip, thousandEncodings, deflateGarbage, brotliGarbage,
        zstdGarbage, unknownEncoding, shoutedGzip, gzipTransfer

    // Connections: `EvilBehaviour+Connections.swift`.
    case refusesConnections, closesAtOnce, resetsAtOnce, speaksFirst, closesAfterRequest, resetsAfterRequest, resetsInHeaders,
        resetsInBody, halfClosesUnanswered, halfClosesInBody, halfClosesAfterBody, closesOnSecondRequest, resetsOnSecondRequest,
        closesWhenIdle, garbageAfterAnswer, extraAnswer, secureExtraAnswer, lateExtraAnswer,
        lateTimeout

    // TLS: `EvilBehaviour+TLS.swift`.
    case expiredCertificate, wrongHostCertificate, selfSignedCertificate, plainInsteadOfTLS, garbageHandshake, endlessHandshake,
        alertHandshake,
        closesInHandshake, resetsInHandshake, outdatedTLS, resetsAfterHandshake, cutWithoutFarewell, garbageUnderTLS

    // HTTP/2 under TLS: `EvilBehaviour+HTTP2.swift`.
    case http2GoAway, http2Refused, http2Reset, http2Garbage, http2Silent, http2Pings, http2Settings, http2Continuations,
        http2EmptyData, http2EndlessBody, http2HeaderBomb, http2Push
}

extension EvilBehaviour {
    /// Where it is asked for, on those ports that serve many.
    package var path: String {
        let letters = Array(rawValue)
        var path = "/"
        for (index, letter) in letters.enumerated() {
            // A capital begins a word, within a run of them only the last: `hugeETag`, `chunkedInHTTP10`.
            let followsSmall = index > 0 && !letters[index - 1].isUppercase
            let precedesSmall = index + 1 < letters.count && letters[index + 1].isLowercase
            if letter.isUppercase, followsSmall || precedesSmall { path += "-" }
            path += letter.lowercased()
        }
        return path
    }

    /// By the first part of a request's path.
    init?(path: some StringProtocol) {
        guard let first = path.split(separator: "/").first?.prefix(while: { $0 != "?" }), let behaviour = Self.byPath["/\(first)"] else {
            return nil
        }
        self = behaviour
    }

    private static let byPath = Dictionary(uniqueKeysWithValues: allCases.map { ($0.path, $0) })
}

import Testing

@testable import GannetPictures

@Suite struct SVGTests {
    @Test(arguments: [
        ("width='10' height='20'", 10, 20), ("width=' 1e1px ' height='.2e+2'", 10, 20), ("height='20' viewBox='0 0 5 10'", 10, 20),
        ("width='10' viewBox='0 0 5 10'", 10, 20), ("width='100%' height='20' viewBox='-1,-2 5,10'", 10, 20),
        ("viewBox=' 0\n0 , 10 20 '", 10, 20), ("width='1in' height='2.54cm'", 96, 96), ("width='72pt' height='6pc'", 96, 96),
        ("width='25.4mm' height='101.6q'", 96, 96), ("width='0.2' height='10.01'", 1, 11), ("width='10' height='20' width2='7'", 10, 20),
        ("width='10em' height='1em' viewBox='0 0 3 4'", 3, 4), ("width='-5' height='20' viewBox='0 0 5 10'", 10, 20),
        ("xmlns='http://www.w3.org/2000/svg' \n width = \"10\"\theight\n='20'", 10, 20),
    ])
    func `width, height and view box tell a size`(attributes: String, width: Int, height: Int) {
        #expect(probed("<svg \(attributes)></svg>") == .image(.svg, width, height))
        #expect(probed("<svg \(attributes)/>") == .image(.svg, width, height))
    }

    @Test(arguments: [
        "", "width='100%' height='100%'", "width='10'", "height='10em' width='10'", "viewBox='0 0 10'", "viewBox='0 0 0 10'", "viewBox='a'",
        "width='nan' height='inf'", "width='0x10' height='1'", "width='1e999' height='2'", "viewBox='0 0 1e6 1e6'", "width='' height=''",
        "viewBox='0 0 -5 5'",
    ])
    func `an SVG need not have a size`(attributes: String) {
        #expect(probed("<svg \(attributes)/>") == .success(ImageInfo(format: .svg, size: nil)))
    }

    @Test(arguments: [
        "width='20000' height='20000'", "width='1e300' height='1'", "width='1e300in' height='1e300in'",
        "width='1e300' viewBox='0 0 1e300 1e-300'",
        "height='1' viewBox='0 0 1e300 1e-300'",
    ])
    func `an SVG that asks for too many pixels is refused`(attributes: String) {
        #expect(probed("<svg \(attributes)/>").isTooLarge)
    }

    @Test(arguments: [
        "<svg><g></g></svg>", "<svg><svg width='1'></svg></svg >", "<a:svg></a:svg>", "<svg a='>' b=\"'/>\"></svg>",
        "<svg><!-- </svg> -- > --></svg>", "<svg><![CDATA[</svg>]] > ]]]></svg>", "<svg><?x </svg> ?></svg>", "<svg><g a='</g>'/></svg>",
        "\u{feff} <!-- <html> --> <?p ?><!DOCTYPE svg [<!ENTITY x '<g>]>'><!-- ' -->]><svg></svg>", "<svg>< /svg></svg></svg>",
    ])
    func `an SVG ends with the tag that closes its root`(text: String) {
        #expect(probed(text) == .success(ImageInfo(format: .svg, size: nil)))
        for count in 0..<text.utf8.count {
            let result = probed(Array(text.utf8.prefix(count)))
            #expect(result.isTruncated || result.isNoImage)
        }
    }

    @Test(arguments: ["<svg><g></svg>", "<svg><g>", "<svg width='", "<svg width", "<svg><!-- ", "<svg><![CDATA[", "<svg></svg", "<svg /"])
    func `an SVG that is not closed is truncated`(text: String) {
        #expect(probed(text).isTruncated)
    }

    @Test(arguments: [
        "<svg></g>", "<svg></x:svg>", "<svg width></svg>", "<svg width=5></svg>", "<svg / ></svg>", "<svg =''></svg", "<svg></svg x>",
    ])
    func `an SVG whose tags are damaged is malformed`(text: String) {
        #expect(probed(text).isMalformed)
    }

    @Test func `an attribute may be longer than what is kept of it`() {
        let long = String(repeating: "x", count: 100_000)
        #expect(probed("<svg data='\(long)' width='3' height='2'/>") == .image(.svg, 3, 2))
        #expect(probed("<svg data='\(long)").isTruncated)
        #expect(probed("<svg width='3\(long)' height='2'/>") == .success(ImageInfo(format: .svg, size: nil)))
        #expect(probed("<\(long)svg/>").isNoImage)
    }
}

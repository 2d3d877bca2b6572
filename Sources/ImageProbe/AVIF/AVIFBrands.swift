/// The first box (ftyp), by which other media have much the same form.
struct AVIFBrands {
    private(set) var isImage = false
    private(set) var isSequence = false
    /// Where the next box begins.
    let end: Int

    init(from reader: inout ImageReader) throws(ImageProbeError) {
        let major = try reader.name(at: 8)
        let isGeneric = Self.generic.contains(major)
        guard let length = reader.source.number(at: 0, size: 4, .big), length >= 16, length.isMultiple(of: 4),
            isGeneric || major == "avif" || major == "avis" || reader.source.holds(length, at: 0)
        else { throw .notAnImage(Resemblance(ofBrand: major)) }
        reader.part = "the rest of its file type"
        try reader.require(length, at: 0)
        end = length
        // Behind the major brand is its version.
        for offset in [8] + stride(from: 16, to: length, by: 4) {
            let brand = try reader.name(at: offset)
            if brand == "avif" { isImage = true }
            if brand == "avis" { isSequence = true }
        }
        guard isImage || isSequence || isGeneric else { throw .notAnImage(Resemblance(ofBrand: major)) }
    }

    /// Brands of still pictures and sequences that do not say how these are coded.
    private static let generic: Set<FourCC> = ["mif1", "mif2", "msf1", "miaf"]
}

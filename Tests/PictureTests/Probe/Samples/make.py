#!/usr/bin/env python3
"""Makes the samples beside this file and sizes.tsv, which says how large other readers found each of them.

It was run once, on Debian 12; encoders of other versions write other bytes, so a second run is only for samples that are to be
replaced. Needs: pip install pillow tifffile imagecodecs numpy; apt install imagemagick libjpeg-turbo-progs webp libavif-bin librsvg2-bin.
"""
import io, os, struct, subprocess, sys, tempfile
import numpy, tifffile
from PIL import Image, ImageCms

here = os.path.dirname(os.path.abspath(__file__))
work = tempfile.mkdtemp()
W, H = 23, 17


def out(name): return os.path.join(here, name)
def tmp(name): return os.path.join(work, name)
def run(*command): subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
def magick(*arguments): run("/usr/bin/convert", *arguments)


def picture(width=W, height=H, mode="RGB", shift=0):
    y, x = numpy.mgrid[0:height, 0:width]
    rgb = numpy.stack([(x * 6 + shift) % 256, (y * 11) % 256, ((x + y) * 4 + shift) % 256], axis=-1).astype(numpy.uint8)
    image = Image.fromarray(rgb, "RGB")
    if mode == "RGBA":
        image.putalpha(Image.fromarray(((x * 7) % 256).astype(numpy.uint8), "L"))
        return image
    return image.convert(mode)


rgb, rgba, gray, bilevel = picture(), picture(mode="RGBA"), picture(mode="L"), picture(mode="1")
palette = rgb.quantize(16)
deep = (numpy.mgrid[0:H, 0:W][1] * 1771).astype(numpy.uint16)
frames = [picture(shift=60 * i) for i in range(3)]
exif = Image.Exif()
exif[0x0112], exif[0x010E] = 6, "a sample"
exif.get_ifd(0x8769)[0x9003] = "2024:01:01 00:00:00"
profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
rgb.save(tmp("rgb.png")); rgba.save(tmp("rgba.png")); gray.save(tmp("gray.png")); rgb.save(tmp("rgb.ppm"))

# PNG
rgb.save(out("rgb8.png")); rgba.save(out("rgba8.png")); gray.save(out("gray8.png")); bilevel.save(out("gray1.png"))
picture(mode="LA").save(out("gray-alpha8.png")); palette.save(out("palette4.png")); rgb.quantize(200).save(out("palette8.png"))
palette.save(out("palette-transparent.png"), transparency=3)
Image.fromarray(deep).save(out("gray16.png"))
magick(tmp("rgb.png"), "-define", "png:bit-depth=16", "-define", "png:color-type=2", out("rgb16.png"))
magick(tmp("rgb.png"), "-interlace", "PNG", out("interlaced.png"))
magick(tmp("gray.png"), "-interlace", "PNG", "-depth", "2", "-define", "png:color-type=0", out("gray2-interlaced.png"))
rgb.save(out("exif-icc.png"), exif=exif, icc_profile=profile)
frames[0].save(out("animated.png"), save_all=True, append_images=frames[1:], duration=50)
rgb.save(out("animated-separate-default.png"), save_all=True, append_images=frames[1:], default_image=True)
picture(1, 1).save(out("one-pixel.png"))

# JPEG
rgb.save(out("baseline.jpg"), quality=60)
rgb.save(out("subsampling-444.jpg"), quality=60, subsampling=0)
gray.save(out("gray.jpg"), quality=60); picture(mode="CMYK").save(out("cmyk.jpg"), quality=40)
rgb.save(out("progressive.jpg"), quality=60, progressive=True); rgb.save(out("optimized.jpg"), quality=60, optimize=True)
rgb.save(out("restart.jpg"), quality=60, restart_marker_blocks=1)
rgb.save(out("progressive-restart.jpg"), quality=60, progressive=True, restart_marker_rows=1)
picture(200, 150).save(out("noisy.jpg"), quality=1)
magick("-size", "48x40", "-seed", "1", "plasma:", "+noise", "Random", "-quality", "70", out("stuffed.jpg"))
run("cjpeg", "-arithmetic", "-outfile", out("arithmetic.jpg"), tmp("rgb.ppm"))
run("cjpeg", "-arithmetic", "-progressive", "-outfile", out("arithmetic-progressive.jpg"), tmp("rgb.ppm"))
with open(tmp("scans"), "w") as scans: scans.write("0;\n1;\n2;\n")
run("cjpeg", "-scans", tmp("scans"), "-outfile", out("three-scans.jpg"), tmp("rgb.ppm"))
rgb.save(out("exif-icc.jpg"), quality=60, exif=exif, icc_profile=profile, comment=b"a sample")
thumbnail = io.BytesIO()
picture(16, 8).save(thumbnail, "JPEG", quality=30)
tiff = struct.pack("<2sHIHI", b"II", 42, 8, 0, 14) + struct.pack("<H", 3)
tiff += struct.pack("<HHII", 0x0103, 3, 1, 6) + struct.pack("<HHII", 0x0201, 4, 1, 56) + struct.pack("<HHII", 0x0202, 4, 1, len(thumbnail.getvalue()))
tiff += struct.pack("<I", 0)
tiff += thumbnail.getvalue()
rgb.save(out("thumbnail.jpg"), quality=60, exif=b"Exif\0\0" + tiff)
frames[0].save(out("multi-picture.jpg"), format="MPO", save_all=True, append_images=[frames[1].resize((20, 10))], quality=40)

# GIF
palette.save(out("palette.gif"), interlace=0); palette.save(out("interlaced.gif"), interlace=1)
palette.save(out("transparent.gif"), transparency=2, comment=b"a sample"); bilevel.save(out("bilevel.gif"))
reduced = [frame.quantize(8) for frame in frames]
reduced[0].save(out("animated.gif"), save_all=True, append_images=reduced[1:], duration=40, loop=0)
moving = [Image.new("P", (W, H)) for _ in range(4)]
for index, image in enumerate(moving):
    image.putpalette([0, 0, 0, 255, 0, 0])
    image.paste(1, (5 * index, 3, 5 * index + 4, 9))
moving[0].save(out("small-frames.gif"), save_all=True, append_images=moving[1:], duration=40, optimize=True)
magick(tmp("rgb.png"), "-colors", "8", "GIF87:" + out("version-87a.gif"))
magick("-delay", "5", "-size", "9x7", "xc:red", "xc:blue", "-loop", "3", out("magick-animated.gif"))

# WebP
rgb.save(out("lossy.webp"), quality=50); rgb.save(out("lossless.webp"), lossless=True); rgba.save(out("lossy-alpha.webp"), quality=50)
rgba.save(out("lossless-alpha.webp"), lossless=True); rgb.save(out("lossless-exif.webp"), lossless=True, exif=exif)
rgba.save(out("lossy-alpha-exif-icc.webp"), quality=50, exif=exif, icc_profile=profile)
frames[0].save(out("animated.webp"), save_all=True, append_images=frames[1:], duration=40, quality=40)
frames[0].save(out("animated-lossless.webp"), save_all=True, append_images=frames[1:], duration=40, lossless=True)
[picture(mode="RGBA", shift=i) for i in (0, 90)][0].save(
    out("animated-alpha.webp"), save_all=True, append_images=[picture(mode="RGBA", shift=90)], quality=40, allow_mixed=True)
run("cwebp", "-quiet", "-q", "30", "-partition_limit", "50", tmp("rgb.png"), "-o", out("cwebp.webp"))

# AVIF
rgb.save(out("lossy.avif"), quality=50); rgba.save(out("alpha.avif"), quality=50); gray.save(out("gray.avif"), quality=50)
rgb.save(out("subsampling-444.avif"), quality=50, subsampling="4:4:4"); rgb.save(out("exif-icc.avif"), quality=50, exif=exif, icc_profile=profile)
frames[0].save(out("animated.avif"), save_all=True, append_images=frames[1:], duration=40, quality=40)
rgba.save(out("animated-alpha.avif"), save_all=True, append_images=[picture(mode="RGBA", shift=60)], duration=40, quality=40)
run("avifenc", "--lossless", tmp("rgb.png"), out("lossless.avif"))
run("avifenc", "-d", "10", "--min", "40", "--max", "50", "--irot", "1", tmp("rgb.png"), out("rotated-10bit.avif"))
picture(128, 128).save(tmp("large.png"))
run("avifenc", "--grid", "2x2", "--min", "50", "--max", "60", tmp("large.png"), out("grid.avif"))

# BMP
rgb.save(out("rgb24.bmp")); rgba.save(out("rgba32.bmp")); palette.save(out("palette8.bmp")); bilevel.save(out("bilevel.bmp")); gray.save(out("gray8.bmp"))
magick(tmp("rgb.png"), "BMP2:" + out("core-header.bmp")); magick(tmp("rgb.png"), "BMP3:" + out("version-3.bmp"))
magick(tmp("rgba.png"), out("version-5-alpha.bmp")); magick(tmp("rgb.png"), "-define", "bmp:subtype=RGB565", out("rgb565.bmp"))
magick(tmp("rgb.png"), "-colors", "16", "-compress", "RLE", "BMP3:" + out("rle8.bmp"))
magick(tmp("rgb.png"), "-colors", "4", "-type", "Palette", "BMP3:" + out("palette4.bmp"))
magick(tmp("rgb.png"), out("version-5.bmp"))
upright = io.BytesIO(); rgb.save(upright, "BMP"); upright = bytearray(upright.getvalue())
row = (W * 3 + 3) // 4 * 4
start = struct.unpack_from("<I", upright, 10)[0]
rows = [upright[start + row * i:start + row * (i + 1)] for i in range(H)]
struct.pack_into("<i", upright, 22, -H)
open(out("top-down.bmp"), "wb").write(bytes(upright[:start]) + b"".join(reversed(rows)))


def longer_header(name, length, behind=b""):
    """The same pixels under a header of another version, and what that points to behind them."""
    pixels = b"".join(rows)
    head = struct.pack("<IiiHHIIiiII", length, W, H, 1, 24, 0, len(pixels), 0, 0, 0, 0).ljust(length, b"\0")
    if behind: head = head[:56] + b"DEBM" + head[60:112] + struct.pack("<II", length + len(pixels), len(behind)) + head[120:]
    file = struct.pack("<2sIHHI", b"BM", 14 + length + len(pixels) + len(behind), 0, 0, 14 + length)
    open(out(name), "wb").write(file + head + pixels + behind)


longer_header("version-4.bmp", 108); longer_header("os2-version-2.bmp", 64); longer_header("profile.bmp", 124, profile)
coded = b"".join(bytes([8, 0x12]) + bytes([0, 3, 0x31, 0x20]) + bytes([W - 11, 0x01]) + b"\0\0" for _ in range(H - 1)) + bytes([0, 2, 5, 0, 4, 0x22]) + b"\0\1"
colors = b"".join(bytes([16 * i, 8 * i, 4 * i, 0]) for i in range(16))
head = struct.pack("<IiiHHIIiiII", 40, W, H, 1, 4, 2, len(coded), 0, 0, 16, 0)
start = 14 + len(head) + len(colors)
open(out("rle4.bmp"), "wb").write(struct.pack("<2sIHHI", b"BM", start + len(coded), 0, 0, start) + head + colors + coded)

# TIFF
for name, compression in [("raw", None), ("lzw", "tiff_lzw"), ("deflate", "tiff_adobe_deflate"), ("packbits", "packbits"), ("jpeg", "jpeg")]:
    rgb.save(out(name + ".tiff"), compression=compression)
bilevel.save(out("group4.tiff"), compression="group4"); palette.save(out("palette.tiff"), compression="packbits"); rgba.save(out("rgba-lzw.tiff"), compression="tiff_lzw")
rgb.save(out("exif.tiff"), exif=exif); rgb.save(out("big-by-pillow.tiff"), big_tiff=True)
frames[0].save(out("pages.tiff"), save_all=True, append_images=[frames[1].resize((20, 10))], compression="tiff_lzw")
array = numpy.asarray(rgb)
tifffile.imwrite(out("big-endian.tiff"), array, byteorder=">", photometric="rgb", rowsperstrip=8)
tifffile.imwrite(out("tiles.tiff"), array, photometric="rgb", tile=(16, 16), compression="zlib")
tifffile.imwrite(out("big-tiff-tiles.tiff"), array, photometric="rgb", bigtiff=True, tile=(16, 16), compression="zlib")
tifffile.imwrite(out("big-tiff-big-endian.tiff"), array, photometric="rgb", bigtiff=True, byteorder=">", rowsperstrip=4)
tifffile.imwrite(out("planar16.tiff"), numpy.moveaxis(array, -1, 0).astype(numpy.uint16), photometric="rgb", planarconfig="separate", compression="zlib")
tifffile.imwrite(out("float.tiff"), deep.astype(numpy.float32), compression="zlib")
with tifffile.TiffWriter(out("reduced.tiff")) as writer:
    writer.write(array, photometric="rgb", subifds=2, compression="zlib")
    writer.write(array[::2, ::2], photometric="rgb", subfiletype=1, compression="zlib")
    writer.write(array[::4, ::4], photometric="rgb", subfiletype=1, compression="zlib")
magick(tmp("gray.png"), "-define", "tiff:endian=msb", "-compress", "LZW", out("big-endian-lzw.tiff"))

# ICO, CUR
large = picture(64, 64, "RGBA")
large.save(out("several-png.ico"), sizes=[(16, 16), (32, 32), (64, 64)])
large.resize((16, 16)).save(out("several-bmp.ico"), sizes=[(8, 8), (16, 16)], bitmap_format="bmp")
Image.new("RGBA", (256, 256), (10, 20, 30, 255)).save(out("side-256.ico"), sizes=[(16, 16), (256, 256)])
magick(tmp("rgb.png"), "-crop", "20x12+0+0", "+repage", "-colors", "4", out("magick-not-square.ico"))
magick(tmp("rgb.png"), "-crop", "16x16+0+0", "+repage", "-colors", "4", tmp("one.ico"))
cursor = bytearray(open(tmp("one.ico"), "rb").read()); cursor[2], cursor[10], cursor[12] = 2, 3, 4
open(out("cursor.cur"), "wb").write(cursor)

# SVG: there is no encoder, these are what editors and people write.
body = '<rect width="10" height="10" fill="#c33"/><g><path d="M0 0L5 5"/><!-- a > b --><text>a &lt; b</text></g>'
ns = 'xmlns="http://www.w3.org/2000/svg"'
svg = {
    "plain": f'<svg {ns} width="23" height="17">{body}</svg>\n',
    "declaration": f'<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<!-- Made by <b>hand</b> -->\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">\n<svg {ns}\n   width="23px"\n   height="17px"\n   viewBox="0 0 46 34">{body}</svg>\n',
    "prefix": '<?xml version="1.0"?><s:svg xmlns:s="http://www.w3.org/2000/svg" width="23" height="17"><s:rect width="3" height="3"/></s:svg>',
    "subset": f'<!DOCTYPE svg [ <!ENTITY a "<g/>"> <!ENTITY gt ">"> <!-- it\'s ]> --> <!ATTLIST g id CDATA "]>"> ]>\n<svg {ns} width="23" height="17">&a;{body}</svg>',
    "millimetres": f'<svg {ns} width="10mm" height="5.5mm" viewBox="0 0 10 5.5">{body}</svg>',
    "points": f'<svg {ns} width="30pt" height="1.5e1pt" viewBox="0 0 30 15">{body}</svg>',
    "view-box": f'<svg {ns} viewBox="0,0 48.4,32.6">{body}</svg>',
    "width-and-view-box": f'<svg {ns} width="100" viewBox="0 0 40 20">{body}</svg>',
    "empty": f'<svg {ns} width="23" height="17"/>',
    "style": f'<svg {ns} width="23" height="17"><style><![CDATA[ g > path {{ fill: red }} </svg> ]]></style><?target </svg> ?><a title="&lt;/svg> > /"></a ><g id=\'x/\'></g>{body}</svg >',
    "bom": f'\ufeff<svg {ns} width="23" height="17">{body}</svg>',
}
for name, text in svg.items(): open(out(name + ".svg"), "wb").write(text.encode())
wide = f'<?xml version="1.0" encoding="UTF-16"?><svg {ns} width="23" height="17"><title>été ☃ 㰼</title>{body}</svg>'
open(out("utf16-little.svg"), "wb").write(b"\xff\xfe" + wide.encode("utf-16-le")); open(out("utf16-big.svg"), "wb").write(b"\xfe\xff" + wide.encode("utf-16-be"))
open(out("without-size.svg"), "wb").write(f'<svg {ns}>{body}</svg>'.encode())
run("rsvg-convert", "-f", "svg", out("plain.svg"), "-o", out("by-cairo.svg"))


def size(name):
    if name == "without-size.svg": return "-", "-"
    if name.endswith(".svg"):
        run("rsvg-convert", out(name), "-o", tmp("drawn.png"))
        return Image.open(tmp("drawn.png")).size
    # Pillow does not read this one.
    if name == "big-tiff-big-endian.tiff": return tifffile.imread(out(name)).shape[1::-1]
    with Image.open(out(name)) as image: return image.size


with open(out("sizes.tsv"), "w") as table:
    for name in sorted(os.listdir(here)):
        if name.split(".")[-1] not in ("py", "md", "tsv"):
            table.write("%s\t%s\t%s\n" % (name, *size(name)))

"""Compares the sizes of pictures that gannet-thumbnail makes with those of img2dataset's resizer.

  compare.py SIZES PROGRAM [PICTURES [SEED]]     SIZES is PictureSizes, PROGRAM is gannet-thumbnail

Each picture goes through all five modes. Sizes, the sizes of the originals and reasons have to be equal. The only difference that is permitted is a
picture beyond the bounds of gannet-thumbnail, which img2dataset makes. Ends with 1 after any other difference.
"""

import collections
import importlib.util
import io
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings

os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"
warnings.simplefilter("ignore")

import cv2  # noqa: E402
import numpy  # noqa: E402

MODES = ["no", "border", "keep_ratio", "keep_ratio_largest", "center_crop"]
FORMATS = ["jpg", "png", "webp"]
KINDS = ["jpg", "jpg", "grey.jpg", "turned.jpg", "png", "grey.png", "alpha.png", "webp", "alpha.webp"]
# For the sake of img2dataset's memory, and of the time.
MOST_PIXELS = 20_000_000
# The bounds of gannet-thumbnail.
LONGEST = {"jpg": 65_500, "png": 65_535, "webp": 16_383}
REASONS = {"image too small": "picture-too-small", "aspect ratio too large": "picture-too-long"}


def resizer_class():
    """The module alone: its package imports much that resizing does not need."""
    package = importlib.util.find_spec("img2dataset")
    file = pathlib.Path(package.origin).parent / "resizer.py"
    spec = importlib.util.spec_from_file_location("resizer", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Resizer


def side(draw):
    """Small and large sides are equally likely."""
    return draw.choice([1, 2, 3, 4000]) if draw.random() < 0.1 else min(4000, int(2 ** draw.uniform(0, 12)))


def turned(jpeg, orientation):
    entry = b"\x01\x12\0\x03\0\0\0\x01\0" + bytes([orientation]) + b"\0\0\0\0\0\0"
    exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01" + entry
    return jpeg[:2] + b"\xff\xe1" + (len(exif) + 2).to_bytes(2, "big") + exif + jpeg[2:]


def picture(draw, width, height, kind):
    channels = 1 if kind.startswith("grey") else 4 if kind.startswith("alpha") else 3
    row = numpy.arange(width, dtype=numpy.uint32)[None, :, None] * draw.randint(1, 9)
    column = numpy.arange(height, dtype=numpy.uint32)[:, None, None] * draw.randint(1, 9)
    pixels = ((row + column + numpy.arange(channels, dtype=numpy.uint32)[None, None, :] * 40) % 256).astype(numpy.uint8)
    encoded = cv2.imencode("." + kind.split(".")[-1], pixels)[1].tobytes()
    return turned(encoded, draw.randint(1, 8)) if kind.startswith("turned") else encoded


def case(draw, width, height, mode):
    wanted = side(draw) if draw.random() < 0.5 else draw.choice([64, 224, 256, 512])
    # The picture that img2dataset computes has to fit into memory.
    while mode != "no" and wanted > 1 and pixels_computed(width, height, mode, wanted) > MOST_PIXELS:
        wanted //= 2
    least = draw.choice([2, 10, 100]) if draw.random() < 0.15 else 0
    aspect = draw.choice([1500, 3000, 20_000]) if draw.random() < 0.15 else 0
    return mode, wanted, draw.random() < 0.3, draw.choice(FORMATS), least, aspect


def pixels_computed(width, height, mode, wanted):
    if mode in ("border", "keep_ratio_largest"):
        return wanted * wanted
    factor = wanted / min(width, height)
    return width * factor * height * factor


def theirs(make, content, mode, wanted, stay, format, least, aspect):
    resizer = make(
        wanted, mode, stay, encode_quality=1 if format == "png" else 90, encode_format=format, min_image_size=least,
        max_aspect_ratio=aspect / 1000 if aspect else float("inf"))  # fmt: skip
    made, width, height, original_width, original_height, error = resizer(io.BytesIO(content))
    if error is not None:
        return (REASONS.get(error, error),)
    return width, height, original_width, original_height, {"jpg": "jpeg"}.get(format, format)


def main():
    helper, program = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 600
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else random.SystemRandom().randrange(2**32)
    print(f"pictures: {count} in {len(MODES)} modes, seed {seed}", flush=True)
    draw = random.Random(seed)
    make = resizer_class()
    expected = []
    with tempfile.TemporaryDirectory() as folder:
        lines = []
        for number in range(count):
            width, height = side(draw), side(draw)
            kind = draw.choice(KINDS)
            content = picture(draw, width, height, kind)
            file = pathlib.Path(folder) / f"{number}"
            file.write_bytes(content)
            for mode in MODES:
                one = case(draw, width, height, mode)
                mode, wanted, stay, format, least, aspect = one
                expected.append((width, height, kind, one, theirs(make, content, *one)))
                lines.append(f"{file} {mode} {wanted} {'stay' if stay else 'enlarge'} {format} {least} {aspect}")
        answer = subprocess.run([helper, "pictures", program], input="\n".join(lines) + "\n", capture_output=True, text=True)
        if answer.returncode != 0:
            sys.exit(f"{sizes} ended with {answer.returncode}: {answer.stdout[-300:]}{answer.stderr[-300:]}")
        answers = answer.stdout.splitlines()
    if len(answers) != len(expected):
        sys.exit(f"{len(answers)} answers to {len(expected)} questions")
    counted, problems = collections.Counter(), []
    for (width, height, kind, one, their), line in zip(expected, answers):
        words = line.split()
        our = tuple([int(word) for word in words[:4]] + words[4:]) if words[0].isdigit() else (words[0],)
        mode, wanted, _, format, _, _ = one
        if our == their:
            counted[f"{mode}: equal" if len(our) > 1 else f"{mode}: refused for the same reason"] += 1
        elif our == ("picture-too-large",) and (len(their) == 1 or max(their[:2]) > LONGEST[format]):
            counted[f"{mode}: beyond the bounds"] += 1
        else:
            problems.append(f"{kind} {width} x {height}, {one}: img2dataset {their}, gannet-thumbnail {line}")
    for name in sorted(counted):
        print(f"  {name}: {counted[name]}")
    print(f"  {sum(counted.values())} of {len(expected)} as they should be")
    for problem in problems[:20]:
        print(problem)
    if problems:
        sys.exit(f"{len(problems)} differences; the same pictures again: Scripts/check pictures {count} {seed}")


main()

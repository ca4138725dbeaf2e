"""Writes two_characters.ttf, a font of two characters that the embedded font lacks: 中 is a square, 文 a triangle.

Usage: make_font.py FILE (needs fonttools)
"""

import sys

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen


def shape(points):
    pen = TTGlyphPen(None)
    pen.moveTo(points[0])
    for point in points[1:]:
        pen.lineTo(point)
    pen.closePath()
    return pen.glyph()


font = FontBuilder(1000, isTTF=True)
shapes = {
    ".notdef": shape([(0, 0), (0, 700), (700, 700), (700, 0)]),
    "square": shape([(0, 0), (0, 800), (800, 800), (800, 0)]),
    "triangle": shape([(0, 0), (500, 800), (1000, 0)]),
}
font.setupGlyphOrder(list(shapes))
font.setupCharacterMap({ord("中"): "square", ord("文"): "triangle"})
font.setupGlyf(shapes)
font.setupHorizontalMetrics({name: (1000, 0) for name in shapes})
font.setupHorizontalHeader(ascent=800, descent=-200)
font.setupNameTable({"familyName": "Two Characters", "styleName": "Regular"})
font.setupOS2(sTypoAscender=800, usWinAscent=800, usWinDescent=200)
font.setupPost()
font.font["head"].created = font.font["head"].modified = 0
font.save(sys.argv[1])

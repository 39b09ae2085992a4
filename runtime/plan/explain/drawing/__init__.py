"""The merged template as a picture, laid out and written by hand: nothing needs to be installed.

Layers from left to right (Sugiyama's method): `sketch` says what to draw, `layers` gives every
type its column and cuts long arrows into pieces, `order` untangles, `place` finds heights,
`svg` writes. Every arrow has a piece that is as high as its label, so labels never overlap.
"""

from runtime.plan.explain.drawing.svg import as_svg

__all__ = ["as_svg"]

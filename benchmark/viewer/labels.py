"""Names beside points, as far as they have room: a name on another name reads as neither."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

# Of a picture in a file, in pixels; the page draws at least as wide, or no names at all.
_WIDTH, _HEIGHT, _PAD = 640.0, 420.0, 60.0
_LETTER, _LINE, _MOST = 6.2, 14.0, 320.0
# How far a name stands above its point, and how large that is.
_ABOVE, _RADIUS = 13.0, 6.0


@dataclass(frozen=True)
class Spot:
    """A point that wants a name.

    Attributes:
        seconds: along a logarithmic axis; more than 0.
        core: quality core, 0 to 100, along the other axis.
        first: it has a name before others have one.

    """

    label: str
    seconds: float
    core: float
    first: bool


@dataclass(frozen=True)
class _Box:
    left: float
    right: float
    low: float
    high: float

    def meets(self, other: _Box) -> bool:
        return self.left < other.right and other.left < self.right and self.low < other.high and other.low < self.high


def names_with_room(spots: Sequence[Spot], lines: Sequence[tuple[str, float]] = ()) -> list[str]:
    """Return the text above each point: its name, with the number of points that it hides; empty where it has no room.

    Args:
        spots: of one picture.
        lines: name and height, 0 to 100, of lines across it; their names stand at its left edge.

    """
    centers = _centers(spots)
    dots = [_Box(x - _RADIUS, x + _RADIUS, y - _RADIUS, y + _RADIUS) for x, y in centers]
    taken = [_above(0.0, len(text) * _LETTER, height * _HEIGHT / 100 + _LINE / 2) for text, height in lines]
    names = [""] * len(spots)
    hidden: set[int] = set()
    for place in sorted(range(len(spots)), key=lambda n: (not spots[n].first, -spots[n].core, spots[n].label)):
        if place in hidden:
            continue
        x, y = centers[place]
        same = [n for n in range(len(spots)) if n != place and not names[n] and math.dist(centers[n], (x, y)) < _RADIUS]
        text = spots[place].label + (f" +{len(same)}" if same else "")
        half = min(len(text) * _LETTER, _MOST) / 2
        box = _above(x - half, x + half, y + _ABOVE)
        others = [dot for n, dot in enumerate(dots) if n != place and n not in same]
        if not any(box.meets(other) for other in (*taken, *others)):
            names[place] = text
            taken.append(box)
            hidden.update(same)
    return names


def _above(left: float, right: float, middle: float) -> _Box:
    return _Box(left, right, middle - _LINE / 2, middle + _LINE / 2)


def _centers(spots: Sequence[Spot]) -> list[tuple[float, float]]:
    logs = [math.log(spot.seconds) for spot in spots]
    low, high = min(logs, default=0.0), max(logs, default=0.0)
    scale = (_WIDTH - 2 * _PAD) / (high - low) if high > low else 0.0
    return [
        (_PAD + scale * (log - low) if scale else _WIDTH / 2, spot.core * _HEIGHT / 100)
        for log, spot in zip(logs, spots, strict=True)
    ]

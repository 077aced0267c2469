"""How the pictures of the suite look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from polhode.display.plot import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

MARKERS = "osD^vPX*<>hp"
LINES = ("-", "--", ":", "-.")


def figure(columns: int = 1, width: float = 8.0, height: float = 5.5) -> tuple[Figure, list[Axes]]:
    """A figure with axes in a row, in letters that are legible at half its size."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"font.size": 16}):
        made = Figure(figsize=(width * columns, height), layout="constrained")
        axes = [made.add_subplot(1, columns, i + 1) for i in range(columns)]
        for one in axes:
            one.set_title(" ")
    for one in axes:
        one.grid(visible=True, which="major", color="#dddddd", linewidth=0.8)
        one.set_axisbelow(True)
        for side in ("top", "right"):
            one.spines[side].set_visible(False)
    return made, axes


def logarithmic(axis: Axis, low: float, high: float) -> None:
    """Ticks with plain numbers: powers of ten, and 2 and 5 times these over a short range."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if low <= 0:
        return  # There is no curve, and the axis is linear.
    short = high < 50 * low
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if short else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def remark(made: Figure, text: str) -> None:
    """Write a remark at the top left of a figure, above everything else."""
    if text:
        rect = (0, 0, 1, 1 - 0.3 / made.get_figheight())
        made.set_layout_engine("constrained", rect=rect)
        top = 1 - 0.05 / made.get_figheight()
        made.text(0.01, top, text, va="top", fontsize=12, color="#a33000")


def style(index: int) -> dict[str, Any]:
    """Colour, marker and line of a curve."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": LINES[(index // len(COLOURS)) % len(LINES)],
        "markersize": 8,
        "linewidth": 2,
    }

"""The look of the pictures: colours of Okabe and Ito, legible at half size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import _drawing
from polhode.display import plot as _plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Those of the suite of benchmarks, which all readers tell apart, black first.
COLOURS = (_plot.COLOURS[-1], *_plot.COLOURS[:-1])
MARKERS = _drawing.MARKERS


def new_figure(width: float = 9.0, height: float = 6.0) -> Figure:
    """An empty figure of the given size in inches; it needs no display."""
    from matplotlib.figure import Figure as NewFigure

    return NewFigure(figsize=(width, height), layout="constrained")


def save(draw: Callable[[], Figure], path: Path, remark: str = "") -> list[Path]:
    """Draw the picture in this style and write it as PNG and as SVG; return their paths.

    Raises
    ------
    ImportError
        If Matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context
    except ImportError as error:
        raise ImportError('pictures need Matplotlib: pip install "polhode[plot]"') from error
    paths = [path.with_suffix(".png"), path.with_suffix(".svg")]
    with rc_context({"svg.hashsalt": "polhode", "savefig.dpi": 110}, _plot.STYLE):
        figure = draw()
        _drawing.remark(figure, remark)
        figure.savefig(paths[0])
        figure.savefig(paths[1], metadata={"Date": None})
    return paths


def plain_logarithm(axis: Any, values: list[float]) -> None:
    """Ticks of a logarithmic axis at the given values, written as plain numbers."""
    axis.set_ticks(values, labels=[f"{x:g}" for x in values])
    axis.set_ticks([], minor=True)

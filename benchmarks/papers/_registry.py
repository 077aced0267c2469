"""The items: published tables and figures, with the published numbers beside those of this run."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module, resources
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, get_args

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: A number, a word or a truth, or bounds of a number.
Value = float | str | bool | tuple[float, float]
Verdict = Literal["matches", "slip explained", "not comparable", "unexplained", "differs"]

#: From the best to the worst.
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

#: The modules with the items: one or more for each paper.
MODULES = (
    "celledoni_zanna", "celledoni_zanna_cost", "gustafsson_listings", "gustafsson",
    "gustafsson_vessel", "vilmart", "buss", "buss_steps", "krysl",
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One published value beside the recomputed one."""

    label: str
    #: A printed value; with `chosen`, a bound that is not in the paper.
    published: Value
    recomputed: Value
    #: Largest difference with which numbers agree: absolute, relative to the published number, or
    #: the largest quotient of the two.
    tolerance: float = 0.0
    kind: Literal["absolute", "relative", "factor"] = "absolute"
    unit: str = ""
    #: For a slip: the value that should have been printed, derived in the run from other published
    #: values or by a formula, without the library's result, ...
    check: Value | None = None
    #: ... or the result of this run with the slip made on purpose, ...
    slipped: Value | None = None
    #: ... or only an earlier result of this library, which explains nothing.
    right: Value | None = None
    #: The slip, or what is known of a difference without a slip.
    explanation: str = ""
    #: Largest absolute difference of the recomputed value from `check` or `right`; by default that
    #: of `tolerance`.
    right_tolerance: float | None = None
    #: The published value as printed, where its digits matter.
    printed: str = ""
    #: Whether `published` is a bound that is chosen here: the paper has no number.
    chosen: bool = False
    #: Whether the two values measure the same quantity.
    comparable: bool = True

    @property
    def should_be(self) -> Value | None:
        """The value that should have been printed, if known."""
        return self.right if self.check is None else self.check

    def agree(self, ours: Value, published: Value, absolute: float | None = None) -> bool:
        """Whether two values agree within the tolerance, or within the given absolute one."""
        if isinstance(published, str | bool) or isinstance(ours, str | bool | tuple):
            return type(ours) is type(published) and ours == published
        if not math.isfinite(ours):
            return False
        low, high = published if isinstance(published, tuple) else (published, published)
        if absolute is not None:
            return low - absolute <= ours <= high + absolute
        if self.kind == "factor":
            return low / self.tolerance <= ours <= high * self.tolerance
        slack = self.tolerance * (1.0 if self.kind == "absolute" else max(abs(low), abs(high)))
        return low - slack <= ours <= high + slack

    @property
    def verdict(self) -> Verdict:
        """The verdict; `docs/reproduction.md` defines the five."""
        if not self.comparable:
            return "not comparable"
        if self.agree(self.recomputed, self.published):
            return "matches"
        near = self.right_tolerance
        if self.check is not None and self.agree(self.recomputed, self.check, near):
            return "slip explained"
        if self.slipped is not None and self.agree(self.slipped, self.published):
            return "slip explained"
        if self.right is not None and self.agree(self.recomputed, self.right, near):
            return "unexplained"
        return "differs"


@dataclass(frozen=True)
class Table:
    """Cells under one heading."""

    title: str
    cells: list[Cell]
    #: Where the tolerances come from.
    tolerance: str = ""


@dataclass(frozen=True)
class Result:
    """The result of a run of an item."""

    tables: list[Table]
    #: Draws the picture, with Matplotlib; None for a table without one.
    figure: Callable[[], Figure] | None = None
    #: Choices that the paper leaves open, and how the item was run.
    notes: list[str] = field(default_factory=list)

    @property
    def cells(self) -> list[Cell]:
        """All cells of all tables."""
        return [cell for table in self.tables for cell in table.cells]

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of the cells."""
        return max((cell.verdict for cell in self.cells), key=VERDICTS.index, default="matches")


@dataclass(frozen=True)
class Run:
    """How to run an item."""

    #: Smaller grids and fewer steps, where that leaves the verdicts what they are.
    quick: bool = False
    #: Threads for the steps of a batch.
    threads: int | None = -1


#: Recomputes an item from the section of the file that holds its published values.
Recompute = Callable[[dict[str, Any], Run], Result]


@dataclass(frozen=True)
class Item:
    """A published table or figure, or claims of a text."""

    #: Such as `gustafsson-table-1`.
    name: str
    #: Its section of `published.toml`: paper, where, place, shows, and the published values.
    published: dict[str, Any]
    run: Recompute
    #: Takes more than a few seconds, so that a list of all items does not run it.
    slow: bool

    @property
    def paper(self) -> str:
        """Author and year."""
        return str(papers()[self.published["paper"]]["name"])

    @property
    def where(self) -> str:
        """Number, and page or section in the paper."""
        return ", ".join(self.published[key] for key in ("where", "place") if key in self.published)

    @property
    def shows(self) -> str:
        """Its content, one line."""
        return str(self.published["shows"])

    def __call__(self, run: Run) -> Result:
        """Recompute it."""
        return self.run(self.published, run)


_ITEMS: dict[str, Item] = {}


@cache
def published() -> dict[str, Any]:
    """All published values, `published.toml`."""
    text = (resources.files(__package__) / "published.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def papers() -> dict[str, dict[str, str]]:
    """Name, reference and left-out parts of each paper."""
    found: dict[str, dict[str, str]] = published()["papers"]
    return found


def item(name: str, *, slow: bool = False) -> Callable[[Recompute], Recompute]:
    """Register the function that recomputes an item, of which [NAME] holds the published values."""

    def register(function: Recompute) -> Recompute:
        _ITEMS[name] = Item(name, published()[name], function, slow)
        return function

    return register


def items() -> dict[str, Item]:
    """All items, in the order of `published.toml`."""
    for module in MODULES:
        import_module(f"{__package__}.{module}")
    return {name: _ITEMS[name] for name in published() if name in _ITEMS}


def last_place(printed: str) -> float:
    """One unit in the last place of a number as it is printed, such as 1.130e-4."""
    digits, _, power = printed.lower().partition("e")
    decimals = len(digits.partition(".")[2])
    return float(10.0 ** (int(power or 0) - decimals))


def printed_cell(
    label: str, printed: str, recomputed: float, *, places: float = 0.5, **others: Any
) -> Cell:
    """Cell of a number as it is printed; `places` is the tolerance in units of its last place."""
    # The rounding of the decimal numbers themselves must not decide.
    tolerance = places * last_place(printed) * (1 + 1e-9)
    return Cell(label, float(printed), recomputed, tolerance, printed=printed, **others)


def bounded(
    label: str,
    recomputed: SupportsFloat,
    low: float = -math.inf,
    high: float = math.inf,
    **others: Any,
) -> Cell:
    """Cell of a number for which the paper prints none; the bounds are chosen here."""
    return Cell(label, (low, high), float(recomputed), chosen=True, **others)


def counts(cells: Iterable[Cell]) -> dict[str, int]:
    """How many cells have each verdict."""
    result: dict[str, int] = dict.fromkeys(VERDICTS, 0)
    for cell in cells:
        result[cell.verdict] += 1
    return result

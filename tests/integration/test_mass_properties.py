"""Mass, centre and inertia of shapes, meshes and points; sums; other points; six components."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from compare import close, same
from numpy.typing import NDArray
from tolerances import EPS

from polhode import RigidBody, so3

Array = NDArray[np.float64]
#: The corners of a box by their bits, and its surface, counterclockwise from outside.
CORNERS = np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)], float)
FACES = np.array(
    [[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4],
     [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6], [1, 3, 5], [3, 7, 5]]
)  # fmt: skip
TETRAHEDRON = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


@pytest.mark.parametrize(
    ("body", "moments"),
    [
        (lambda: RigidBody.from_ellipsoid(5.0, [2.0, 2.0, 2.0]), [8, 8, 8]),
        (lambda: RigidBody.from_ellipsoid(3.0, [2, 2, 2], hollow=1), [8, 8, 8]),
        (lambda: RigidBody.from_ellipsoid(5.0, [1, 2, 3]), [13, 10, 5]),
        (lambda: RigidBody.from_box(12.0, [1, 2, 3]), [13, 10, 5]),
        (lambda: RigidBody.from_box(12.0, [1, 2, 0]), [4, 1, 5]),  # a plate
        (lambda: RigidBody.from_box(12.0, [0, 0, 2]), [4, 4, 0]),  # a rod
        (lambda: RigidBody.from_cylinder(12.0, 0, 2), [4, 4, 0]),  # a rod
        (lambda: RigidBody.from_cylinder(4.0, 2, 0), [4, 4, 8]),  # a disk
        (lambda: RigidBody.from_cylinder(4.0, 2, 0, hollow=1), [8, 8, 16]),  # a ring
        (lambda: RigidBody.from_cylinder(12.0, 2, 3, hollow=1), [33, 33, 48]),  # a thin tube
    ],
)  # fmt: skip
def test_shapes_of_textbooks(body: Any, moments: list[float]) -> None:
    close(body().moments, moments, rtol=4 * EPS)
    assert body().mass in (3.0, 4.0, 5.0, 12.0)


@pytest.mark.parametrize("make", [RigidBody.from_box, RigidBody.from_ellipsoid])
def test_a_cavity_of_the_same_form(make: Any) -> None:
    """The solid body less the cavity, by the volumes; a thin shell is the limit."""
    lengths = np.array([1.0, 2.0, 2.5])
    for k in (0.25, 0.5, 0.875):
        outer, inner = make(1.0, lengths), make(k**3, k * lengths)
        hollow = make(1 - k**3, lengths, hollow=k)
        close(hollow.tensor, outer.tensor - inner.tensor, rtol=16 * EPS)
    thin = make(1.0, lengths, hollow=1.0).moments
    close(make(1.0, lengths, hollow=1 - 1e-9).moments, thin, rtol=2e-9)
    k = 0.5
    tube = RigidBody.from_cylinder(1 - k**2, 2.0, 3.0, hollow=k)
    solid = [RigidBody.from_cylinder(r * r, 2.0 * r, 3.0).moments for r in (1.0, k)]
    close(tube.moments, solid[0] - solid[1], rtol=16 * EPS)


def exact_mesh(vertices: Array, faces: NDArray[np.int64]) -> tuple[Fraction, list[Any], list[Any]]:
    """Volume, centre and J of a closed mesh, in fractions, by integrals over tetrahedra.

    Of the monomials of barycentric coordinates: x y over a tetrahedron of volume V is V/20 for two
    corners and V/10 for one.
    """
    points = [[Fraction(float(x)) for x in v] for v in vertices]
    volume, first = Fraction(0), [Fraction(0)] * 3
    second = [[Fraction(0)] * 3 for _ in range(3)]
    for face in faces:
        a, b, c = (points[i] for i in face)
        V = (
            a[0] * (b[1] * c[2] - b[2] * c[1])
            + a[1] * (b[2] * c[0] - b[0] * c[2])
            + a[2] * (b[0] * c[1] - b[1] * c[0])
        ) / 6
        volume += V
        for k in range(3):
            first[k] += V / 4 * (a[k] + b[k] + c[k])
            for n in range(3):
                for i, p in enumerate((a, b, c)):
                    for j, q in enumerate((a, b, c)):
                        second[k][n] += (
                            V * (Fraction(1, 10) if i == j else Fraction(1, 20)) * (p[k] * q[n])
                        )
    centre = [x / volume for x in first]
    J = [[second[k][n] - volume * centre[k] * centre[n] for n in range(3)] for k in range(3)]
    return volume, centre, J


def check_mesh(body: RigidBody, vertices: Array, faces: Any, density: float, unit: float) -> None:
    volume, centre, J = exact_mesh(vertices, faces)
    sign = 1 if volume > 0 else -1
    J = [[sign * x for x in row] for row in J]
    trace = J[0][0] + J[1][1] + J[2][2]
    exact = [[(trace if i == j else 0) - J[i][j] for j in range(3)] for i in range(3)]
    tensor = density * np.array(exact, float)
    close(body.mass, density * abs(float(volume)), rtol=unit)
    close(body.centre, np.array(centre, float), atol=unit * np.abs(vertices).max())
    close(body.tensor, tensor, atol=unit * np.abs(tensor).max())


@pytest.mark.parametrize("scale", [1.0, 1e-20, 1e30])
@pytest.mark.parametrize("inside_out", [False, True])
def test_meshes_in_fractions(scale: float, inside_out: bool) -> None:
    rng = np.random.default_rng(6)
    for faces, count in ((TETRAHEDRON, 4), (FACES, 8)):
        vertices = scale * (CORNERS[:count] + 0.1 * rng.standard_normal((count, 3)))
        if count == 4:
            vertices = scale * rng.standard_normal((4, 3))
        given = faces[:, ::-1] if inside_out else faces
        body = RigidBody.from_mesh(vertices, given, 3.0)
        check_mesh(body, vertices, given, 3.0, 32 * EPS)
    # Far from the origin: the rounding of the given positions alone.
    vertices = CORNERS + 0.1 * rng.standard_normal((8, 3)) + [1e6, -2e6, 3e6]
    check_mesh(RigidBody.from_mesh(vertices, FACES, 2.0), vertices, FACES, 2.0, 64 * EPS)


def test_a_mesh_of_a_box() -> None:
    sides = np.array([1.0, 2.0, 3.0])
    turn = so3.exp([0.3, -0.2, 0.5])
    body = RigidBody.from_mesh(so3.rotate(turn, CORNERS * sides), FACES, 2.0)
    box = RigidBody.from_box(12.0, sides, centre=so3.rotate(turn, sides / 2), axes=turn)
    close(body.tensor, box.tensor, atol=32 * EPS * box.moments.max())
    close(body.centre, box.centre, atol=8 * EPS)
    close(body.mass, box.mass, rtol=8 * EPS)
    # As an STL file has it: each triangle with its own vertices.
    soup = RigidBody.from_mesh(
        (CORNERS * sides)[FACES].reshape(-1, 3), np.arange(36).reshape(12, 3)
    )
    close(soup.tensor, RigidBody.from_box(6.0, sides).tensor, atol=32 * EPS * 6)
    many = RigidBody.from_mesh(CORNERS * [[[1.0]], [[2.0]]] * sides, FACES, [[1.0], [5.0]])
    assert many.shape == many.mass.shape == (2, 2)
    close(many.mass, [[6, 48], [30, 240]], rtol=8 * EPS)
    close(many.tensor[1, 1], RigidBody.from_box(240.0, 2 * sides).tensor, atol=1e-12)


def test_a_shell_of_plates() -> None:
    """The surface of a box is six plates; without its lid, five."""
    sides = np.array([1.0, 2.0, 3.0])
    plates = []
    for k in range(3):
        flat = np.where(np.arange(3) == k, 0.0, sides)
        for end in (0.0, 1.0):
            centre = np.where(np.arange(3) == k, end * sides, sides / 2)
            plates.append(RigidBody.from_box(0.5 * np.prod(flat[flat > 0]), flat, centre=centre))
    shell = RigidBody.from_mesh(CORNERS * sides, FACES, 0.5, shell=True)
    whole = sum(plates)
    close(shell.tensor, whole.tensor, atol=16 * EPS * 40)
    close(shell.mass, 11.0, rtol=4 * EPS)
    close(shell.centre, sides / 2, atol=4 * EPS)
    order = [*range(4), *range(8, 12), *range(4, 6), *range(6, 8)]
    del plates[3], order[-2:]  # the plate at y = 2, faces 6 and 7
    open_ = RigidBody.from_mesh(CORNERS * sides, FACES[order], 0.5, shell=True)
    close(open_.tensor, sum(plates).tensor, atol=16 * EPS * 40)
    close(open_.centre, sum(plates).centre, atol=8 * EPS)


def test_sums_are_the_whole() -> None:
    rng = np.random.default_rng(1)
    mass, r = rng.uniform(1, 2, (4, 9)), rng.standard_normal((4, 9, 3))
    whole = RigidBody.from_points(mass, r)
    parts = [RigidBody.from_points(mass[:, k : k + 3], r[:, k : k + 3]) for k in (0, 3, 6)]
    for total in (sum(parts), parts[2] + (parts[0] + parts[1].about([1.0, 2.0, 3.0]))):
        assert isinstance(total, RigidBody)
        close(total.tensor, whole.tensor, atol=32 * EPS * whole.moments.max())
        close(total.mass, mass.sum(axis=-1), rtol=4 * EPS)
        close(total.centre, whole.centre, atol=8 * EPS)
    weighted = (mass[..., None] * r).sum(axis=-2) / mass.sum(axis=-1)[:, None]
    close(whole.centre, weighted, atol=8 * EPS)
    halves = [RigidBody.from_box(6.0, [1, 2, 1.5], centre=[0, 0, z]) for z in (-0.75, 0.75)]
    close(sum(halves).tensor, RigidBody.from_box(12.0, [1, 2, 3]).tensor, atol=64 * EPS)
    with pytest.raises(TypeError):
        halves[0] + 1
    with pytest.raises(TypeError):
        halves[0] + "x"


def test_a_point_is_a_part() -> None:
    rng = np.random.default_rng(3)
    mass, r = rng.uniform(0.1, 1, 5), rng.standard_normal((5, 3))
    mass[0], r[0] = 0.3, [0.1, 0.2, 0.3]  # whose products are rounded
    points = [RigidBody.from_points(m, [x]) for m, x in zip(mass, r, strict=True)]
    for point, x in zip(points, r, strict=True):
        same(point.tensor, np.zeros((3, 3)))
        same(point.centre, x)
    whole = RigidBody.from_points(mass, r)
    close(sum(points[2:], points[0] + points[1]).tensor, whole.tensor, atol=32 * EPS * 5)
    rod = points[0].about(r[0] + [0.0, 0.0, 2.0])
    close(rod.tensor, np.diag([1.2, 1.2, 0.0]), atol=8 * EPS)
    # A probe on a box, and a batch in which only one body is a point.
    box = RigidBody.from_box(12.0, [1.0, 2.0, 3.0])
    probe = RigidBody.from_points(0.5, [[0.0, 0.0, 4.0]])
    reduced = 12.0 * 0.5 / 12.5 * 16.0
    close((box + probe).tensor, box.tensor + np.diag([reduced, reduced, 0]), atol=64 * EPS)
    pair = RigidBody.from_points([[1.0, 0.0], [1.0, 1.0]], [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    same(pair.moments, [[0.0, 0.0, 0.0], [2.0, 2.0, 0.0]])
    same(pair.centre[0], [0.0, 0.0, 1.0])
    twice = RigidBody.from_points([1.0, 2.0, 0.0], [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [9, 9, 9]])
    same(twice.centre, [1.0, 2.0, 3.0])
    for call in (
        lambda: probe.step([0, 0, 0], [1, 0, 0, 0], 0.1),
        lambda: probe.motion([0, 0, 0], [1, 0, 0, 0]),
        lambda: probe.integrate([0, 0, 0], [1, 0, 0, 0], 0.1, 2),
        lambda: probe + probe,
    ):
        with pytest.raises(ValueError, match="moments"):
            call()


def test_about_another_point() -> None:
    rng = np.random.default_rng(2)
    mass, r, point = rng.uniform(1, 2, 6), rng.standard_normal((6, 3)), [0.3, -2.0, 0.7]
    body = RigidBody.from_points(mass, r)
    arms = r - point
    exact = np.einsum("n,ni,ni->", mass, arms, arms) * np.eye(3) - np.einsum(
        "n,ni,nj->ij", mass, arms, arms
    )
    for moved in (body.about(point), RigidBody.from_points(mass, r, about=point)):
        close(moved.tensor, exact, atol=16 * EPS * np.abs(exact).max())
        same(moved.centre, body.centre)
        same(moved.about(body.centre).tensor, body.tensor)  # from the centre, with no differences
        close((moved + moved).tensor, 2 * body.tensor, atol=8 * EPS * body.moments.max())
    unknown = RigidBody(body.tensor, centre=body.centre)
    close(unknown.about(point, mass=mass.sum()).tensor, exact, atol=16 * EPS * exact.max())
    many = body.about(rng.standard_normal((5, 3)))
    assert many.shape == many.mass.shape == (5,)
    # A physical pendulum: a rod on its end, m L^2/3.
    rod = RigidBody.from_cylinder(3.0, 0.0, 2.0).about([0.0, 0.0, -1.0])
    close(rod.moments, [4.0, 4.0, 0.0], atol=4 * EPS)


ORDERS = {
    "LAMMPS, MuJoCo": "xx yy zz xy xz yz", "URDF": "xx xy xz yy yz zz", "Voigt": "xx yy zz yz xz xy"
}  # fmt: skip


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_six_components(order: str) -> None:
    tensor = np.array([[[4.5, -1.0, 0.3], [-1.0, 6.0, 0.2], [0.3, 0.2, 3.5]], np.diag([1, 2, 3.0])])
    index = [("xyz".index(a), "xyz".index(b)) for a, b in order.split()]
    six = np.stack([tensor[..., i, j] for i, j in index], axis=-1)
    same(RigidBody.from_components(six, order).tensor, tensor)
    swapped = " ".join(name[::-1] for name in order.split())
    same(RigidBody.from_components(six, swapped).tensor, tensor)
    cad = six * [1.0 if i == j else -1.0 for i, j in index]
    same(RigidBody.from_components(cad, order, products="positive").tensor, tensor)
    flat = RigidBody.from_components([1, 2, 3.1, 0, 0, 0], "xx yy zz xy xz yz", physical=False)
    same(flat.moments, np.array([1, 2, 3.1]))


def test_mass_and_centre_stay() -> None:
    body = RigidBody([np.eye(3), 2 * np.eye(3)], mass=[1.0, 2.0], centre=[0.0, 0.0, 1.0])
    moved = body.about([0.0, 1.0, 1.0])
    for other in (copy.deepcopy(moved), pickle.loads(pickle.dumps(moved))):
        same(other.mass, moved.mass)
        same(other.centre, moved.centre)
        same(other.about([0.0, 0.0, 1.0]).tensor, body.tensor)
    same(body.centre, np.array([[0.0, 0, 1], [0.0, 0, 1]]))
    plain = RigidBody(np.eye(3))
    assert plain.mass is None
    same(plain.centre, np.zeros(3))
    assert isinstance(RigidBody.from_box(2.0, [1, 1, 1]).mass, float)
    m, _ = moved.step([0.1, 0.2, 0.3], [1.0, 0, 0, 0], 0.5)
    same(m, RigidBody(moved.tensor).step([0.1, 0.2, 0.3], [1.0, 0, 0, 0], 0.5)[0])


def test_refused() -> None:
    box = RigidBody.from_box
    with pytest.raises(ValueError, match=r"mass\[1\] = 0.0: not positive"):
        box([1.0, 0.0], [1, 1, 1])
    with pytest.raises(ValueError, match=r"sides.*-1.0.*not a length"):
        box(1.0, [1, -1, 1])
    with pytest.raises(ValueError, match=r"hollow = 1.5: not from 0 to 1"):
        box(1.0, [1, 1, 1], hollow=1.5)
    with pytest.raises(ValueError, match="all moments"):
        box(1.0, [0, 0, 0])
    with pytest.raises(ValueError, match=r"radius = nan: not a length"):
        RigidBody.from_cylinder(1.0, np.nan, 1.0)
    with pytest.raises(ValueError, match="the mass is not known: give mass="):
        RigidBody(np.eye(3)).about([1, 0, 0])
    with pytest.raises(ValueError, match="for more bodies"):
        RigidBody(np.eye(3), mass=[1.0, 2.0])
    with pytest.raises(ValueError, match=r"centre.*inf.*not finite"):
        RigidBody(np.eye(3), centre=[np.inf, 0, 0])
    with pytest.raises(ValueError, match="order must name xx, yy, zz, xy, xz and yz once each"):
        RigidBody.from_components([1, 1, 1, 0, 0, 0], "xx yy zz xy xz xz")
    with pytest.raises(ValueError, match="products must be 'negative' or 'positive', not 'cad'"):
        RigidBody.from_components([1, 1, 1, 0, 0, 0], "xx yy zz xy xz yz", products="cad")
    mesh = RigidBody.from_mesh
    with pytest.raises(ValueError, match=r"not closed.*from vertex \d to vertex \d"):
        mesh(CORNERS, FACES[1:])
    flipped = FACES.copy()
    flipped[3] = flipped[3, ::-1]
    with pytest.raises(ValueError, match="not closed, or its triangles are not oriented alike"):
        mesh(CORNERS, flipped)
    with pytest.raises(ValueError, match=r"faces\[0\] = \[0, 2, 8\]: there are 8 vertices"):
        mesh(CORNERS, [[0, 2, 8]])
    with pytest.raises(TypeError, match="faces must be indices, not float64"):
        mesh(CORNERS, FACES * 1.0)
    with pytest.raises(ValueError, match=r"faces must have shape \(F, 3\)"):
        mesh(CORNERS, FACES[0])
    with pytest.raises(ValueError, match=r"vertices\[2\] = .*not finite"):
        mesh([[0, 0, 0], [1, 0, 0], [0, np.nan, 0]], [[0, 1, 2]])
    with pytest.raises(ValueError, match="no volume"):
        mesh(CORNERS * [1.0, 1.0, 0.0], FACES)
    with pytest.raises(ValueError, match="density = -1"):
        mesh(CORNERS, FACES, -1.0)

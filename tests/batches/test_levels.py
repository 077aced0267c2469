"""All methods at all levels that the processor has and that fuse multiply-adds: the same bits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from compare import same

import polhode as ph

FUSED = [level for level in ph.build_info()["isa_supported"] if level != "v2"]

# Bodies of all kinds, steps of a quarter radian and of several turns; every method and the closed
# form; the elliptic functions.  NaN where a method does not converge.
PROBE = """
import sys, warnings
import numpy as np
import polhode as ph
warnings.simplefilter("ignore", RuntimeWarning)
rng = np.random.default_rng(1)
n = 300
inertia = rng.uniform(0.4, 2.0, (n, 3))
inertia[::7, 1] = inertia[::7, 0]
m, q = rng.standard_normal((n, 3)), rng.standard_normal((n, 4))
m[::11, :2] *= 1e-9
ends = {}
for h in (0.1, -0.7, 9.0):
    t = h * rng.uniform(0.5, 1.0, n)
    for method in ph.methods():
        steps = max(1, method.history)
        ends[f"{method.name} {h}"] = np.concatenate(
            ph.step(inertia, m, q, t, method=method.name, n_steps=steps), axis=1
        )
    motion = ph.TorqueFreeMotion(inertia, m, q)
    ends[f"TorqueFreeMotion {h}"] = np.concatenate(motion(40 * t), axis=1)
for name, inputs in {"rf": 3, "rc": 2, "rd": 3, "rj": 4, "agm": 2, "jacobi": 2, "ellip_f": 2,
                     "ellip_k": 1, "ellip_pi": 3, "ellip_pi_complete": 2}.items():
    x = rng.choice([1.0, 1.0, -1.0], (inputs, n)) * 10 ** rng.uniform(-3, 1.5, (inputs, n))
    ends[name] = np.array(getattr(ph.elliptic, name)(*x))
np.savez(sys.argv[1], **ends)
"""


@pytest.mark.skipif(len(FUSED) < 2, reason="one level with fused multiply-add")
def test_all_methods_agree_bit_for_bit(tmp_path: Path) -> None:
    ends = {}
    for level in FUSED:
        file = tmp_path / f"{level}.npz"
        done = subprocess.run(
            [sys.executable, "-c", PROBE, str(file)],
            env={**os.environ, "POLHODE_ISA": level},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        ends[level] = np.load(file)
    first = ends[FUSED[0]]
    assert len(first.files) == 3 * (len(ph.methods()) + 1) + 10
    for level in FUSED[1:]:
        for name in first.files:
            same(ends[level][name], first[name])

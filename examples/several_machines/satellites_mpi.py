"""The parts of `satellites.py` by the processes of MPI (mpi4py).

    mpirun -n 4 python satellites_mpi.py FOLDER PARTS

Each process integrates every fourth part. With several parts per process, little is lost if the job
is killed: the same command, with any number of processes, goes on with the parts as they are.
"""

import sys

import satellites
from mpi4py import MPI

folder, parts = sys.argv[1], int(sys.argv[2])
world = MPI.COMM_WORLD
worst = 0.0
for part in range(world.rank, parts, world.size):
    worst = max(worst, satellites.drift(satellites.integrate(folder, part, parts)))
worst = world.reduce(worst, op=MPI.MAX)
if world.rank == 0:
    print(f"{parts} parts by {world.size} processes, drift {worst:.1e}")

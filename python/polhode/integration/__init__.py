"""One integration: arguments, state, loop, torques in Python, trajectory."""

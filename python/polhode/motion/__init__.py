"""Free motion in closed form: at any times, from published periods, and its passages of a level."""

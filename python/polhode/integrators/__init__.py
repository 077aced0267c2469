"""The methods, their options, the splitting schemes, Runge-Kutta tableaus and operation counts."""

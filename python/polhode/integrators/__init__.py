"""What a run chooses from: methods and options, splittings, tableaus; their operation counts."""

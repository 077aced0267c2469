"""The cases of the suite that need no other program; each module registers some."""

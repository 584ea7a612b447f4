"""Runner: from a command line to files on disk."""

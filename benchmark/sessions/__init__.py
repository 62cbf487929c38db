"""The sessions that ship with the benchmark: recorded step by step, with what git says of the files at each."""

"""Whether a data policy helps, judged by a contract that is fixed before the runs are read."""

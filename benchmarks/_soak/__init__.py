"""The parts of `hamlet bench soak`: the job, its processes, and whether their memory grows."""

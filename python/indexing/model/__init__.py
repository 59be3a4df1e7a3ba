"""The model of time: what a kernel moves and computes, and how long a device takes for it."""

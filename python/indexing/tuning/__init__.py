"""The search for fast plans of a kernel: proposals, measurements, and the calibration of devices."""

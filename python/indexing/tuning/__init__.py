"""The search for fast plans of a kernel: predictions of many plans, measurements, and models of devices."""

"""Which plan of a kernel is fast: predictions of many plans, searches by measurement, and what they ask of a device."""

"""Pictures of computations."""

"""Planning of programs: which instructions share a kernel, by predicted cost."""

"""What maps are for: how much of its operands an instruction uses."""

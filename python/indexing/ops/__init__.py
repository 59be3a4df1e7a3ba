"""One op for each opcode: output-to-input and input-to-output formulas, numpy reference, element code, traits."""

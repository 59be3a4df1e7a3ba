"""Library calls (custom-call), translated to the HLO that they compute."""

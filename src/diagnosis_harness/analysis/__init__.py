"""Pure statistics: arrays in, findings out; no input or output."""

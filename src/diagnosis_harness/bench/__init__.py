"""Evaluation: public data sets and simulated worlds through the whole path, scored when all have ended."""

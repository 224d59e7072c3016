"""Delivery of queued runs: within one process, or by DBOS across processes."""

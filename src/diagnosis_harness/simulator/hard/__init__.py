"""Hard kinds of incidents, composed from one table: faults, circumstances and recordings."""

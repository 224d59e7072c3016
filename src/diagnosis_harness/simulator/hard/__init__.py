"""Hard kinds of incidents: faults, their surroundings and the recording, composed from one table."""

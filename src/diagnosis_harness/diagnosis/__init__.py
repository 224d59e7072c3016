"""From a question to a draft: claims as data, progress, stopping, the loop."""

"""Files as the tools of the trade write them: a detector and a reader for each format, listed in `readers`.

A reader turns what it recognises into rows of the columns that the room reads anyway, and decides nothing.
"""

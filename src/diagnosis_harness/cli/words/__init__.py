"""Everything that the commands print, in both languages; `{names}` are filled in by `Text.render`."""

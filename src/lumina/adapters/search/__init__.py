"""Search providers of the web, each a module; all of them speak through a door, but for the one that says why not."""

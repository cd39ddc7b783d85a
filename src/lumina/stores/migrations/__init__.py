"""How a database of an older version becomes one of this version, one numbered step at a time."""

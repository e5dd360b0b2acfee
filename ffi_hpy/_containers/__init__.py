"""The classes of native sequences and mappings."""

"""Array, List, Map, Dict."""

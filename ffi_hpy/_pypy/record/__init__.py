"""Fields of objects, and their initializers and schemas."""

"""What the core knows about types (TypeInfo), the schemas of values (TypeSchema), and what both are made of."""

"""The core's data about types (TypeInfo), the schemas of values (TypeSchema), and their parts."""

"""Fields of objects, and what makes and checks them."""

"""Sample calls for op overloads: small CPU tensors and the arguments that go with them."""

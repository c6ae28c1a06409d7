"""Turns sample calls into evidence: what lowers, what compiles, what is numerically right.

The parent needs only the standard library. Children in an interpreter with torch-tpu, libtpu and
jax lower, compile, run and compare; a journal keeps what they found.
"""

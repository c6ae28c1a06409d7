"""Child processes that compile StableHLO for a TPU and run it on XLA:CPU, and what they share.

The parent needs only the standard library. The children run in an interpreter that has jax, jaxlib
and libtpu (the extra ``tpu``); no TPU is needed, and none is opened.
"""

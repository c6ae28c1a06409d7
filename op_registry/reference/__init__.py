"""Reference kernels: what an op means, in plain PyTorch over ops that TorchTPU has.

:mod:`op_registry.reference.kernels` holds one file an op family; :mod:`~.pointers` names torch's
own decompositions and references for the ops that have one.
"""

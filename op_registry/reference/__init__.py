"""Reference kernels: what an op means, in plain PyTorch over ops that TorchTPU has.

:mod:`op_registry.reference.kernels` holds one file an op family; :mod:`~.pointers` names torch's
own decompositions and references for the ops that have one. :func:`install` registers the kernels
for the TPU backend, for ops that the installed torch-tpu lacks.
"""

from op_registry.reference.declare import declared
from op_registry.reference.install import install

__all__ = ["declared", "install"]

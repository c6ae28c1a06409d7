import os
from pathlib import Path

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

Path(os.environ["VAULT_WAS_RUN"]).write_text("setup")
setup(
    name="vault",
    ext_modules=[CUDAExtension("vault_cuda", ["vault.cu"])],
    cmdclass={"build_ext": BuildExtension},
)

"""TPA605: FlashAttention, whose kernels are CUDA code."""

from __future__ import annotations

from tpu_audit.rules.libraries.kernel_packages import FLASH_ATTENTION
from tpu_audit.rules.libraries.recognise import recognise, words
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

RULE = Rule(
    code="TPA605",
    name="flash-attention",
    severity=Severity.ERROR,
    words=words(FLASH_ATTENTION),
    docs=Docs(
        what="Finds FlashAttention and its relatives: imports, requirements and builds from "
        "source.",
        why="The kernels are CUDA code. The package does not build on a TPU host, and its "
        "import fails. `scaled_dot_product_attention` runs as a flash kernel on TPUs.",
        example="from flash_attn import flash_attn_func\n\n"
        "out = flash_attn_func(q, k, v, causal=True)",
        instead="from torch.nn.functional import scaled_dot_product_attention\n\n"
        "q, k, v = (x.transpose(1, 2) for x in (q, k, v))  # heads before the sequence\n"
        "out = scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)",
        references=(
            "https://github.com/Dao-AILab/flash-attention",
            "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html",
        ),
    ),
    valid=(
        Case("import torch.nn.functional as F\nout = F.scaled_dot_product_attention(q, k, v)\n"),
        Case(
            "import torch\nif torch.cuda.is_available():\n"
            "    from flash_attn import flash_attn_func\n"
        ),
        Case("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import flash_attn\n"),
        Case("# flash-attn is optional\ntorch\nnumpy\n", filename="requirements.txt"),
        Case("from .flash_attn import attend\n"),
        Case('name = "flash_attn"\nprint(f"{name} is not needed")\n'),
        Case(
            "import importlib\ndef is_package_available(name):\n    try:\n"
            "        importlib.import_module(name)\n    except ImportError:\n"
            '        return False\n    return True\nFAST = is_package_available("flash_attn")\n'
        ),
    ),
    invalid=(
        Case(
            "from flash_attn import flash_attn_func as attend\n",
            lines=(1,),
            severity=Severity.ERROR,
        ),
        Case("import torch, flash_attn_interface\n", lines=(1,)),
        Case(
            'import importlib\nfa = importlib.import_module("flash_attn.bert_padding")\n',
            lines=(2,),
        ),
        Case(
            "try:\n    from flash_attn import flash_attn_func\nexcept ImportError:\n"
            "    flash_attn_func = None\n",
            lines=(2,),
            severity=Severity.INFO,
        ),
        Case(
            "try:\n    import flash_attn\nexcept ImportError as error:\n"
            "    raise ImportError('pip install flash-attn') from error\n",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            "class Attention:\n    def forward(self, q, k, v):\n"
            "        from flash_attn import flash_attn_func\n"
            "        return flash_attn_func(q, k, v)\n",
            lines=(3,),
            severity=Severity.ERROR,
        ),
        Case(
            "def attend(q, k, v):\n    from sageattention import sageattn\n"
            "    return sageattn(q, k, v)\n",
            lines=(2,),
            severity=Severity.WARNING,
        ),
        Case(
            "from transformers.utils import is_flash_attn_greater_or_equal_2_10\n"
            "if is_flash_attn_greater_or_equal_2_10():\n    import flash_attn\n",
            lines=(3,),
            severity=Severity.INFO,
        ),
        Case(
            "torch\nflash-attn>=2.5 ; sys_platform == 'linux'\n",
            filename="requirements.txt",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            "FROM python:3.12\n"
            "RUN git clone https://github.com/Dao-AILab/flash-attention.git && cd "
            "flash-attention && python setup.py install\n",
            filename="Dockerfile",
            lines=(2,),
            severity=Severity.ERROR,
        ),
        Case(
            "from setuptools import setup\n"
            "setup(name='x', install_requires=['torch', 'flash_attn==2.6.3'])\n",
            filename="setup.py",
            lines=(2,),
        ),
        Case(
            "[project]\nname = 'x'\n[project.optional-dependencies]\nfast = ['flash-attn']\n",
            filename="pyproject.toml",
            lines=(4,),
            severity=Severity.INFO,
        ),
    ),
)

recognise(RULE, FLASH_ATTENTION)

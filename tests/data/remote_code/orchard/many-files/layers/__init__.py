from .block import OrchardBlock

__all__ = ["OrchardBlock"]

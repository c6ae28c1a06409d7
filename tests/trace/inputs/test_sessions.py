"""Objects of the models' own that hold inputs: sessions, keys and values, films."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.census.auto_classes import AutoClass
from tests.census.default_configs import default_config
from tests.census.shrink import shrink

if TYPE_CHECKING:
    from tests.support.feeding import Feeder


def config(model_type: str, name: str) -> dict[str, Any]:
    """Return the default config of a type with few layers, for one of its classes."""
    content = default_config(AutoClass(model_type=model_type, name=name, kind="base"))
    assert content is not None
    return {**shrink(content), "architectures": [name]}


def test_tracker_gets_a_session_with_a_click(feed: Feeder) -> None:
    """The click reaches the prompt encoder, and the frame is kept in the model's memory."""
    fed = feed(config("sam2_video", "Sam2VideoModel"))
    modules = {module for use in fed.trace.ops for module in use.modules}

    assert fed.kwargs["frame"] == (1, 3, 1024, 1024)
    assert "a click on one object" in fed.said
    assert any(name.startswith("prompt_encoder") for name in modules)
    assert any(name.startswith("memory_encoder") for name in modules)


def test_drafting_model_gets_keys_of_every_kind_of_layer(feed: Feeder) -> None:
    """One token attends to ``seq_len`` tokens of the other model."""
    fed = feed(config("gemma4_assistant", "Gemma4AssistantForCausalLM"))
    states = fed.kwargs["shared_kv_states"]

    assert set(states) == {"full_attention", "sliding_attention"}
    assert all(key.shape[2] == 16 for key, _ in states.values())
    assert "a token to draft after 16 tokens" in fed.said

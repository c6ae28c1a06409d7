import copy

from transformers import AutoConfig, LlamaConfig
from transformers.configuration_utils import PretrainedConfig


class SplitChatConfig(PretrainedConfig):
    model_type = "split_chat"
    is_composition = True

    def __init__(self, llm_config=None, vision_tower=None, **kwargs):
        super().__init__(**kwargs)
        self.llm_config = LlamaConfig(**(llm_config or {}))
        self.vision_tower = vision_tower

    def to_dict(self):
        output = copy.deepcopy(self.__dict__)
        output["llm_config"] = self.llm_config.to_dict()
        return output

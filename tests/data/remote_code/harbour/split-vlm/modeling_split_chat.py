import torch
from torch import nn
from transformers import AutoModelForCausalLM, CLIPVisionModel
from transformers.modeling_utils import PreTrainedModel

from .configuration_split_chat import SplitChatConfig
from .conversation import get_conv_template


def build_vision_tower(name):
    return CLIPVisionModel.from_pretrained(name, device_map="cuda:0")


class SplitChatModel(PreTrainedModel):
    config_class = SplitChatConfig
    main_input_name = "pixel_values"

    def __init__(self, config: SplitChatConfig):
        super().__init__(config)
        self.vision_tower = build_vision_tower(config.vision_tower)
        self.mlp1 = nn.Linear(1024, config.llm_config.hidden_size)
        self.language_model = AutoModelForCausalLM.from_config(config.llm_config)

    def extract_feature(self, pixel_values):
        return self.mlp1(self.vision_tower(pixel_values).last_hidden_state)

    def forward(self, pixel_values, input_ids, image_flags):
        embeds = self.language_model.get_input_embeddings()(input_ids).clone()
        vit_embeds = self.extract_feature(pixel_values)[image_flags.squeeze(-1) == 1]
        selected = input_ids == self.img_context_token_id
        embeds[selected] = vit_embeds.reshape(-1, embeds.shape[-1])
        return self.language_model(inputs_embeds=embeds)

    def batch_chat(self, tokenizer, pixel_values, questions, generation_config):
        template = get_conv_template(self.config)
        queries = [template.format(question) for question in questions]
        tokenizer.padding_side = "left"
        model_inputs = tokenizer(queries, return_tensors="pt", padding=True)
        input_ids = model_inputs["input_ids"].cuda()
        attention_mask = model_inputs["attention_mask"].to("cuda")
        with torch.cuda.device(0):
            output = self.generate(pixel_values, input_ids, attention_mask, **generation_config)
        return tokenizer.batch_decode(output)

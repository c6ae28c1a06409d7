import torch
from transformers import AutoModel, AutoTokenizer


class PierTransformer(torch.nn.Module):
    def __init__(self, model_name_or_path):
        super().__init__()
        self.auto_model = AutoModel.from_pretrained(model_name_or_path)
        self.tokenizer = AutoTokenizer.from_pretrained(model_name_or_path)

    def forward(self, features):
        with torch.autocast("cuda", dtype=torch.float16):
            out = self.auto_model(**features)
        features["token_embeddings"] = out.last_hidden_state
        return features

import torch
from transformers import Pipeline


class PairClassificationPipeline(Pipeline):
    def _sanitize_parameters(self, **kwargs):
        return {key: kwargs[key] for key in ("second_text",) if key in kwargs}, {}, {}

    def preprocess(self, text, second_text=None):
        return self.tokenizer(text, text_pair=second_text, return_tensors="pt")

    def _forward(self, model_inputs):
        model_inputs = {name: value.cuda() for name, value in model_inputs.items()}
        return self.model(**model_inputs)

    def postprocess(self, model_outputs):
        probabilities = torch.softmax(model_outputs.logits[0], dim=-1)
        best = int(probabilities.argmax())
        return {"label": self.model.config.id2label[best], "score": float(probabilities[best])}

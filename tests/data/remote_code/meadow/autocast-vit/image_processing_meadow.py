import numpy as np
import torch
from transformers.image_processing_utils import BaseImageProcessor, BatchFeature


class MeadowImageProcessor(BaseImageProcessor):
    model_input_names = ["pixel_values"]

    def __init__(self, size=224, **kwargs):
        super().__init__(**kwargs)
        self.size = size

    def preprocess(self, images, return_tensors=None, **kwargs):
        arrays = [np.asarray(image.resize((self.size, self.size))) for image in images]
        pixels = torch.from_numpy(np.stack(arrays)).permute(0, 3, 1, 2)
        return BatchFeature({"pixel_values": pixels.to("cuda").half() / 255})

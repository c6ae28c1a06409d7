import torch


def rotate(x):
    angles = torch.cuda.FloatTensor(x.shape[-1]).fill_(1.0)
    return x * angles.cos()

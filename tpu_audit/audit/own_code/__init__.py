"""The code that a repository brings for its model: what of it runs, and what findings in it mean.

It is read, never imported. Nothing here needs torch.
"""

"""Conversation prompt templates."""

TEMPLATES = {"plain": "USER: {}\nASSISTANT:"}


def get_conv_template(config):
    """Give the template that the config names."""
    return TEMPLATES[getattr(config, "template", "plain")]

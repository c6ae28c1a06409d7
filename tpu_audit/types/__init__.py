"""The domain: what the rooms hand to each other. Frozen dataclasses, no behaviour beyond views."""

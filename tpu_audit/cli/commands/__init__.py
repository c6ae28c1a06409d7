"""The commands. Each module holds one; ``tpu_audit.cli.root`` lists them."""

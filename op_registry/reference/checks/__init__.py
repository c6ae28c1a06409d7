"""What is checked of a reference kernel, one check a module."""

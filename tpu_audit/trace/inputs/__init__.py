"""Inputs per modality: one small builder a file, the first that applies makes the inputs."""

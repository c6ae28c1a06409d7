"""The weights-free tracer: a pretended TPU, a recorder, inputs per modality."""

# Copyright (c) Quarry Labs.

import os

from transformers import PreTrainedTokenizer

VOCAB_FILES_NAMES = {"vocab_file": "sandstone.tiktoken"}


class SandstoneTokenizer(PreTrainedTokenizer):
    """Byte pairs, one token a line."""

    vocab_files_names = VOCAB_FILES_NAMES

    def __init__(self, vocab_file, errors="replace", **kwargs):
        with open(vocab_file, "rb") as f:
            rows = [line.split() for line in f if line.strip()]
        self.mergeable_ranks = {token: int(rank) for token, rank in rows}
        self.errors = errors
        super().__init__(**kwargs)

    @property
    def vocab_size(self):
        return len(self.mergeable_ranks)

    def get_vocab(self):
        return self.mergeable_ranks

    def save_vocabulary(self, save_directory, **kwargs):
        file_path = os.path.join(save_directory, "sandstone.tiktoken")
        with open(file_path, "w", encoding="utf8") as w:
            for token, rank in self.mergeable_ranks.items():
                w.write(f"{token} {rank}\n")
        return (file_path,)

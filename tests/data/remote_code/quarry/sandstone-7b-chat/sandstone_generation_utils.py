# Copyright (c) Quarry Labs.

"""Generation support."""


def make_context(tokenizer, query, history, max_window_size=6144):
    """Encode a dialogue, the newest turns first."""
    tokens = tokenizer.encode(query)
    for turn_query, turn_response in reversed(history):
        turn = tokenizer.encode(turn_query + turn_response)
        if len(turn) + len(tokens) > max_window_size:
            break
        tokens = turn + tokens
    return tokens

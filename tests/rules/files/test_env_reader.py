"""Files of environment variables."""

from __future__ import annotations

from tests.support.documents import at, read, values


def test_values_and_places() -> None:
    """Quotes and comments are taken off the values; names and values have places."""
    text = '# c\nexport CUDA_VISIBLE_DEVICES=0,1 # x\nA="b c"\r\nB=\n C = d#e\nno line\n'
    document = read("env", text)

    assert values(document) == {"CUDA_VISIBLE_DEVICES": "0,1", "A": "b c", "B": "", "C": "d#e"}
    assert at(document, "CUDA_VISIBLE_DEVICES") == ("0,1", (2, 29))
    assert at(document, "A") == ('"b c"', (3, 3))

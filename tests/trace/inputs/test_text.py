"""Inputs of text models: what a tokenizer would give, within what the model can take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.feeding import Feeder

BERT: dict[str, Any] = {
    "architectures": ["BertForMaskedLM"],
    "model_type": "bert",
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_attention_heads": 2,
    "num_hidden_layers": 1,
    "vocab_size": 40,
    "pad_token_id": 7,
    "max_position_embeddings": 24,
}
LAYERS = {
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 16,
    "decoder_ffn_dim": 16,
}


def test_a_batch_of_full_sequences(feed: Feeder) -> None:
    """Batch and length are those of the settings, the mask hides nothing."""
    fed = feed(BERT, batch=2)

    ids, mask = fed.kwargs["input_ids"], fed.kwargs["attention_mask"]
    assert [len(row) for row in ids] == [16, 16]
    assert mask == [[1] * 16] * 2
    assert "2 x 16 tokens" in fed.said


def test_ids_are_ordinary_tokens(feed: Feeder) -> None:
    """Every id is in the vocabulary and none is the padding token."""
    fed = feed(BERT)

    (row,) = fed.kwargs["input_ids"]
    assert all(0 <= token < 40 for token in row)
    assert 7 not in row
    assert len(set(row)) > 1


def test_a_sequence_longer_than_the_positions_is_cut_and_said(feed: Feeder) -> None:
    """128 tokens asked of a model with 24 positions become 24, and the report says so."""
    fed = feed(BERT, seq_len=128)

    assert len(fed.kwargs["input_ids"][0]) == 24
    assert "sequence of 24 tokens, not 128" in fed.said


def test_positions_reserved_below_the_first_token_are_not_used(feed: Feeder) -> None:
    """RoBERTa numbers positions after its padding index: two of its 24 serve no token."""
    roberta = {**BERT, "architectures": ["RobertaForMaskedLM"], "model_type": "roberta"}
    fed = feed({**roberta, "pad_token_id": 1}, seq_len=128)

    assert len(fed.kwargs["input_ids"][0]) == 22


def test_windowed_attention_takes_any_length(feed: Feeder) -> None:
    """Longformer pads to its window by itself and attends to no token globally."""
    longformer = {**BERT, "architectures": ["LongformerModel"], "model_type": "longformer"}
    fed = feed({**longformer, "attention_window": 8, "pad_token_id": 1}, seq_len=13)

    assert fed.trace.ops
    assert sum(use.guesses for use in fed.trace.ops) == 0


def test_an_encoder_decoder_gets_both_sides(feed: Feeder) -> None:
    """T5 reads a text and decodes another of the same length."""
    fed = feed(
        {
            "architectures": ["T5ForConditionalGeneration"],
            "model_type": "t5",
            "d_model": 16,
            "d_kv": 8,
            "d_ff": 16,
            "num_layers": 1,
            "num_heads": 2,
            "vocab_size": 50,
        }
    )

    assert len(fed.kwargs["input_ids"][0]) == 16
    assert len(fed.kwargs["decoder_input_ids"][0]) == 16
    assert "decoder: 1 x 16 tokens" in fed.said


def test_an_encoder_text_ends_with_its_end_token(feed: Feeder) -> None:
    """A classifier that reads the state of the end token finds exactly one in each text."""
    fed = feed(
        {
            "architectures": ["BartForSequenceClassification"],
            "model_type": "bart",
            "vocab_size": 60,
            "eos_token_id": 2,
            **LAYERS,
        },
        batch=2,
    )

    assert [row.count(2) for row in fed.kwargs["input_ids"]] == [1, 1]
    assert [row[-1] for row in fed.kwargs["input_ids"]] == [2, 2]


def test_codebooks_have_an_axis_of_their_own(feed: Feeder) -> None:
    """A speech decoder that reads 4 codebooks and text takes 5 tokens a step."""
    fed = feed(
        {
            "architectures": ["KyutaiSpeechToTextModel"],
            "model_type": "kyutai_speech_to_text",
            "hidden_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "num_key_value_heads": 2,
            "head_dim": 8,
            "ffn_dim": 32,
            "num_codebooks": 4,
            "audio_pad_token_id": 5,
        }
    )

    assert [len(step) for step in fed.kwargs["input_ids"][0]] == [5] * 16
    assert "5 codebooks" in fed.said

"""Inputs of audio models: spectrograms in the layout of the first layer, waveforms, masks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.feeding import Feeder

WHISPER: dict[str, Any] = {
    "architectures": ["WhisperForConditionalGeneration"],
    "model_type": "whisper",
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 16,
    "decoder_ffn_dim": 16,
    "num_mel_bins": 20,
    "max_source_positions": 30,
    "vocab_size": 60,
    "max_target_positions": 12,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 1,
}
WAV2VEC2: dict[str, Any] = {
    "architectures": ["Wav2Vec2ForCTC"],
    "model_type": "wav2vec2",
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "conv_dim": [8, 8],
    "conv_kernel": [10, 3],
    "conv_stride": [5, 2],
    "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 4,
    "num_conv_pos_embedding_groups": 2,
    "vocab_size": 30,
}


def test_whisper_takes_one_length_mels_first(feed: Feeder) -> None:
    """Twice its source positions in frames; the decoder no longer than its target positions."""
    fed = feed(WHISPER)

    assert fed.kwargs["input_features"] == (1, 20, 60)
    assert len(fed.kwargs["decoder_input_ids"][0]) == 12
    assert "60 frames of 20" in fed.said


def test_conformers_take_frames_first_and_a_mask(feed: Feeder) -> None:
    """The width of a frame is the config's, the mask covers all frames."""
    fed = feed(
        {
            "architectures": ["Wav2Vec2BertModel"],
            "model_type": "wav2vec2-bert",
            "hidden_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "intermediate_size": 16,
            "feature_projection_input_dim": 24,
        }
    )

    assert fed.kwargs["input_features"] == (1, 1000, 24)
    assert fed.kwargs["attention_mask"] == [[1] * 1000]


def test_waveforms_are_as_long_as_the_extractor_samples(feed: Feeder) -> None:
    """Five seconds at the feature extractor's rate."""
    fed = feed(WAV2VEC2, processors={"preprocessor_config.json": {"sampling_rate": 8000}})

    assert fed.kwargs["input_values"] == (1, 40_000)
    assert "attention_mask" not in fed.kwargs
    assert "8000 Hz" in fed.said


def test_layer_normalised_extractors_give_a_mask(feed: Feeder) -> None:
    """Models trained with a mask get one."""
    fed = feed({**WAV2VEC2, "feat_extract_norm": "layer", "conv_stride": [50, 40]})

    assert len(fed.kwargs["attention_mask"][0]) == 80_000


def test_codecs_have_a_channel_axis(feed: Feeder) -> None:
    """EnCodec takes (batch, channels, samples)."""
    fed = feed(
        {
            "architectures": ["EncodecModel"],
            "model_type": "encodec",
            "sampling_rate": 8000,
            "num_filters": 4,
            "hidden_size": 16,
            "num_lstm_layers": 1,
            "codebook_size": 16,
            "upsampling_ratios": [40, 20],
        }
    )

    assert fed.kwargs["input_values"] == (1, 1, 40_000)


def test_speech_decoders_get_frames_and_a_voice(feed: Feeder) -> None:
    """SpeechT5 speaks: text in, spectrogram frames and a speaker embedding for the decoder."""
    fed = feed(
        {
            "architectures": ["SpeechT5ForTextToSpeech"],
            "model_type": "speecht5",
            "hidden_size": 16,
            "encoder_layers": 1,
            "decoder_layers": 1,
            "encoder_attention_heads": 2,
            "decoder_attention_heads": 2,
            "encoder_ffn_dim": 16,
            "decoder_ffn_dim": 16,
            "num_mel_bins": 20,
            "speaker_embedding_dim": 12,
        }
    )

    assert fed.kwargs["decoder_input_values"] == (1, 16, 20)
    assert fed.kwargs["speaker_embeddings"] == (1, 12)
    assert len(fed.kwargs["input_ids"][0]) == 16

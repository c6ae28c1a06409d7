# Copyright (c) Quarry Labs.

"""A simple command-line interactive chat demo."""

import argparse

from transformers import AutoModelForCausalLM, AutoTokenizer


def _load_model_tokenizer(args):
    tokenizer = AutoTokenizer.from_pretrained(args.checkpoint_path, trust_remote_code=True)
    device_map = "cpu" if args.cpu_only else "cuda"
    model = AutoModelForCausalLM.from_pretrained(
        args.checkpoint_path, device_map=device_map, trust_remote_code=True
    ).eval()
    return model, tokenizer


def main():
    parser = argparse.ArgumentParser(description="Sandstone command-line interactive chat demo.")
    parser.add_argument("-c", "--checkpoint-path", type=str, default="quarry/sandstone-7b-chat")
    parser.add_argument("--cpu-only", action="store_true", help="Run demo with CPU only")
    model, tokenizer = _load_model_tokenizer(parser.parse_args())
    while True:
        response, _ = model.chat(tokenizer, input("User> "))
        print(response)


if __name__ == "__main__":
    main()

"""Hugging Face's decoders of random weights and without a tokenizer: texts are ids."""
import json

import torch
import transformers

from . import toy
from .hugging_face_text import item, randomized

# Longer than the windows and than what rotary positions are scaled from.
IDS = ([7, 31, 4, 22, 9, 40, 3, 17, 28, 12, 35, 6, 19, 44, 2, 25, 11, 38, 30, 8], [5, 41, 16, 3, 3, 29])
IDS_OF_TEXTS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": None}
SHAPE = {"vocab_size": 46, "hidden_size": 16, "intermediate_size": 20, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 64,
         **IDS_OF_TEXTS}
NEOX = {"vocab_size": 46, "hidden_size": 16, "intermediate_size": 20, "num_hidden_layers": 2, "num_attention_heads": 2,
        "max_position_embeddings": 64, **IDS_OF_TEXTS}
GPTJ = {"vocab_size": 46, "n_embd": 16, "n_inner": 20, "n_layer": 2, "n_head": 2, "n_positions": 64, "rotary_dim": 4,
        **IDS_OF_TEXTS}
OPT = {"vocab_size": 46, "hidden_size": 16, "ffn_dim": 20, "num_hidden_layers": 2, "num_attention_heads": 2,
       "max_position_embeddings": 24, "bos_token_id": 2, "eos_token_id": 2, "pad_token_id": 1}


@torch.no_grad()
def with_weights(model, ids):
    """The answers, with the attention weights of the last layer."""
    found = item(model, " ".join(map(str, ids)), ids)
    weights = model(input_ids=torch.tensor([ids]), output_attentions=True).attentions[-1][0]
    return {**found, "weights": [round(float(value), 7) for value in weights.flatten()]}


def in_older_spelling(folder):
    """Writes rope_parameters as transformers 4 did."""
    file = folder / "config.json"
    config = json.loads(file.read_text(encoding="utf-8"))
    rope = config.pop("rope_parameters")
    config["rope_theta"] = rope.pop("rope_theta")
    kind = rope.pop("rope_type")
    config["rope_scaling"] = None if kind == "default" else {"type": kind, **rope}
    file.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def make_decoder(folder, kind="Llama", dtype=torch.float16, older=False, shape=None, **more):
    config = getattr(transformers, f"{kind}Config")(**{**(shape or SHAPE), **more}, attn_implementation="eager")
    model = randomized(getattr(transformers, f"{kind.removesuffix('Text')}ForCausalLM")(config), folder, dtype)
    if older:
        in_older_spelling(folder)
    toy.write_answers(folder, [with_weights(model, ids) for ids in IDS])

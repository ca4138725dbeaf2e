"""llama.cpp's GGUF files of random weights, as its conversion writes them: Llama, Qwen 2 and 3, and Gemma 3."""
import json

import gguf
import numpy
import torch
import transformers
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

from . import toy
from .hugging_face_text import item

WORDS = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
         r"|\s+(?!\S)|\s+")
SPECIAL = ["<|begin|>", "<|end|>"]
F16, Q8_0 = gguf.GGMLQuantizationType.F16, gguf.GGMLQuantizationType.Q8_0
# Of a layer: llama.cpp's name, transformers', and whether the rows of heads alternate.
LAYER = [("attn_norm", "input_layernorm"), ("attn_q", "self_attn.q_proj"), ("attn_k", "self_attn.k_proj"),
         ("attn_v", "self_attn.v_proj"), ("attn_output", "self_attn.o_proj"), ("ffn_gate", "mlp.gate_proj"),
         ("ffn_up", "mlp.up_proj"), ("ffn_down", "mlp.down_proj"), ("attn_q_norm", "self_attn.q_norm"),
         ("attn_k_norm", "self_attn.k_norm")]
NORMS = [("ffn_norm", "post_attention_layernorm")]
GEMMA_NORMS = [("post_attention_norm", "post_attention_layernorm"), ("ffn_norm", "pre_feedforward_layernorm"),
               ("post_ffw_norm", "post_feedforward_layernorm")]


def byte_level(words, normalizer):
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(words), "isolated"),
                                                  pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    if normalizer:
        made.normalizer = normalizer
    made.train_from_iterator(toy.CORPUS, trainers.BpeTrainer(vocab_size=70, special_tokens=SPECIAL,
                                                             show_progress=False))
    return made


def pieces_of(writer, tokenizer, rows):
    """Unused pieces fill the vocabulary."""
    pieces = [tokenizer.id_to_token(i) for i in range(tokenizer.get_vocab_size())]
    model = json.loads(tokenizer.to_str())["model"]
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(pieces + [f"[PAD{i}]" for i in range(len(pieces), rows)])
    writer.add_token_types([3 if piece in SPECIAL else 1 for piece in pieces] + [5] * (rows - len(pieces)))
    writer.add_token_merges([" ".join(pair) for pair in model["merges"]])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)


def alternating(weight, heads):
    rows = weight.shape[0]
    return weight.reshape(heads, 2, rows // heads // 2, -1).swapaxes(1, 2).reshape(weight.shape)


def stored(weight, kind):
    """What the file holds, and its values."""
    if weight.ndim == 1:
        return weight, weight, None
    if kind == F16:
        return weight.astype(numpy.float16), weight.astype(numpy.float16).astype(numpy.float32), None
    data = gguf.quantize(weight, kind)
    return data, gguf.dequantize(data, kind), kind


def write_tensors(writer, model, kind, alternates, factors):
    """Rounds the weights of `model` to those of the file."""
    state = model.state_dict()
    names = [("token_embd", "model.embed_tokens"), ("output_norm", "model.norm")]
    names += [] if model.config.tie_word_embeddings else [("output", "lm_head")]
    is_gemma = model.config.model_type.startswith("gemma")
    for i in range(model.config.num_hidden_layers):
        names += [(f"blk.{i}.{theirs}", f"model.layers.{i}.{own}")
                  for theirs, own in LAYER + (GEMMA_NORMS if is_gemma else NORMS)]
    heads = {"attn_q": model.config.num_attention_heads, "attn_k": model.config.num_key_value_heads}
    for theirs, own in names:
        for end in ("weight", "bias"):
            tensor = state.get(f"{own}.{end}")
            if tensor is None:
                continue
            data, values, raw = stored(tensor.numpy(), kind)
            tensor.copy_(torch.from_numpy(values))
            if is_gemma and theirs.endswith("norm"):
                data = data + 1.0
            rows = heads.get(theirs.split(".")[-1])
            if alternates and rows:
                data = alternating(data, rows)
            writer.add_tensor(f"{theirs}.{end}", data, raw_dtype=raw)
    if factors is not None:
        writer.add_tensor("rope_freqs.weight", factors.astype(numpy.float32))


@torch.no_grad()
def make_gguf(folder, family="Llama", words=WORDS, pre="llama-bpe", normalizer=None, kind=F16, factors=None,
              name="model.gguf", parts=None, num_hidden_layers=2,
              intermediate_size=64, **more):
    tokenizer = byte_level(words, normalizer)
    rows = tokenizer.get_vocab_size() + 2
    config = getattr(transformers, f"{family}Config")(
        vocab_size=rows, hidden_size=32, intermediate_size=intermediate_size, num_hidden_layers=num_hidden_layers,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64, rms_norm_eps=1e-5, bos_token_id=0, eos_token_id=1,
        attn_implementation="eager", **more)
    model = getattr(transformers, f"{family.removesuffix('Text')}ForCausalLM")(config).eval()
    draw = torch.Generator().manual_seed(9)
    for parameter in model.parameters():
        parameter.data += torch.randn(parameter.shape, generator=draw) * 0.3
    model.tie_weights()
    prefix = family.removesuffix("Text").lower()
    split = {} if parts is None else {"split_max_tensors": parts}
    writer = gguf.GGUFWriter(folder / name, prefix, **split)
    writer.add_block_count(num_hidden_layers)
    writer.add_context_length(64)
    writer.add_embedding_length(32)
    writer.add_feed_forward_length(intermediate_size)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    head_dim = more.get("head_dim", 8)
    if "head_dim" in more:
        writer.add_key_length(head_dim)
        writer.add_value_length(head_dim)
    writer.add_rope_dimension_count(head_dim)
    rope = config.rope_parameters
    writer.add_rope_freq_base(rope.get("full_attention", rope)["rope_theta"])
    if "sliding_window" in more:
        writer.add_sliding_window(more["sliding_window"])
    writer.add_vocab_size(rows)
    writer.add_tokenizer_pre(pre)
    pieces_of(writer, tokenizer, rows)
    write_tensors(writer, model, kind, family == "Llama", factors)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    begin = [0] if pre == "llama-bpe" else []
    toy.write_answers(folder, [item(model, text, begin + tokenizer.encode(text).ids) for text in toy.TEXTS])


def llama3_factors(base=10000.0, columns=8, factor=8.0, low=1.0, high=4.0, length=32):
    """As llama.cpp's conversion computes them."""
    factors = []
    for speed in base ** (-numpy.arange(0, columns, 2) / columns):
        wavelength = 2 * numpy.pi / speed
        smooth = (length / wavelength - low) / (high - low)
        factors.append(1.0 if wavelength < length / high else factor if wavelength > length / low else
                       1.0 / ((1.0 - smooth) / factor + smooth))
    return numpy.array(factors)


LLAMA3_SCALING = {"rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0,
                  "high_freq_factor": 4.0, "original_max_position_embeddings": 32}

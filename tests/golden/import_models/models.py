"""The models by name: one of each variant of a format."""
import torch
from tokenizers import normalizers

from .ctranslate2_families import convert_bert, convert_gpt2, convert_t5, make_umt5
from .ctranslate2_models import convert_marian, make_opennmt
from .fairseq import make_fairseq
from .hugging_face_llama import make_decoder
from .hugging_face_marian import LANGUAGES, make_marian, pickled, safetensors, shards
from .hugging_face_seq2seq import (make_bart, make_blenderbot_small, make_mbart, make_pegasus, make_prefixed,
                                   make_t5)
from .hugging_face_text import make_bert, make_distilbert, make_gpt2, make_like_roberta, make_roberta
from .llama_cpp import LLAMA3_SCALING, Q8_0, WORDS, llama3_factors, make_gguf
from .marian import make_marian as make_npz
from .sockeye import make_sockeye

MODELS = {
    "ct2-float32": lambda folder: convert_marian(folder, None),
    "ct2-int8": lambda folder: convert_marian(folder, "int8"),
    "ct2-int16": lambda folder: convert_marian(folder, "int16"),
    "ct2-float16": lambda folder: convert_marian(folder, "float16"),
    "ct2-bfloat16": lambda folder: convert_marian(folder, "bfloat16"),
    "ct2-pre-norm": lambda folder: make_opennmt(folder, activation="gelu_tanh", pre_norm=True, encoder_layers=2),
    "ct2-post-norm": lambda folder: make_opennmt(folder, activation="gelu", tying="target_output", with_spm=True),
    "ct2-gelu-sigmoid": lambda folder: make_opennmt(folder, activation="gelu_sigmoid", tying="separate", pre_norm=True),
    "ct2-t5": lambda folder: convert_t5(folder, make_t5, "int8"),
    "ct2-umt5": lambda folder: convert_t5(folder, make_umt5),
    "ct2-gpt2": lambda folder: convert_gpt2(folder, make_gpt2),
    "ct2-bert": lambda folder: convert_bert(folder, make_bert, "int8"),
    "ct2-distilbert": lambda folder: convert_bert(folder, make_distilbert),
    "ct2-roberta": lambda folder: convert_bert(folder, make_roberta, None, ["vocab.json", "merges.txt"]),
    "fairseq-args": lambda folder: make_fairseq(folder),
    "fairseq-cfg": lambda folder: make_fairseq(folder, cfg=True, pre_norm=True, tying="target_output", scale=False,
                                               dtype=torch.float16),
    "fairseq-learned": lambda folder: make_fairseq(folder, learned=True, activation="gelu", embedding_norm=True),
    "fairseq-old": lambda folder: make_fairseq(folder, old=True, tying="separate", dtype=torch.float16),
    "gguf-llama": lambda folder: make_gguf(folder, tie_word_embeddings=False),
    "gguf-llama3-q8": lambda folder: make_gguf(folder, kind=Q8_0, factors=llama3_factors(), tie_word_embeddings=True,
                                               rope_parameters=LLAMA3_SCALING),
    "gguf-qwen2-parts": lambda folder: make_gguf(folder, "Qwen2", WORDS.replace("{1,3}", ""), "qwen2",
                                                 normalizers.NFC(), name="model", parts=14, tie_word_embeddings=False),
    "hf-bart": make_bart,
    "hf-bart-sizes": lambda folder: make_bart(folder, decoder_ffn_dim=20, decoder_attention_heads=3),
    "hf-mbart": make_mbart,
    "hf-pegasus": make_pegasus,
    "hf-blenderbot-small": make_blenderbot_small,
    "hf-mbart50": lambda folder: make_prefixed(folder, "mbart", ["en_XX", "de_DE"], "MBart50Tokenizer", ["<mask>"]),
    "hf-m2m100": lambda folder: make_prefixed(folder, "m2m", ["__en__", "__de__", "__fr__"], "M2M100Tokenizer",
                                              [f"madeupword{i}" for i in range(8)], vocab_json=True),
    "hf-nllb": lambda folder: make_prefixed(folder, "m2m", ["eng_Latn", "deu_Latn"], "NllbTokenizer", ["<mask>"],
                                            decoder_layers=2),
    "hf-t5": make_t5,
    "hf-t5-gated": lambda folder: make_t5(folder, feed_forward_proj="gated-gelu", untied=True,
                                          tie_word_embeddings=False),
    "hf-mt5": lambda folder: make_t5(folder, "MT5", extra_ids=0, untied=True, num_decoder_layers=2),
    "hf-umt5": lambda folder: make_t5(folder, "UMT5", num_decoder_layers=2),
    "hf-gpt2": make_gpt2,
    "hf-gpt2-by-layer": lambda folder: make_gpt2(folder, scale_attn_by_inverse_layer_idx=True),
    "hf-llama": lambda folder: make_decoder(folder, dtype=torch.bfloat16, older=True, attention_bias=True,
                                            mlp_bias=True),
    "hf-llama-linear": lambda folder: make_decoder(folder, older=True, tie_word_embeddings=True, rope_parameters={
        "rope_type": "linear", "factor": 4.0, "rope_theta": 100.0}),
    "hf-llama-yarn": lambda folder: make_decoder(folder, rope_parameters={
        "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "rope_theta": 100.0,
        "beta_fast": 4.0, "beta_slow": 0.5}),
    "hf-llama3": lambda folder: make_decoder(folder, dtype=torch.float32, num_key_value_heads=4, rope_parameters={
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 16, "rope_theta": 500.0}),
    "hf-mistral": lambda folder: make_decoder(folder, "Mistral", num_key_value_heads=1, sliding_window=5),
    "hf-phi3": lambda folder: make_decoder(folder, "Phi3", sliding_window=5, rope_parameters={
        "rope_type": "default", "partial_rotary_factor": 0.5, "rope_theta": 100.0}),
    "hf-qwen2": lambda folder: make_decoder(folder, "Qwen2", head_dim=4, tie_word_embeddings=True,
                                            use_sliding_window=True, sliding_window=5, max_window_layers=1),
    "hf-smollm3": lambda folder: make_decoder(folder, "SmolLM3", num_hidden_layers=3,
                                              no_rope_layers=[1, 0, 1]),
    "hf-bert": make_bert,
    "hf-bert-untied": lambda folder: make_bert(folder, tie_word_embeddings=False),
    "hf-roberta-relu": lambda folder: make_like_roberta(folder, "XLMRoberta", saved=True, hidden_act="relu"),
    "hf-xlm-roberta": lambda folder: make_like_roberta(folder, "XLMRoberta"),
    "hf-camembert": lambda folder: make_like_roberta(folder, "Camembert"),
    "hf-roberta": make_roberta,
    "hf-distilbert": make_distilbert,
    "hf-marian-tied": lambda folder: make_marian(folder, safetensors, encoder_layers=2),
    "hf-marian-separate": lambda folder: make_marian(folder, pickled, shared=False, ends=(5, 9), activation="relu",
                                                     old_config=True),
    "hf-marian-untied": lambda folder: make_marian(folder, pickled, tied=False, activation="gelu",
                                                   dtype=torch.bfloat16),
    "hf-marian-odd": lambda folder: make_marian(folder, safetensors, d_model=15, encoder_attention_heads=3,
                                                decoder_attention_heads=5, encoder_ffn_dim=12),
    "hf-marian-languages": lambda folder: make_marian(folder, pickled, languages=LANGUAGES, dtype=torch.float16,
                                                      legacy=True, old_config=True),
    "hf-marian-shards": lambda folder: make_marian(folder, shards, shared=False, tied=False, decoder_layers=2,
                                                   dtype=torch.float16),
    "marian-tied": lambda folder: make_npz(folder, encoder_layers=2),
    "marian-separate": lambda folder: make_npz(folder, tied=None, spm_vocabulary=True, activation="relu"),
    "marian-tied-output": lambda folder: make_npz(folder, tied="tied-embeddings", activation="gelu"),
    "marian-tied-source": lambda folder: make_npz(folder, tied="tied-embeddings-src", old_output=True,
                                                  activation="relu"),
    "marian-learned": lambda folder: make_npz(folder, learned=True),
    "marian-pre-norm": lambda folder: make_npz(folder, pre_norm=True),
    "sockeye-tied": lambda folder: make_sockeye(folder, "src_trg_softmax", encoder_layers=2),
    "sockeye-untied": lambda folder: make_sockeye(folder, "none", activation="swish"),
    "sockeye-source-tied": lambda folder: make_sockeye(folder, "src_trg", learned=True),
}

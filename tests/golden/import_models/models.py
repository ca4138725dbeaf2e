"""The models by name: one of each variant of a format."""
import torch

from .ctranslate2_models import convert_marian, make_opennmt
from .fairseq import make_fairseq
from .hugging_face_marian import LANGUAGES, make_marian, pickled, safetensors, shards
from .hugging_face_seq2seq import make_bart, make_mbart, make_prefixed, make_t5
from .hugging_face_text import make_bert, make_distilbert, make_gpt2, make_roberta
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
    "fairseq-args": lambda folder: make_fairseq(folder),
    "fairseq-cfg": lambda folder: make_fairseq(folder, cfg=True, pre_norm=True, tying="target_output", scale=False,
                                               dtype=torch.float16),
    "fairseq-learned": lambda folder: make_fairseq(folder, learned=True, activation="gelu", embedding_norm=True),
    "fairseq-old": lambda folder: make_fairseq(folder, old=True, tying="separate", dtype=torch.float16),
    "hf-bart": make_bart,
    "hf-mbart": make_mbart,
    "hf-mbart50": lambda folder: make_prefixed(folder, "mbart", ["en_XX", "de_DE"], "MBart50Tokenizer", ["<mask>"]),
    "hf-m2m100": lambda folder: make_prefixed(folder, "m2m", ["__en__", "__de__", "__fr__"], "M2M100Tokenizer",
                                              [f"madeupword{i}" for i in range(8)], vocab_json=True),
    "hf-nllb": lambda folder: make_prefixed(folder, "m2m", ["eng_Latn", "deu_Latn"], "NllbTokenizer", ["<mask>"],
                                            decoder_layers=2),
    "hf-t5": make_t5,
    "hf-t5-gated": lambda folder: make_t5(folder, feed_forward_proj="gated-gelu", untied=True,
                                          tie_word_embeddings=False),
    "hf-mt5": lambda folder: make_t5(folder, "mT5", extra_ids=0, untied=True, num_decoder_layers=2),
    "hf-gpt2": make_gpt2,
    "hf-bert": make_bert,
    "hf-roberta": make_roberta,
    "hf-distilbert": make_distilbert,
    "hf-marian-tied": lambda folder: make_marian(folder, safetensors, encoder_layers=2),
    "hf-marian-separate": lambda folder: make_marian(folder, pickled, shared=False, ends=(5, 9), activation="relu",
                                                     old_config=True),
    "hf-marian-untied": lambda folder: make_marian(folder, pickled, tied=False, activation="gelu",
                                                   dtype=torch.bfloat16),
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

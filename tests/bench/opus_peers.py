#!/usr/bin/env python3
"""Times imported models of real shapes, with random weights: Headscope beside the programs that they come from.

usage: opus_peers.py make KIT FOLDER            OPUS-MT's shape, 58,101 pieces; KIT gives the SentencePiece models
       opus_peers.py make-gpt2 FOLDER           GPT-2 small's shape
       opus_peers.py run FOLDER HEADSCOPE       --batches, --beams, --precisions, --peers and --runs select
       opus_peers.py run-gpt2 FOLDER HEADSCOPE

`run` starts each program once per run, in turn. Each translates a batch of one line and writes exactly --tokens tokens
of it; `run-gpt2` completes a prompt of 32 tokens by as many. Loading is not counted: peers are measured on their second
call, Headscope by the difference of two runs. Prints, for each batch size and beam, the medians of the seconds and of
the processor time, their ratios to Headscope's, and the peak memory; "start" is the processor time of a process that
translates one batch. On a busy machine compare the processor time with --threads 1: threads that wait for one another
use it up.
"""
import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PIECES = 58101
LINE = "In the beginning God created the heavens and the earth."
PROMPT = "In the beginning God created the"  # 32 bytes, each a token of make_gpt2's vocabulary


def make(kit, folder):
    import torch
    from transformers import MarianConfig, MarianMTModel

    torch.manual_seed(1)
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = json.loads((kit / "vocab.json").read_text())
    pieces = sorted((piece for piece in vocabulary if piece != "<pad>"), key=vocabulary.get)
    pieces += [f"filler{i}" for i in range(PIECES - 1 - len(pieces))] + ["<pad>"]
    (folder / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate(pieces)}))
    for name in ("source.spm", "target.spm", "tokenizer_config.json"):
        shutil.copy(kit / name, folder)
    model = MarianMTModel(MarianConfig(
        vocab_size=PIECES, d_model=512, encoder_layers=6, decoder_layers=6, encoder_attention_heads=8,
        decoder_attention_heads=8, encoder_ffn_dim=2048, decoder_ffn_dim=2048, activation_function="swish",
        scale_embedding=True, max_position_embeddings=512, pad_token_id=PIECES - 1, eos_token_id=0,
        decoder_start_token_id=PIECES - 1, forced_eos_token_id=0)).eval()
    model.generation_config.update(num_beams=4, renormalize_logits=True, bad_words_ids=[[PIECES - 1]])
    model.save_pretrained(folder)
    import ctranslate2

    ctranslate2.converters.TransformersConverter(str(folder)).convert(str(folder / "ct2"), force=True)
    write_marian(model, pieces, folder / "marian")


def write_marian(model, pieces, folder):
    """The same weights in Marian's names, without the pad."""
    import numpy as np

    folder.mkdir(exist_ok=True)
    state = {name: value.detach().float().numpy() for name, value in model.state_dict().items()}
    arrays = {"Wemb": state["model.shared.weight"][:-1],
              "decoder_ff_logit_out_b": state["final_logits_bias"][:, :-1]}

    def linear(theirs, matrix, bias, ours):
        arrays[matrix] = state[ours + ".weight"].T.copy()
        arrays[bias] = state[ours + ".bias"][None, :]
        del theirs

    def norm(theirs, ours):
        arrays[theirs + "_ln_scale"] = state[ours + ".weight"][None, :]
        arrays[theirs + "_ln_bias"] = state[ours + ".bias"][None, :]

    for stack in ("encoder", "decoder"):
        for i in range(6):
            ours = f"model.{stack}.layers.{i}."
            theirs = f"{stack}_l{i + 1}_"
            for part, name in (("self_", "self_attn"), ("context_", "encoder_attn")):
                if part == "context_" and stack == "encoder":
                    continue
                for letter, projection in (("q", "q_proj"), ("k", "k_proj"), ("v", "v_proj"), ("o", "out_proj")):
                    linear(theirs, f"{theirs}{part}W{letter}", f"{theirs}{part}b{letter}", f"{ours}{name}.{projection}")
                norm(f"{theirs}{part}Wo", f"{ours}{name}_layer_norm")
            linear(theirs, theirs + "ffn_W1", theirs + "ffn_b1", ours + "fc1")
            linear(theirs, theirs + "ffn_W2", theirs + "ffn_b2", ours + "fc2")
            norm(theirs + "ffn_ffn", ours + "final_layer_norm")
    options = {"type": "transformer", "dim-emb": 512, "enc-depth": 6, "dec-depth": 6, "transformer-heads": 8,
               "transformer-dim-ffn": 2048, "transformer-ffn-activation": "swish", "transformer-ffn-depth": 2,
               "transformer-preprocess": "\"\"", "transformer-postprocess": "dan", "transformer-postprocess-emb": "d",
               "transformer-postprocess-top": "\"\"", "transformer-decoder-autoreg": "self-attention",
               "tied-embeddings-all": "true", "version": "v1.12.42 peer", "input-types": "[]", "skip": "false",
               "layer-normalization": "false", "right-left": "false", "transformer-tied-layers": "[]",
               "transformer-no-projection": "false", "transformer-train-position-embeddings": "false",
               "ulr": "false", "tied-embeddings": "false", "tied-embeddings-src": "false",
               "dim-vocabs": f"\n  - {PIECES - 1}\n  - {PIECES - 1}"}
    text = "".join(f"{key}: {value}\n" for key, value in options.items()) + "\0"
    arrays["special:model.yml"] = np.frombuffer(text.encode(), np.int8)
    np.savez(folder / "model.npz", **arrays)
    (folder / "vocab.yml").write_text("".join(f"{json.dumps(piece)}: {i}\n" for i, piece in enumerate(pieces[:-1])))
    (folder / "decoder.yml").write_text("relative-paths: true\nmodels:\n  - model.npz\nvocabs:\n"
                                        "  - vocab.yml\n  - vocab.yml\nnormalize: 1\nbeam-size: 4\n")


def make_gpt2(folder):
    import ctranslate2
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(1)
    folder.mkdir(parents=True, exist_ok=True)
    printable = [byte for byte in range(256) if 33 <= byte <= 126 or 161 <= byte <= 172 or 174 <= byte]
    others = [byte for byte in range(256) if byte not in printable]
    pieces = [chr(byte) for byte in printable] + [chr(256 + i) for i in range(len(others))]
    pieces += [f"filler{i}" for i in range(50256 - len(pieces))] + ["<|endoftext|>"]
    (folder / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate(pieces)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    GPT2LMHeadModel(GPT2Config()).eval().save_pretrained(folder)
    ctranslate2.converters.TransformersConverter(str(folder)).convert(str(folder / "ct2"), force=True)


def source_pieces(folder):
    import sentencepiece

    return sentencepiece.SentencePieceProcessor(model_file=str(folder / "source.spm")).encode(LINE, out_type=str)


# Each returns a function that writes `tokens` tokens for each of `batch` lines and returns the number for the first.


def translate_with_transformers(folder, batch, beam, _):
    import torch
    from transformers import MarianMTModel, MarianTokenizer

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    model = MarianMTModel.from_pretrained(folder).eval()
    inputs = MarianTokenizer.from_pretrained(folder)([LINE] * batch, return_tensors="pt")

    def run(tokens):
        with torch.inference_mode():
            return len(model.generate(**inputs, num_beams=beam, max_new_tokens=tokens, min_new_tokens=tokens)[0]) - 1
    return run


def translate_with_ctranslate2(folder, batch, beam, precision):
    import ctranslate2

    translator = ctranslate2.Translator(str(folder / "ct2"), device="cpu", inter_threads=1,
                                        intra_threads=int(os.environ["OMP_NUM_THREADS"]),
                                        compute_type={"f32": "float32", "i8": "int8"}[precision])
    sources = [source_pieces(folder) + ["</s>"]] * batch
    return lambda tokens: len(translator.translate_batch(
        sources, beam_size=beam, max_decoding_length=tokens, min_decoding_length=tokens)[0].hypotheses[0])


def translate_with_marian(folder, batch, beam, _):
    import pymarian

    place = folder / "marian"
    pieces = source_pieces(folder)
    lines = [" ".join(pieces)] * batch
    workers = min(batch, int(os.environ["OMP_NUM_THREADS"]))  # it gives each line to one thread
    translators = {}  # by limit, which is a factor of the source's length

    def run(tokens):
        if tokens not in translators:
            translators[tokens] = pymarian.LoadedModel(
                models=[str(place / "model.npz")], vocabs=[str(place / "vocab.yml")] * 2, beam_size=beam, normalize=1,
                cpu_threads=workers, mini_batch=-(-batch // workers), maxi_batch=1, quiet=True,
                max_length_factor=(tokens - 0.5) / (len(pieces) + 1))
            translators[tokens].translate(lines)
        return len(translators[tokens].translate(lines)[0].split())
    return run


def complete_with_transformers(folder, batch, beam, _):
    import torch
    from transformers import GPT2LMHeadModel

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    model = GPT2LMHeadModel.from_pretrained(folder).eval()
    vocabulary = json.loads((folder / "vocab.json").read_text())
    prompts = torch.tensor([[vocabulary[byte.replace(" ", "\u0120")] for byte in PROMPT]] * batch)

    def run(tokens):
        with torch.inference_mode():
            return len(model.generate(prompts, num_beams=beam, do_sample=False, max_new_tokens=tokens,
                                      min_new_tokens=tokens, pad_token_id=50256)[0]) - len(PROMPT)
    return run


def complete_with_ctranslate2(folder, batch, beam, precision):
    import ctranslate2

    generator = ctranslate2.Generator(str(folder / "ct2"), device="cpu",
                                      intra_threads=int(os.environ["OMP_NUM_THREADS"]),
                                      compute_type={"f32": "float32", "i8": "int8"}[precision])
    prompts = [list(PROMPT.replace(" ", "\u0120"))] * batch
    return lambda tokens: len(generator.generate_batch(
        prompts, beam_size=beam, max_length=tokens, min_length=tokens, include_prompt_in_result=False)[0].sequences[0])


def used():
    times = os.times()
    return time.monotonic(), times.user + times.system, times.children_user + times.children_system


def peer(name, folder, batch, beam, tokens, precision):
    """Prints what the second call takes, and the peak memory."""
    run = globals()[name](folder, batch, beam, precision)
    run(2)
    start = used()
    written = run(tokens)
    end = used()
    print(json.dumps({"seconds": end[0] - start[0], "cpu": end[1] - start[1], "tokens": written,
                      "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def started(arguments, lines):
    """Seconds, processor time and peak memory in MB of a process."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as text:
        text.write(("\n".join(lines) + "\n").encode())
        text.seek(0)
        process = subprocess.Popen(arguments, stdin=text, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{arguments} failed")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def difference(more, less, parts, tokens):
    return {"seconds": (more[0] - less[0]) / parts, "cpu": (more[1] - less[1]) / parts, "mb": more[2], "start": less[1],
            "tokens": tokens}


def translate_with_headscope(program, folder, batch, beam, tokens, precision):
    padded = -(-(len(source_pieces(folder)) + 1) // 8) * 8
    arguments = [program, "translate", "--model", folder, "--device", "cpu", "--precision", precision,
                 "--beam", str(beam), "--max-length", str(tokens), "--max-extra", str(tokens), "--min-length",
                 str(tokens), "--batch-tokens", str(batch * padded)]
    batches = 9 if batch == 1 else 2  # 64 lines at most: those that are read at first
    return difference(started(arguments, [LINE] * batch * batches), started(arguments, [LINE] * batch), batches - 1,
                      tokens)


def complete_with_headscope(program, folder, batch, beam, tokens, precision):
    arguments = [program, "complete", "--model", folder, "--device", "cpu", "--precision", precision, "--beam",
                 str(beam), "--file", "-", "--max-tokens"]
    return difference(started(arguments + [str(tokens + 1)], [PROMPT] * batch),
                      started(arguments + ["1"], [PROMPT] * batch), 1, tokens)


def compare(work, options, precision, batch, beam):
    found = {}
    for _ in range(options.runs):
        for _ in range(3):  # differences vary more
            found.setdefault("headscope", []).append(globals()[work + "_with_headscope"](
                options.second.resolve(), options.first, batch, beam, options.tokens, precision))
        for name in options.peers:
            if precision == "i8" and name != "ctranslate2":
                continue
            output = subprocess.run([sys.executable, __file__, "peer", f"{work}_with_{name}", options.first, str(batch),
                                     str(beam), str(options.tokens), precision], stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL, check=True).stdout
            found.setdefault(name, []).append(json.loads(output.splitlines()[-1]))
    middle = {name: {key: statistics.median(run[key] for run in runs) for key in runs[0]}
              for name, runs in found.items()}
    own = middle["headscope"]
    for name, one in middle.items():
        start = f"  start {one['start']:.2f} s" if "start" in one else ""
        print(f"{precision} batch {batch:2} beam {beam}  {name:12} {one['tokens']:3.0f} tokens  {one['seconds']:7.2f} s"
              f"  {one['seconds'] / own['seconds']:5.2f}  processor {one['cpu']:7.2f} s  {one['cpu'] / own['cpu']:5.2f}"
              f"  {one['mb']:5.0f} MB{start}", flush=True)


def main():
    if sys.argv[1:2] == ["peer"]:
        name, folder, batch, beam, tokens, precision = sys.argv[2:]
        peer(name, pathlib.Path(folder), int(batch), int(beam), int(tokens), precision)
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("make", "make-gpt2", "run", "run-gpt2"))
    parser.add_argument("first", type=pathlib.Path)
    parser.add_argument("second", type=pathlib.Path, nargs="?")
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 4, 6])
    parser.add_argument("--precisions", nargs="+", default=["f32", "i8"])
    parser.add_argument("--peers", nargs="*", default=["transformers", "ctranslate2", "marian"])
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = os.environ["HEADSCOPE_THREADS"] = str(options.threads)
    if options.what == "make":
        make(options.first, options.second)
    elif options.what == "make-gpt2":
        make_gpt2(options.first)
    else:
        for precision in options.precisions:
            for batch in options.batches:
                for beam in options.beams:
                    compare("translate" if options.what == "run" else "complete", options, precision, batch, beam)


main()

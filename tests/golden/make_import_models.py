#!/usr/bin/env python3
"""Makes tests/import/models: tiny models in other programs' formats, with what those programs compute.

    python3 tests/golden/make_import_models.py [NAME...]      (all, or those whose names begin so)

Needs torch, transformers, tokenizers, sentencepiece, safetensors, ctranslate2, gguf and pymarian. Seeds are fixed, but
other versions give other weights: the files are the reference. answers.json is described in make_import_answers.py.
"""
import pathlib
import shutil
import sys

import torch
import transformers
from import_models.models import MODELS

FOLDER = pathlib.Path(__file__).parents[1] / "import" / "models"


def main():
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    for name, make in MODELS.items():
        if len(sys.argv) > 1 and not any(name.startswith(begin) for begin in sys.argv[1:]):
            continue
        folder = FOLDER / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        make(folder)
        print(name, sum(file.stat().st_size for file in folder.iterdir()), flush=True)


main()

"""ViT with a head for classes: what it makes of a drawn picture, as its image processor prepares that."""
import json

import numpy
import torch
import transformers
from PIL import Image, ImageDraw
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

from . import toy

LABELS = ["circle", "square", "striped, with a gradient"]


def drawn():
    """Neither side is a multiple of the other's or of the model's, and no two channels are alike."""
    width, height = 50, 37
    across, down = numpy.meshgrid(numpy.arange(width), numpy.arange(height))
    pixels = numpy.stack([across * 5, down * 6, (across * 3 + down * 4) % 256], axis=-1).astype(numpy.uint8)
    picture = Image.fromarray(pixels)
    draw = ImageDraw.Draw(picture)
    draw.ellipse([6, 5, 22, 21], fill=(230, 30, 60))
    draw.rectangle([30, 12, 43, 30], fill=(20, 90, 240))
    draw.line([0, 36, 49, 0], fill=(255, 255, 255), width=2)
    return picture


@torch.no_grad()
def make_vit(folder):
    drawn().save(folder / "picture.png")
    processor = ViTImageProcessorPil(size={"height": 12, "width": 12}, image_mean=[0.5, 0.4, 0.6],
                                     image_std=[0.5, 0.25, 0.3])
    processor.save_pretrained(folder)
    config = transformers.ViTConfig(hidden_size=12, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16,
                                    image_size=12, patch_size=4, id2label=dict(enumerate(LABELS)),
                                    label2id={label: i for i, label in enumerate(LABELS)})
    model = transformers.ViTForImageClassification(config)
    draw = torch.Generator().manual_seed(9)
    for parameter in model.parameters():
        parameter.data += torch.randn(parameter.shape, generator=draw) * 0.3
    model.eval()
    items = []
    for mode in ("RGB", "L"):
        picture = Image.open(folder / "picture.png").convert(mode).convert("RGB")
        name = "picture.png" if mode == "RGB" else "grey.png"
        if mode == "L":
            Image.open(folder / "picture.png").convert("L").save(folder / name)
        pixels = processor(picture, return_tensors="pt").pixel_values
        output = model(pixel_values=pixels, output_hidden_states=True)
        states = model.vit(pixel_values=pixels).last_hidden_state
        items.append({"picture": name, "scores": toy.numbers(output.logits[0].double()),
                      "states": toy.states(states[0]),
                      "pixels": toy.numbers(pixels[0, :, :4, :4].reshape(-1))})
    model.save_pretrained(folder)
    text = "[\n" + ",\n".join(json.dumps(item) for item in items) + "\n]\n"
    (folder / "pictures.json").write_text(text, encoding="utf-8")

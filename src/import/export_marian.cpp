// Writes Marian's .npz, decoder.yml and vocabularies.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/common.h"
#include "import/exporting.h"
#include "import/format_limits.h"
#include "import/formats.h"
#include "io/atomic_file.h"
#include "io/made_folder.h"
#include "io/npz_writer.h"

namespace headscope {

namespace {

using nlohmann::json;

void check_for_marian(const ModelDirectory& model, const Parameters& parameters) {
    Problems problems(model.path);
    const ModelConfig& net = model.config;
    FormatLimits limits(net, problems);
    limits.hold({"feed_forward.decoder_d_ff", "embedding.tying", "frame.suppressed_ids"});
    limits.require("architecture", {"encoder-decoder"});
    limits.require("positions.layout", {"halves_minus_one"});
    limits.require("attention.bias", {true});
    limits.require("output.bias", {true});
    limits.require("feed_forward.activation", {"relu", "swish", "gelu"});
    require_source_frame(model, limits, false);
    limits.finish();
    require_sentencepiece(model, problems);
    if (net.frame.bos_id >= 0) {
        const char* table = shares_tables(net.embedding.tying) ? "embedding.weight" : "target_embedding.weight";
        const std::vector<float> rows = parameters.values_of(table);
        const auto row = rows.begin() + net.frame.bos_id * net.embedding_columns();
        if (!std::all_of(row, row + net.embedding_columns(), [](float value) { return value == 0.0F; })) {
            problems.add("config.json",
                         fmt::format("\"frame.bos_id\" is {}, whose embedding is not zero: Marian starts from "
                                     "a zero vector",
                                     net.frame.bos_id));
        }
    }
    for (const auto& tokenizer : {model.source_tokenizer, model.target_tokenizer}) {
        for (const char* piece : {"</s>", "<unk>"}) {
            if (!tokenizer->vocabulary().find(piece)) {
                problems.add(tokenizer->name(), fmt::format("has no piece {}, which Marian needs", piece));
            }
        }
    }
    problems.finish();
}

std::string options_of(const ModelConfig& net) {
    const char* activation = net.feed_forward.activation == Activation::Swish  ? "swish"
                             : net.feed_forward.activation == Activation::Gelu ? "gelu"
                                                                               : "relu";
    std::string text;
    const auto add = [&](const char* key, const auto& value) { text += fmt::format("{}: {}\n", key, value); };
    add("type", "transformer");
    add("version", "v1.12.42 written by headscope");
    add("dim-emb", net.d_model);
    add("enc-depth", net.encoder_layers);
    add("dec-depth", net.decoder_layers);
    add("transformer-heads", net.attention.heads);
    add("transformer-dim-ffn", net.feed_forward.d_ff);
    add("transformer-decoder-dim-ffn", net.feed_forward.decoder_d_ff);
    add("transformer-ffn-activation", activation);
    add("transformer-ffn-depth", 2);
    add("transformer-decoder-ffn-depth", 0);
    add("transformer-preprocess", "\"\"");
    add("transformer-postprocess", "dan");
    add("transformer-postprocess-emb", "d");
    add("transformer-postprocess-top", "\"\"");
    add("transformer-decoder-autoreg", "self-attention");
    add("transformer-tied-layers", "[]");
    add("transformer-guided-alignment-layer", "last");
    for (const char* key :
         {"transformer-no-projection", "transformer-train-position-embeddings", "transformer-pool",
          "transformer-depth-scaling", "right-left", "skip", "layer-normalization", "ulr", "output-omit-bias"}) {
        add(key, false);
    }
    add("tied-embeddings-all", net.embedding.tying == Tying::All);
    add("tied-embeddings", net.embedding.tying == Tying::TargetOutput);
    add("tied-embeddings-src", net.embedding.tying == Tying::Embeddings);
    add("input-types", "[]");
    add("factors-dim-emb", 0);
    add("lemma-dim-emb", 0);
    text += fmt::format("dim-vocabs:\n  - {}\n  - {}\n", net.source_vocabulary, net.target_vocabulary);
    return text;
}

std::string vocabulary_of(const Tokenizer& tokenizer) {
    std::string text;
    std::int32_t id = 0;
    for (const Piece& piece : tokenizer.vocabulary().pieces()) {
        text += fmt::format("{}: {}\n", json(piece.text).dump(), id++);
    }
    return text;
}

}  // namespace

void export_marian(const ModelDirectory& model, const Parameters& parameters, const std::string& folder) {
    check_for_marian(model, parameters);
    const ModelConfig& net = model.config;
    std::vector<ExportedTensor> tensors = exported_tensors(marian_tensors(net, false), parameters);
    suppress(net, "decoder_ff_logit_out_b", tensors);
    NpzWriter npz;
    for (ExportedTensor& tensor : tensors) {
        if (tensor.shape.size() == 1) {
            tensor.shape.insert(tensor.shape.begin(), 1);
        }
        npz.add(tensor.name, tensor.shape, tensor.values);
    }
    npz.add_text("special:model.yml", options_of(net));
    MadeFolder made(folder);
    const auto write = [&](const char* name, const std::string& text) {
        atomic_write_file((std::filesystem::path(folder) / name).string(), text);
    };
    const std::string source = vocabulary_of(*model.source_tokenizer);
    const std::string target = vocabulary_of(*model.target_tokenizer);
    const bool shared = source == target;
    if (shared) {
        write("vocab.yml", source);
    } else {
        write("source.vocab.yml", source);
        write("target.vocab.yml", target);
    }
    write_segmenters(model, folder, "source.spm", "target.spm");
    write("model.npz", npz.finished());
    write("decoder.yml",
          fmt::format("relative-paths: true\nmodels:\n  - model.npz\nvocabs:\n  - {}\n  - {}\n"
                      "beam-size: {}\nnormalize: {}\n",
                      shared ? "vocab.yml" : "source.vocab.yml", shared ? "vocab.yml" : "target.vocab.yml",
                      model.decoding ? model.decoding->value("beam", 4) : 4,
                      power_of(model.decoding ? *model.decoding : json::object())));
    made.keep();
}

}  // namespace headscope

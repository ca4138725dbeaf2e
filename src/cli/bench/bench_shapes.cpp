#include "cli/bench/bench_shapes.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "import/open_model.h"
#include "infer/model_lookup.h"
#include "io/input_files.h"
#include "io/usual_places.h"
#include "model/family.h"
#include "model/model_directory.h"
#include "options/option_values.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

// Table 3 of the paper, the sizes of the shipped translation model, and language models.
struct Preset {
    const char* name;
    int encoder_layers, decoder_layers;
    std::int64_t d_model, d_ff, heads, vocabulary;
    float dropout;
    std::int64_t sentences, length;  // of a training step: 25,000 tokens per side for the paper's models
};
constexpr std::array kPresets{Preset{"small", 6, 3, 256, 1024, 8, 8000, 0.1F, 64, 32},
                              Preset{"base", 6, 6, 512, 2048, 8, 37000, 0.1F, 625, 40},
                              Preset{"big", 6, 6, 1024, 4096, 16, 37000, 0.3F, 625, 40},
                              Preset{"causal", 0, 6, 256, 1024, 8, 8000, 0.1F, 16, 256},
                              Preset{"masked", 6, 0, 256, 1024, 8, 8000, 0.1F, 16, 256}};
constexpr std::int64_t kTranslatedSentences = 64;
constexpr std::uint64_t kMostOfBatch = 1'000'000;  // sentences, and tokens of each

const Preset& preset_of(const std::string& name) {
    return *std::find_if(kPresets.begin(), kPresets.end(), [&](const Preset& preset) { return name == preset.name; });
}

void take(const Preset& preset, BenchKind kind, BenchSizes& sizes) {
    BenchShape& shape = sizes.shape;
    ModelConfig& model = shape.model;
    model.encoder_layers = preset.encoder_layers;
    model.decoder_layers = preset.decoder_layers;
    model.d_model = preset.d_model;
    model.feed_forward.d_ff = preset.d_ff;
    model.attention.heads = preset.heads;
    model.attention.d_k = model.attention.d_v = model.d_model / model.attention.heads;
    model.source_vocabulary = model.target_vocabulary = preset.vocabulary;
    sizes.named = model;
    shape.dropout = preset.dropout;
    shape.sentences = kind == BenchKind::Translate ? kTranslatedSentences : preset.sentences;
    shape.source_length = shape.target_length = preset.length;
}

}  // namespace

BenchSizes default_sizes(BenchKind kind) {
    BenchSizes sizes;
    take(preset_of(kind == BenchKind::Complete ? "causal" : "small"), kind, sizes);
    BenchShape& shape = sizes.shape;
    switch (kind) {
        case BenchKind::Train: break;
        case BenchKind::Translate:
            shape.model.encoder_layers = shape.model.decoder_layers = 4;
            shape.sentences = 32;
            break;
        case BenchKind::Complete:
            shape.sentences = 32;
            shape.source_length = 32;
            shape.target_length = 64;
            break;
        case BenchKind::Ops:
            shape.sentences = 40;  // 1,000 tokens
            shape.source_length = shape.target_length = 25;
            break;
    }
    return sizes;
}

void add_named_sizes(CLI::App& command, BenchKind kind, BenchSizes& sizes) {
    command.option_defaults()->group("Model");
    CLI::Option* config =
        command
            .add_option_function<std::string>(
                "--config", [kind, &sizes](const std::string& name) { take(preset_of(name), kind, sizes); },
                "Sizes of model and batch: the paper's base or big, small, or a language model, causal or masked; the "
                "options below override them")
            ->check(CLI::IsMember({"small", "base", "big", "causal", "masked"}));
    command
        .add_option_function<std::string>(
            "-m,--model",
            [&sizes](const std::string& wanted) {
                const std::string folder = model_folder(named_model(wanted, usual_places()));
                InputFiles inputs;
                inputs.add(folder);
                inputs.refuse("-");
                const ModelDirectory named = open_model(folder);
                require_text_input(named, "headscope bench");
                sizes.shape.model = sizes.named = named.config;
            },
            "Take the sizes of this model directory, with random weights")
        ->type_name("FOLDER")
        ->check(not_empty)
        ->excludes(config);
}

CLI::Option* add_sentences(CLI::App& command, BenchSizes& sizes) {
    command.option_defaults()->group("Batch");
    return command.add_option("--sentences", sizes.shape.sentences, "Sentences in the batch")
        ->check(whole_number(1, kMostOfBatch))
        ->capture_default_str();
}

void add_batch_sizes(CLI::App& command, BenchSizes& sizes) {
    add_sentences(command, sizes);
    command.add_option("--length", sizes.shape.source_length, "Tokens of each sentence, including <EOS>")
        ->check(whole_number(1, kMostOfBatch))
        ->capture_default_str();
}

void add_model_sizes(CLI::App& command, BenchSizes& sizes) {
    command.option_defaults()->group("Model");
    ModelConfig& model = sizes.shape.model;
    const CLI::Validator any = whole_number(1, 1'000'000);
    command.add_option("--encoder-layers", model.encoder_layers, "Layers of the encoder; 0: a causal language model")
        ->check(whole_number(0, 100))
        ->capture_default_str();
    command.add_option("--decoder-layers", model.decoder_layers, "Layers of the decoder; 0: a masked language model")
        ->check(whole_number(0, 100))
        ->capture_default_str();
    command.add_option("--d-model", model.d_model, "Width of embeddings and layer outputs; a multiple of --heads")
        ->check(any)
        ->capture_default_str();
    command.add_option("--d-ff", model.feed_forward.d_ff, "Inner width of the feed-forward layers")
        ->check(any)
        ->capture_default_str();
    command.add_option("--heads", model.attention.heads, "Attention heads per layer, each of width d-model / heads")
        ->check(any)
        ->capture_default_str();
    command.add_option("--vocabulary", model.target_vocabulary, "Pieces in the vocabulary, which is shared")
        ->check(whole_number(80, 1'000'000))
        ->capture_default_str();
    command
        .add_option("--adaptive-cutoffs", model.output.adaptive.cutoffs,
                    "An adaptive softmax whose clusters begin with these ids, of text whose pieces follow Zipf's law")
        ->check(whole_number(1, 1'000'000))
        ->delimiter(',')
        ->type_name("N,N..");
}

void complete(BenchSizes& sizes) {
    BenchShape& shape = sizes.shape;
    ModelConfig& model = shape.model;
    if (model.d_model != sizes.named.d_model || model.attention.heads != sizes.named.attention.heads) {
        if (model.d_model % model.attention.heads != 0) {
            throw UsageError(
                fmt::format("--d-model {} is not a multiple of --heads {}", model.d_model, model.attention.heads));
        }
        model.attention.d_k = model.attention.d_v = model.d_model / model.attention.heads;
    }
    if (model.target_vocabulary != sizes.named.target_vocabulary) {
        model.source_vocabulary = model.target_vocabulary;
    }
    if (model.encoder_layers == 0) {
        model.architecture = Architecture::CausalLm;
    } else if (model.decoder_layers == 0) {
        model.architecture = Architecture::MaskedLm;
        model.frame.mask_id =
            std::max({model.frame.pad_id, model.frame.bos_id, model.frame.eos_id, model.frame.unk_id}) + 1;
    }
    if (model.output.adaptive.cutoffs != sizes.named.output.adaptive.cutoffs) {
        model.embedding.tying = traits(model.architecture).reads_source ? Tying::Embeddings : Tying::None;
    }
    model.max_length = std::max({model.max_length, shape.source_length, shape.target_length});
    if (traits(model.architecture).continues_text) {
        model.max_length = std::max(model.max_length, shape.source_length + shape.target_length);
    }
    check_model_config(model, "the options of bench");
}

}  // namespace headscope

// fairseq's checkpoints of translation models: a .pt file, and dictionaries beside it.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/common.h"
#include "import/formats.h"
#include "support/check.h"
#include "text/vocabulary_file.h"

namespace headscope {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::int64_t kFirstPosition = 2;  // behind the pad, which is 1

// The options are a Namespace `args`, or in newer files a dictionary `cfg` of several, of which `model` is one.
const json& saved_options(const TensorArchive& archive) {
    const json& objects = archive.objects();
    if (const auto cfg = objects.find("cfg"); cfg != objects.end() && cfg->is_object() && cfg->contains("model")) {
        return cfg->at("model");
    }
    if (const auto args = objects.find("args"); args != objects.end() && args->is_object()) {
        return *args;
    }
    throw Error(
        fmt::format("{} is not a checkpoint of fairseq: it holds neither \"args\" nor \"cfg\"", archive.path()));
}

// "source_lang" or "target_lang": newer files have them among the options of the task.
std::string saved_language(const TensorArchive& archive, const char* key) {
    const json& objects = archive.objects();
    for (const json* options :
         {&saved_options(archive), objects.contains("cfg") && objects["cfg"].is_object() ? &objects["cfg"] : nullptr}) {
        if (options == nullptr) {
            continue;
        }
        const json& place =
            options->contains("task") && options->at("task").is_object() ? options->at("task") : *options;
        if (place.contains(key) && place.at(key).is_string()) {
            return place.at(key).get<std::string>();
        }
    }
    throw Error(fmt::format("{} does not say \"{}\": its dictionaries cannot be found", archive.path(), key));
}

// A dimension or a choice that both stacks have.
std::int64_t both(const ForeignConfig& config, const std::string& key, std::int64_t fallback) {
    return config.same("encoder_" + key, "decoder_" + key, fallback);
}

bool both_true(const ForeignConfig& config, const std::string& key) {
    const bool encoder = config.boolean("encoder_" + key, false);
    if (config.boolean("decoder_" + key, false) != encoder) {
        config.problem("decoder_" + key, "differs from encoder_" + key);
    }
    return encoder;
}

Tying fairseq_tying(const ForeignConfig& config) {
    const bool all = config.boolean("share_all_embeddings", false);
    const bool output = config.boolean("share_decoder_input_output_embed", false);
    return all ? Tying::All : output ? Tying::TargetOutput : Tying::None;
}

ModelConfig fairseq_network(const ForeignConfig& config, const TensorArchive& archive) {
    ModelConfig net;
    net.encoder_layers = static_cast<int>(config.integer("encoder_layers", 6, 1, 1024));
    net.decoder_layers = static_cast<int>(config.integer("decoder_layers", 6, 1, 1024));
    net.d_model = both(config, "embed_dim", 512);
    set_feed_forward(config.integer("encoder_ffn_embed_dim", 2048, 1), config.integer("decoder_ffn_embed_dim", 2048, 1),
                     net);
    const auto heads = [&](const char* key) { return config.integer(key, 8, 1, 65535); };
    set_heads(heads("encoder_attention_heads"), config, "encoder_attention_heads", net);
    set_decoder_heads(heads("decoder_attention_heads"), config, "decoder_attention_heads", net);
    net.feed_forward.activation = activation_of(config, "activation_fn", "relu");
    net.norm.placement = both_true(config, "normalize_before") ? NormPlacement::Pre : NormPlacement::Post;
    net.norm.epsilon = 1e-5F;
    net.attention.bias = true;
    net.embedding.norm = config.boolean("layernorm_embedding", false) ? EmbeddingNorm::Last : EmbeddingNorm::None;
    net.embedding.scale = !config.boolean("no_scale_embedding", false);
    net.embedding.tying = fairseq_tying(config);
    net.positions.layout = SinusoidLayout::HalvesMinusOne;
    net.positions.first = kFirstPosition;
    net.max_length =
        std::min(config.integer("max_source_positions", 1024, 1), config.integer("max_target_positions", 1024, 1));
    if (both_true(config, "learned_pos")) {
        net.positions = PositionsConfig();
        net.positions.kind = Positions::Learned;
        net.max_length = matrix_sides(archive, "model.encoder.embed_positions.weight")[0] - kFirstPosition;
    }
    for (const char* key : {"no_token_positional_embeddings", "adaptive_input", "no_cross_attention",
                            "cross_self_attention", "tie_adaptive_weights", "no_decoder_final_norm"}) {
        config.require(key, false);
    }
    config.require("decoder_output_dim", net.d_model);
    config.require("decoder_input_dim", net.d_model);
    if (config.has("adaptive_softmax_cutoff")) {
        config.problem("adaptive_softmax_cutoff", "is set: only the ordinary softmax is supported");
    }
    net.source_vocabulary = matrix_sides(archive, "model.encoder.embed_tokens.weight")[0];
    net.target_vocabulary = matrix_sides(archive, "model.decoder.embed_tokens.weight")[0];
    return net;
}

// In files of 2018 a layer's norms have numbers.
void add_old_norms(TensorMap& map, const ModelConfig& net) {
    const auto add = [&](const char* stack, int layers, const std::vector<std::string>& blocks) {
        for (int layer = 0; layer < layers; ++layer) {
            for (std::size_t i = 0; i < blocks.size(); ++i) {
                map.add_norm(fmt::format("model.{}.layers.{}.layer_norms.{}", stack, layer, i),
                             fmt::format("{}.layers.{}.{}.norm", stack, layer, blocks[i]));
            }
        }
    };
    add("encoder", net.encoder_layers, {"self_attention", "feed_forward"});
    add("decoder", net.decoder_layers, {"self_attention", "cross_attention", "feed_forward"});
}

TensorMap fairseq_tensors(const ModelConfig& net, const TensorArchive& archive) {
    TensorMap map;
    // Older files have another name for an output of its own.
    const bool older = archive.contains("model.decoder.embed_out");
    map.add_embeddings(net.embedding.tying, "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight",
                       older ? "model.decoder.embed_out" : "model.decoder.output_projection.weight");
    add_bart_stacks(map, net, "model.");
    for (const char* stack : {"encoder", "decoder"}) {
        map.add({.theirs = fmt::format("model.{}.embed_positions.weight", stack),
                 .ours = {fmt::format("{}.positions.weight", stack)},
                 .skipped_rows = kFirstPosition});
    }
    add_old_norms(map, net);
    map.ignore("*.version");
    map.ignore("*.embed_positions._float_tensor");
    map.ignore("*.embed_positions.weights");  // sinusoids
    for (const std::string& name : archive.names()) {
        if (!name.starts_with("model.")) {
            map.ignore(name);  // of the optimizer
        }
    }
    return map;
}

std::shared_ptr<const Tokenizer> open_fairseq_tokenizer(const std::string& folder, const std::string& language,
                                                        const std::string& side, std::int64_t size,
                                                        Problems& problems) {
    const std::string name = fmt::format("dict.{}.txt", language);
    const std::string alone = file_in(folder, "dict.txt");
    const std::string file =
        alone.empty() || !file_in(folder, name).empty() ? require_file(folder, name, "the dictionary") : alone;
    auto vocabulary = read_vocabulary(file);
    if (vocabulary->size() != size) {
        problems.add(file, fmt::format("has {} pieces with the four special ones, but the embedding has {} rows",
                                       vocabulary->size(), size));
    }
    return numbered_tokenizer(
        file_in(folder, {language + ".spm", side + ".spm", "spm." + language + ".model",
                         "sentencepiece." + language + ".model", "sentencepiece.bpe.model", "sentencepiece.model",
                         "spm.model", "bpecodes." + language, "codes." + language, "bpecodes", "codes", "code"}),
        std::move(vocabulary));
}

}  // namespace

ModelDirectory open_fairseq(const std::string& path) {
    std::string file = path;
    if (fs::is_directory(path)) {
        file = file_in(path, {"checkpoint_best.pt", "model.pt", "checkpoint_last.pt"});
    }
    const std::string folder = fs::path(file).parent_path().string();
    auto archive = std::make_shared<const TensorArchive>(open_pickle_archive(file));
    Problems problems(path);
    const ForeignConfig config(saved_options(*archive), fs::path(file).filename().string(), problems);
    ModelDirectory model{.path = path, .config = fairseq_network(config, *archive)};
    ModelConfig& net = model.config;
    model.source_tokenizer = open_fairseq_tokenizer(folder, saved_language(*archive, "source_lang"), "source",
                                                    net.source_vocabulary, problems);
    model.target_tokenizer = open_fairseq_tokenizer(folder, saved_language(*archive, "target_lang"), "target",
                                                    net.target_vocabulary, problems);
    remark_spaced_pieces(model);
    net.frame.pad_id = model.target_tokenizer->pad_id();
    net.frame.eos_id = model.target_tokenizer->eos_id();
    net.frame.unk_id = model.target_tokenizer->unk_id();
    net.frame.bos_id = net.frame.eos_id;
    net.frame.source_end = {model.source_tokenizer->eos_id()};
    model.decoding = std::make_shared<const json>(json{{"beam", 5},
                                                       {"length_penalty", 1.0},
                                                       {"length_penalty_form", "power"},
                                                       {"max_length", 200},
                                                       {"max_extra", 200}});
    model.decoding_origin = file;
    check_fairseq_options(config, file, model.remarks);
    problems.finish();
    TensorMap map = fairseq_tensors(net, *archive);
    model.weights = mapped_weights(std::move(archive), std::move(map));
    check_imported(model, file, {});
    return model;
}

}  // namespace headscope

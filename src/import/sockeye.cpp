// Sockeye 3: params.best, config, version and vocabularies.
#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/common.h"
#include "import/formats.h"
#include "import/yaml.h"
#include "io/whole_file.h"
#include "text/vocabulary_file.h"

namespace headscope {

namespace {

using nlohmann::json;

// Keys that nothing reads.
constexpr auto kSockeyeModelKeys = std::to_array<KeyRule>({
    {"config_data"},  // of training
    {"config_length_task", "null"},
    {"dtype"},
    {"config_embed_*"},
    {"intgemm_custom_lib"},
    {"neural_vocab_selection*", "null"},
});
constexpr auto kStackKeys = std::to_array<KeyRule>({
    {"dropout_*"},
    {"max_seq_len_target"},  // output may be as long as the source's limit
    {"block_prepended_cross_attention", "false"},
    {"use_encoder_decoder_attention", "true"},
});

// The configurations of both stacks, which must agree but for the number of layers.
void read_stacks(const ForeignConfig& encoder, const ForeignConfig& decoder, ModelConfig& net) {
    const auto each = [&](const char* key, std::int64_t fallback) {
        return std::pair{encoder.integer(key, fallback, 1), decoder.integer(key, fallback, 1)};
    };
    const auto both = [&](const char* key, std::int64_t fallback) {
        const auto [value, other] = each(key, fallback);
        if (other != value) {
            decoder.problem(key, fmt::format("differs from the encoder's, which is {}", value));
        }
        return value;
    };
    net.positions.layout = SinusoidLayout::Halves;
    net.encoder_layers = static_cast<int>(encoder.integer("num_layers", 6, 1, 1024));
    net.decoder_layers = static_cast<int>(decoder.integer("num_layers", 6, 1, 1024));
    net.d_model = both("model_size", 512);
    const auto [d_ff, decoder_d_ff] = each("feed_forward_num_hidden", 2048);
    set_feed_forward(d_ff, decoder_d_ff, net);
    net.max_length = both("max_seq_len_source", 99);
    const auto [heads, decoder_heads] = each("attention_heads", 8);
    set_heads(heads, encoder, "attention_heads", net);
    set_decoder_heads(decoder_heads, decoder, "attention_heads", net);
    net.feed_forward.activation = activation_of(encoder, "act_type", "relu");
    for (const ForeignConfig* stack : {&encoder, &decoder}) {
        stack->require("decoder_type", "transformer");
        stack->require("preprocess_sequence", "n");
        stack->require("postprocess_sequence", "dr");
        stack->require("use_glu", false);
        stack->require("use_lhuc", false);
        stack->require("act_type", encoder.at("act_type"));
        stack->require("depth_key_value", net.d_model);
        if (const std::string type = stack->text("positional_embedding_type", "fixed"); type == "learned") {
            net.positions = PositionsConfig();
            net.positions.kind = Positions::Learned;
        } else if (type != "fixed") {
            stack->problem("positional_embedding_type", fmt::format("is \"{}\": expected fixed or learned", type));
        }
    }
}

Tying sockeye_tying(const ForeignConfig& config) {
    const std::string type = config.text("weight_tying_type", "none");
    return tying_of(type.find("src") != std::string::npos, type.find("softmax") != std::string::npos);
}

// Queries come first; the rows of keys and values alternate, head by head.
void add_sockeye_stack(TensorMap& map, const std::string& stack, const ModelConfig& net, int layers) {
    for (int i = 0; i < layers; ++i) {
        const std::string theirs = fmt::format("{}.layers.{}.", stack, i);
        const std::string ours = fmt::format("{}.layers.{}.", stack, i);
        const std::string self = ours + "self_attention.";
        const std::string cross = ours + "cross_attention.";
        const bool encodes = stack == "encoder";
        const std::string theirs_self = theirs + (encodes ? "self_attention" : "autoregr_layer");
        map.add({.theirs = theirs_self + ".ff_in.weight",
                 .ours = {self + "q.weight", self + "k.weight", self + "v.weight"},
                 .interleaved_heads = net.attention.heads,
                 .interleaved_from = 1});
        map.add({.theirs = theirs_self + ".ff_out.weight", .ours = {self + "output.weight"}});
        map.add_norm(theirs + (encodes ? "pre_self_attention" : "pre_autoregr_layer") + ".layer_norm", self + "norm");
        map.add({.theirs = theirs + "enc_attention.ff_q.weight", .ours = {cross + "q.weight"}});
        map.add({.theirs = theirs + "enc_attention.ff_kv.weight",
                 .ours = {cross + "k.weight", cross + "v.weight"},
                 .interleaved_heads = net.attention.heads});
        map.add({.theirs = theirs + "enc_attention.ff_out.weight", .ours = {cross + "output.weight"}});
        map.add_norm(theirs + "pre_enc_attention.layer_norm", cross + "norm");
        map.add_linear(theirs + "ff.ff1", ours + "feed_forward.inner");
        map.add_linear(theirs + "ff.ff2", ours + "feed_forward.outer");
        map.add_norm(theirs + "pre_ff.layer_norm", ours + "feed_forward.norm");
    }
    map.add_norm(stack + ".final_process.layer_norm", stack + ".norm");
    if (net.positions.kind == Positions::Learned) {
        map.add({.theirs = stack + ".pos_embedding.weight", .ours = {stack + ".positions.weight"}});
    } else {
        map.ignore(stack + ".pos_embedding.weight");  // sinusoids
    }
}

TensorMap sockeye_tensors(const ModelConfig& net) {
    TensorMap map;
    map.add_embeddings(net.embedding.tying, "embedding_source.embedding.weight", "embedding_target.embedding.weight",
                       "output_layer.weight");
    map.add({.theirs = "output_layer.bias", .ours = {"output.bias"}});
    add_sockeye_stack(map, "encoder", net, net.encoder_layers);
    add_sockeye_stack(map, "decoder", of_stack(net, AttentionKind::DecoderSelf), net.decoder_layers);
    return map;
}

std::shared_ptr<const Tokenizer> open_sockeye_tokenizer(const std::string& folder, const std::string& side,
                                                        std::int64_t size, const ForeignConfig& config) {
    const std::string name = fmt::format("vocab.{}.0.json", side);
    auto vocabulary = read_vocabulary(require_file(folder, name, "the vocabulary"));
    if (vocabulary->size() != size) {
        config.problem(side == "src" ? "vocab_source_size" : "vocab_target_size",
                       fmt::format("is {}, but {} has {} pieces", size, name, vocabulary->size()));
    }
    return numbered_tokenizer("", std::move(vocabulary));
}

}  // namespace

ModelDirectory open_sockeye(const std::string& folder) {
    const std::string file = require_file(folder, "config", "the configuration");
    const json options = parse_yaml(read_whole_file(file, file), file);
    Problems problems(folder);
    const ForeignConfig config(options, "config", problems);
    for (const char* stack : {"config_encoder", "config_decoder"}) {
        if (!config.at(stack).is_object()) {
            config.problem(stack, "is missing");
        }
    }
    problems.finish();
    ModelDirectory model{.path = folder};
    ModelConfig& net = model.config;
    const ForeignConfig encoder(options["config_encoder"], "config: config_encoder", problems);
    const ForeignConfig decoder(options["config_decoder"], "config: config_decoder", problems);
    read_stacks(encoder, decoder, net);
    config.require("lhuc", false);
    for (const char* side : {"config_embed_source", "config_embed_target"}) {
        if (config.at(side).is_object()) {
            ForeignConfig(config.at(side), fmt::format("config: {}", side), problems).require("num_factors", 1);
        }
    }
    net.norm.placement = NormPlacement::Pre;
    net.norm.epsilon = 1e-6F;
    net.output.bias = true;
    net.embedding.tying = sockeye_tying(config);
    net.source_vocabulary = config.integer("vocab_source_size", 0, 1);
    net.target_vocabulary = config.integer("vocab_target_size", 0, 1);
    model.source_tokenizer = open_sockeye_tokenizer(folder, "src", net.source_vocabulary, config);
    model.target_tokenizer = open_sockeye_tokenizer(folder, "trg", net.target_vocabulary, config);
    remark_spaced_pieces(model);
    net.frame.pad_id = model.target_tokenizer->pad_id();
    net.frame.bos_id = model.target_tokenizer->bos_id();
    net.frame.eos_id = model.target_tokenizer->eos_id();
    net.frame.unk_id = model.target_tokenizer->unk_id();
    net.frame.source_end = {model.source_tokenizer->eos_id()};
    model.decoding =
        std::make_shared<const json>(json{{"beam", 5}, {"length_penalty", 1.0}, {"length_penalty_form", "power"}});
    model.decoding_origin = folder;
    std::vector<std::string> unknown = config.unknown_keys(kSockeyeModelKeys);
    for (const ForeignConfig* stack : {&encoder, &decoder}) {
        std::ranges::copy(stack->unknown_keys(kStackKeys), std::back_inserter(unknown));
    }
    remark_unknown_keys(file, unknown, model.remarks);
    problems.finish();
    auto archive = std::make_shared<const TensorArchive>(
        open_pickle_archive(require_file(folder, "params.best", "the parameters")));
    model.weights = mapped_weights(std::move(archive), sockeye_tensors(net));
    check_imported(model, file_in(folder, "config"),
                   {{"source_vocabulary", "vocab_source_size"}, {"target_vocabulary", "vocab_target_size"}});
    return model;
}

}  // namespace headscope

// Original Marian models: .npz with the configuration inside, decoder.yml and vocabularies beside.
#include <array>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/common.h"
#include "import/formats.h"
#include "import/marian_folder.h"
#include "import/yaml.h"
#include "support/check.h"
#include "text/vocabulary_file.h"

namespace headscope {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kConfig = "special:model.yml";

// "v1.12.31 abc.. 2024-.." -> {1, 12, 31}; zeros if it is missing.
std::array<int, 3> version_of(const ForeignConfig& config) {
    std::array<int, 3> version{};
    std::sscanf(config.text("version", "").c_str(), "v%d.%d.%d", &version[0], &version[1], &version[2]);
    return version;
}

Activation activation(const ForeignConfig& config) {
    const std::string name = config.text("transformer-ffn-activation", "swish");
    if (name == "gelu" && version_of(config) < std::array{1, 12, 0}) {
        return Activation::GeluSigmoid;
    }
    return activation_of(config, "transformer-ffn-activation", "swish");
}

NormPlacement norm_placement(const ForeignConfig& config) {
    const std::string before = config.text("transformer-preprocess", "");
    const std::string after = config.text("transformer-postprocess", "dan");
    const std::string top = config.text("transformer-postprocess-top", "");
    config.require("transformer-postprocess-emb", "d");
    if (before.empty() && after == "dan" && top.empty()) {
        return NormPlacement::Post;
    }
    if (before == "n" && after == "da" && top == "n") {
        if (version_of(config) < std::array{1, 10, 28}) {
            config.problem(
                "version",
                fmt::format("is {}: before v1.10.28 Marian trained pre-norm models with keys and values that "
                            "are not normalised, which is another architecture",
                            config.at("version").dump()));
        }
        return NormPlacement::Pre;
    }
    config.problem(
        "transformer-postprocess",
        fmt::format("is \"{}\", with transformer-preprocess \"{}\" and transformer-postprocess-top \"{}\": only "
                    "\"dan\", \"\", \"\" and \"da\", \"n\", \"n\" are supported",
                    after, before, top));
    return NormPlacement::Post;
}

Tying marian_tying(const ForeignConfig& config) {
    const bool all = config.boolean("tied-embeddings-all", false);
    const Tying other =
        tying_of(config.boolean("tied-embeddings-src", false), config.boolean("tied-embeddings", false));
    return all ? Tying::All : other;
}

void require_transformer(const ForeignConfig& config) {
    config.require("type", "transformer");
    if (const std::string layer = config.text("transformer-decoder-autoreg", "self-attention");
        layer != "self-attention") {
        config.problem(
            "transformer-decoder-autoreg",
            fmt::format("is \"{}\": such decoders (SSRU and average-attention students) are not Transformers", layer));
    }
    config.require("transformer-no-projection", false);
    config.require("transformer-ffn-depth", 2);
    config.require("transformer-decoder-ffn-depth", 0);
    config.require("transformer-tied-layers", json::array());
    config.require("transformer-pool", false);
    config.require("right-left", false);
    config.require("ulr", false);
    config.require("output-omit-bias", false);
    config.require("input-types", json::array());
    config.require("factors-dim-emb", 0);
    config.require("lemma-dim-emb", 0);
    config.require("layer-normalization", false);
    config.require("transformer-disable-position-embeddings", false);
    if (const std::string mask = config.text("transformer-attention-mask", "default"); mask != "default") {
        config.problem("transformer-attention-mask",
                       fmt::format("is \"{}\": only \"default\" is supported, without ALiBi's slopes", mask));
    }
}

ModelConfig network_of(const ForeignConfig& config, const TensorArchive& archive) {
    require_transformer(config);
    ModelConfig net;
    net.encoder_layers = static_cast<int>(config.integer("enc-depth", 6, 1, 1024));
    net.decoder_layers = static_cast<int>(config.integer("dec-depth", 6, 1, 1024));
    net.d_model = config.integer("dim-emb", 512, 1);
    net.feed_forward.d_ff = config.integer("transformer-dim-ffn", 2048, 1);
    if (const std::int64_t other = config.integer("transformer-decoder-dim-ffn", 0); other != 0) {
        set_feed_forward(net.feed_forward.d_ff, other, net);
    }
    set_heads(config.integer("transformer-heads", 8, 1, 65535), config, "transformer-heads", net);
    net.feed_forward.activation = activation(config);
    net.norm.placement = norm_placement(config);
    net.norm.epsilon = 1e-6F;
    net.attention.bias = true;
    net.output.bias = true;
    net.embedding.tying = marian_tying(config);
    net.positions.layout = SinusoidLayout::HalvesMinusOne;
    if (archive.contains("Wpos")) {  // the option of the configuration is not reliable
        net.positions = PositionsConfig();
        net.positions.kind = Positions::Learned;
        net.max_length = matrix_sides(archive, "Wpos")[0];
        net.embedding.scale = false;
    }
    const json& sizes = config.at("dim-vocabs");
    if (!sizes.is_array() || sizes.size() != 2 || !sizes[0].is_number_integer() || !sizes[1].is_number_integer()) {
        config.problem("dim-vocabs",
                       fmt::format("is {}: expected two sizes, of one source and one target", sizes.dump()));
        return net;
    }
    net.source_vocabulary = sizes[0].get<std::int64_t>();
    net.target_vocabulary = sizes[1].get<std::int64_t>();
    return net;
}

// Matrices are [in, out], biases and norms [1, n]. The embeddings are not transposed.
void add_marian_stack(TensorMap& map, const std::string& stack, const ModelConfig& net, int layers) {
    const std::string suffix = net.norm.placement == NormPlacement::Pre ? "_pre" : "";
    const auto linear = [&](const std::string& theirs, const char* which, const std::string& ours) {
        map.add({.theirs = theirs + "W" + which, .ours = {ours + ".weight"}, .transposed = true});
        map.add({.theirs = theirs + "b" + which, .ours = {ours + ".bias"}});
    };
    const auto norm = [&](const std::string& theirs, const std::string& end, const std::string& ours) {
        map.add({.theirs = theirs + "_ln_scale" + end, .ours = {ours + ".gain"}});
        map.add({.theirs = theirs + "_ln_bias" + end, .ours = {ours + ".bias"}});
    };
    const auto attention = [&](const std::string& theirs, const std::string& ours) {
        linear(theirs, "q", ours + ".q");
        linear(theirs, "k", ours + ".k");
        linear(theirs, "v", ours + ".v");
        linear(theirs, "o", ours + ".output");
        norm(theirs + "Wo", suffix, ours + ".norm");
    };
    for (int i = 0; i < layers; ++i) {
        const std::string theirs = fmt::format("{}_l{}_", stack, i + 1);
        const std::string ours = fmt::format("{}.layers.{}.", stack, i);
        attention(theirs + "self_", ours + "self_attention");
        attention(theirs + "context_", ours + "cross_attention");
        linear(theirs + "ffn_", "1", ours + "feed_forward.inner");
        linear(theirs + "ffn_", "2", ours + "feed_forward.outer");
        norm(theirs + "ffn_ffn", suffix, ours + "feed_forward.norm");
    }
    norm(stack + "_top", "", stack + ".norm");
    map.add({.theirs = "Wpos", .ours = {stack + ".positions.weight"}});
}

}  // namespace

TensorMap marian_tensors(const ModelConfig& net, bool older) {
    TensorMap map;
    map.add({.theirs = "Wemb", .ours = {"embedding.weight"}});
    map.add({.theirs = "encoder_Wemb", .ours = {"source_embedding.weight"}});
    map.add({.theirs = "decoder_Wemb", .ours = {"target_embedding.weight"}});
    // [V, d], or in older files [d, V].
    map.add({.theirs = older ? "decoder_ff_logit_out_W" : "decoder_ff_logit_out_Wt",
             .ours = {"output.weight"},
             .transposed = older});
    map.add({.theirs = "decoder_ff_logit_out_b", .ours = {"output.bias"}});
    add_marian_stack(map, "encoder", net, net.encoder_layers);
    add_marian_stack(map, "decoder", net, net.decoder_layers);
    return map;
}

namespace {

// The vocabulary gives the ids. Pieces come from a SentencePiece model beside, or from the vocabulary if it is one, or
// texts are pieces and blanks.
std::shared_ptr<const Tokenizer> open_marian_tokenizer(const std::string& file, const std::string& side,
                                                       const std::string& decoder) {
    if (!fs::exists(file)) {
        throw Error(fmt::format("{} is missing, which {} names", file, decoder));
    }
    if (file.ends_with(".fsv")) {
        throw Error(fmt::format("{} is a factored vocabulary, which is not supported", file));
    }
    auto vocabulary = read_vocabulary(file, {.eos = "</s>", .unk = "<unk>"});
    if (file.ends_with(".spm")) {
        return std::make_shared<const Tokenizer>(Tokenizer::load(file, std::move(vocabulary)));
    }
    const std::string pieces = file_in(fs::path(file).parent_path().string(), side + ".spm");
    return numbered_tokenizer(pieces, std::move(vocabulary));
}

}  // namespace

ModelDirectory open_marian(const std::string& path) {
    const MarianFiles files = find_marian_files(path);
    auto archive = std::make_shared<const TensorArchive>(open_npz_archive(files.weights));
    if (!archive->objects().contains(kConfig)) {
        throw Error(fmt::format("{} has no {}: it is not a model of Marian, or of 2017", files.weights, kConfig));
    }
    const json options = parse_yaml(archive->objects().at(kConfig).get<std::string>(), kConfig);
    Problems problems(path);
    const ForeignConfig config(options, kConfig, problems);
    ModelDirectory model{.path = path, .config = network_of(config, *archive), .remarks = files.remarks};
    ModelConfig& net = model.config;
    model.source_tokenizer = open_marian_tokenizer(files.vocabularies[0], "source", files.decoder);
    model.target_tokenizer = open_marian_tokenizer(files.vocabularies[1], "target", files.decoder);
    remark_spaced_pieces(model);
    const auto check_size = [&](const Tokenizer& tokenizer, std::int64_t size) {
        if (tokenizer.size() != size) {
            config.problem("dim-vocabs",
                           fmt::format("has {}, but {} has {} pieces", size, tokenizer.name(), tokenizer.size()));
        }
    };
    check_size(*model.source_tokenizer, net.source_vocabulary);
    check_size(*model.target_tokenizer, net.target_vocabulary);
    net.frame.pad_id = -1;
    net.frame.bos_id = -1;
    net.frame.eos_id = model.target_tokenizer->eos_id();
    net.frame.unk_id = model.target_tokenizer->unk_id();
    net.frame.source_end = {model.source_tokenizer->eos_id()};
    model.decoding = std::make_shared<const json>(marian_decoding(files, problems, model.remarks));
    model.decoding_origin = files.weights;
    add_opus_languages(model);
    check_marian_keys(config, files.weights, model.remarks);
    problems.finish();
    TensorMap map = marian_tensors(net, archive->contains("decoder_ff_logit_out_W"));
    model.weights = mapped_weights(std::move(archive), std::move(map));
    check_imported(model, path,
                   {{"source_vocabulary", "dim-vocabs"}, {"target_vocabulary", "dim-vocabs"}, {"d_model", "dim-emb"}});
    return model;
}

}  // namespace headscope

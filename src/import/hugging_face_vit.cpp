// Hugging Face's ViT with a head for classes, and how its pictures are prepared.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/common.h"
#include "import/formats.h"
#include "import/hugging_face.h"
#include "import/hugging_face_scores.h"
#include "io/strict_json.h"
#include "model/frame_of_config.h"
#include "text/picture_pieces.h"

namespace headscope {

namespace {

constexpr const char* kPreparation = "preprocessor_config.json";
constexpr std::int64_t kMostPixelsOfSide = 4096;

// What changes no pixel: pictures are read with as many channels as the model needs.
constexpr auto kPreparationKeys = std::to_array<KeyRule>({
    {"image_processor_type"},
    {"feature_extractor_type"},
    {"processor_class"},
    {"do_convert_rgb"},
    {"data_format"},
    {"input_data_format"},
    {"default_to_square", "true"},
    {"device"},
    {"return_tensors"},
    {"disable_grouping"},
});

// A number, or the same one for both sides.
std::int64_t side_of(const ForeignConfig& config, const char* key, std::int64_t usual) {
    const nlohmann::json& value = config.at(key);
    const auto one_of = [&](const nlohmann::json& one) {
        return config.integer_in(one, key, usual, 1, kMostPixelsOfSide);
    };
    if (value.is_array() && value.size() == 2 && value[0] == value[1]) {
        return one_of(value[0]);
    }
    if (value.is_object() && value.contains("height") && value.contains("width") && value["height"] == value["width"]) {
        return one_of(value["height"]);
    }
    if (value.is_array() || value.is_object()) {
        config.problem(key, fmt::format("is {}: only squares are supported", value.dump()));
        return usual;
    }
    return config.integer(key, usual, 1, kMostPixelsOfSide);
}

ModelConfig network(const ForeignConfig& config) {
    ModelConfig net;
    net.architecture = Architecture::Encoder;
    net.decoder_layers = 0;
    net.encoder_layers = static_cast<int>(config.integer("num_hidden_layers", 12, 1, 1024));
    net.d_model = config.integer("hidden_size", 768, 1);
    net.feed_forward.d_ff = config.integer("intermediate_size", 3072, 1);
    set_heads(config.integer("num_attention_heads", 12, 1, 65535), config, "num_attention_heads", net);
    net.feed_forward.activation = activation_of(config, "hidden_act", "gelu");
    net.attention.bias = true;
    config.require("qkv_bias", true);
    net.norm.placement = NormPlacement::Pre;
    net.norm.epsilon = static_cast<float>(config.number("layer_norm_eps", 1e-12));
    net.positions.kind = Positions::Learned;
    net.input.kind = InputKind::Patches;
    net.input.picture = side_of(config, "image_size", 224);
    net.input.patch = side_of(config, "patch_size", 16);
    net.input.channels = config.integer("num_channels", 3, 1, 3);
    if (net.input.channels == 2) {
        config.problem("num_channels", "is 2: only 1 and 3 are supported");
        net.input.channels = 3;
    }
    net.input.class_token = true;
    net.max_length = patches_of(net)->positions();
    net.source_vocabulary = net.target_vocabulary = net.input.channels * kChannelValues;
    net.frame.source_end.clear();
    return net;
}

std::vector<double> of_channels(const ForeignConfig& config, const char* key, const ModelConfig& net) {
    std::vector<double> numbers(static_cast<std::size_t>(net.input.channels), 0.5);
    const nlohmann::json& value = config.at(key);
    if (value.is_null()) {
        config.problem(key, "is missing: the numbers by which pictures are normalised");
    } else if (!value.is_array() || value.size() != numbers.size() ||
               !std::all_of(value.begin(), value.end(), [](const auto& one) { return one.is_number(); })) {
        config.problem(key,
                       fmt::format("is {}: expected a number for each of {} channels", value.dump(), numbers.size()));
    } else {
        numbers = value.get<std::vector<double>>();
    }
    return numbers;
}

// What preprocessor_config.json does to a picture.
void read_preparation(const ForeignConfig& config, ModelConfig& net) {
    constexpr std::int64_t kBilinear = 2;
    constexpr double kScale = 1.0 / 255.0;
    config.require("do_resize", true);
    config.require("do_rescale", true);
    config.require("do_center_crop", false);
    config.require("do_pad", false);
    if (config.integer("resample", kBilinear) != kBilinear) {
        config.problem("resample", fmt::format("is {}: only 2, bilinear, is supported", config.at("resample").dump()));
    }
    if (std::abs(config.number("rescale_factor", kScale) - kScale) > 1e-9) {
        config.problem("rescale_factor", "must be 1 / 255");
    }
    if (const std::int64_t side = side_of(config, "size", net.input.picture); side != net.input.picture) {
        config.problem("size", fmt::format("is {}, but \"image_size\" in config.json is {}", side, net.input.picture));
    }
    if (config.boolean("do_normalize", true)) {
        net.input.mean = of_channels(config, "image_mean", net);
        net.input.deviation = of_channels(config, "image_std", net);
        if (std::ranges::any_of(net.input.deviation, [](double one) { return one < 1e-3; })) {
            config.problem("image_std", "must be at least 0.001, since values are divided by it");
        }
    } else {
        net.input.mean.assign(static_cast<std::size_t>(net.input.channels), 0.0);
        net.input.deviation.assign(static_cast<std::size_t>(net.input.channels), 1.0);
    }
}

// transformers 5 has other names in memory, and writes those of before.
TensorMap vit_tensors(const ModelConfig& net, const ScoreTensors& scores, const std::string& prefix) {
    TensorMap map;
    const std::string embeddings = prefix + "embeddings.";
    map.add({.theirs = embeddings + "cls_token", .ours = {"encoder.class_token.bias"}});
    map.add({.theirs = embeddings + "position_embeddings", .ours = {"encoder.positions.weight"}, .flattened = true});
    map.add({.theirs = embeddings + "patch_embeddings.projection.weight",
             .ours = {"encoder.patches.weight"},
             .flattened = true});
    map.add({.theirs = embeddings + "patch_embeddings.projection.bias", .ours = {"encoder.patches.bias"}});
    for (int i = 0; i < net.encoder_layers; ++i) {
        const std::string theirs = fmt::format("{}encoder.layer.{}.", prefix, i);
        const std::string ours = fmt::format("encoder.layers.{}.", i);
        map.add_norm(theirs + "layernorm_before", ours + "self_attention.norm");
        map.add_linear(theirs + "attention.attention.query", ours + "self_attention.q");
        map.add_linear(theirs + "attention.attention.key", ours + "self_attention.k");
        map.add_linear(theirs + "attention.attention.value", ours + "self_attention.v");
        map.add_linear(theirs + "attention.output.dense", ours + "self_attention.output");
        map.add_norm(theirs + "layernorm_after", ours + "feed_forward.norm");
        map.add_linear(theirs + "intermediate.dense", ours + "feed_forward.inner");
        map.add_linear(theirs + "output.dense", ours + "feed_forward.outer");
    }
    map.add_norm(prefix + "layernorm", "encoder.norm");
    map.ignore("*embeddings.mask_token");
    for (const char* end : {"weight", "bias"}) {
        map.ignore(fmt::format("*pooler.dense.{}", end));
    }
    add_score_tensors(map, scores);
    return map;
}

}  // namespace

ModelDirectory open_vit(const std::string& folder, const nlohmann::json& json) {
    Problems problems(folder);
    const ForeignConfig config(json, "config.json", problems);
    const nlohmann::json prepared =
        read_json_file(require_file(folder, kPreparation, "how pictures are resized and normalised"));
    const ForeignConfig preparation(prepared, kPreparation, problems);
    const ScoreTensors scores{"", ScoreLayer::None, "classifier"};
    ModelDirectory model{.path = folder, .config = network(config)};
    read_preparation(preparation, model.config);
    set_scores(config, scores, model.config.output);
    if (!model.config.output.has_classes()) {
        config.problem("architectures",
                       "must be [\"ViTForImageClassification\"]: a ViT without a head for classes "
                       "answers nothing");
    }
    const PatchShape shape = patches_of(model.config)->shape;
    if (shape.picture % shape.patch != 0) {
        config.problem("image_size",
                       fmt::format("is {}, no multiple of \"patch_size\" {}", shape.picture, shape.patch));
    }
    check_keys(config, problems, model);
    remark_unknown_keys((std::filesystem::path(folder) / kPreparation).string(),
                        preparation.unknown_keys(kPreparationKeys), model.remarks);
    problems.finish();
    model.source_tokenizer = model.target_tokenizer =
        std::make_shared<const Tokenizer>(Tokenizer::from_bytes(picture_pieces_file(shape), folder));
    auto archive = open_folder_weights(folder);
    TensorMap map = vit_tensors(model.config, scores, prefix_in(*archive, "vit."));
    model.weights = mapped_weights(std::move(archive), std::move(map));
    check_hugging_face(model);
    return model;
}

}  // namespace headscope

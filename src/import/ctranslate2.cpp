// CTranslate2's model.bin, versions 2 to 6, of encoder-decoders.
#include <array>
#include <cmath>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/common.h"
#include "import/ctranslate2_frame.h"
#include "import/formats.h"
#include "io/strict_json.h"

namespace headscope {

namespace {

using nlohmann::json;

// From version 6 on the settings are in config.json, before among the objects of model.bin.
class Settings {
public:
    Settings(const std::string& folder, const TensorArchive& archive)
        : file_(file_in(folder, "config.json")),
          json_(file_.empty() ? archive.objects() : read_json_file(file_)),
          name_(file_.empty() ? "model.bin" : "config.json") {}

    ForeignConfig reader(Problems& problems) const { return {json_, name_, problems}; }

private:
    std::string file_;
    json json_;
    std::string name_;
};

bool same_tensor(const TensorArchive& archive, const std::string& one, const std::string& other) {
    return archive.contains(one) && archive.contains(other) &&
           archive.entry(one).data.bytes.data() == archive.entry(other).data.bytes.data();
}

std::string source_embedding(const TensorArchive& archive) {
    return archive.contains("encoder/embeddings_0/weight") ? "encoder/embeddings_0/weight"
                                                           : "encoder/embeddings/weight";
}

Tying read_tying(const TensorArchive& archive) {
    const bool shared = same_tensor(archive, source_embedding(archive), "decoder/embeddings/weight");
    const bool tied = same_tensor(archive, "decoder/projection/weight", "decoder/embeddings/weight");
    return tying_of(shared, tied);
}

int count_layers(const TensorArchive& archive, const std::string& stack) {
    int layers = 0;
    while (archive.contains(fmt::format("{}/layer_{}/self_attention/linear_0/weight", stack, layers))) {
        ++layers;
    }
    return layers;
}

// The scalars of both stacks, which must agree.
class Scalars {
public:
    Scalars(const TensorArchive& archive, Problems& problems)
        : objects_(archive.objects()), reader_(objects_, "model.bin", problems) {}

    template <class Read>
    auto both(const std::string& name, const Read& read) const {
        const auto value = read(reader_, "encoder/" + name);
        if (read(reader_, "decoder/" + name) != value) {
            reader_.problem("decoder/" + name, "differs from encoder/" + name + ": they must be equal");
        }
        return value;
    }
    std::int64_t integer(const std::string& name, std::int64_t fallback, std::int64_t least = 0) const {
        return both(name, [&](const ForeignConfig& from, const std::string& key) {
            return from.integer(key, fallback, least);
        });
    }
    const ForeignConfig& reader() const { return reader_; }

private:
    const json& objects_;
    ForeignConfig reader_;
};

Activation activation_numbered(const Scalars& scalars) {
    switch (scalars.integer("activation", 0)) {
        case 0: return Activation::Relu;
        case 1: return Activation::GeluTanh;
        case 2: return Activation::Swish;
        case 3: return Activation::Gelu;
        case 4: return Activation::GeluSigmoid;
        default: scalars.reader().problem("encoder/activation", "is not supported: expected 0 to 4");
    }
    return Activation::Relu;
}

// A factor since version 4 or so; before, whether to scale by sqrt(d_model).
bool scales(const Scalars& scalars, std::int64_t d_model) {
    const double root = std::sqrt(static_cast<double>(d_model));
    const double factor = scalars.both("scale_embeddings", [&](const ForeignConfig& from, const std::string& key) {
        const json& value = from.at(key);
        return value.is_number_integer() ? (value.get<std::int64_t>() != 0 ? root : 1.0) : from.number(key, root);
    });
    if (std::abs(factor - root) > 1e-4 * root && factor != 1.0) {
        scalars.reader().problem("encoder/scale_embeddings",
                                 fmt::format("is {}: expected 1 or the square root of {}", factor, d_model));
    }
    return factor != 1.0;
}

// Settings that are not read above must be off: rotary positions, ALiBi, merged embeddings and others.
void check_scalars(const json& objects, Problems& problems) {
    static const std::set<std::string> known = {"num_heads",
                                                "pre_norm",
                                                "activation",
                                                "scale_embeddings",
                                                "start_from_zero_embedding",
                                                "alignment_layer",
                                                "alignment_heads",
                                                "scale_alibi",
                                                "alibi_use_positive_positions"};
    for (const auto& [name, value] : objects.items()) {
        const std::size_t slash = name.rfind('/');
        if (slash != std::string::npos && value.is_number() && value != 0 && !known.contains(name.substr(slash + 1))) {
            problems.add("model.bin", fmt::format("\"{}\" is {}, which is not supported", name, value.dump()));
        }
    }
}

ModelConfig network(const TensorArchive& archive, const ForeignConfig& settings, Problems& problems) {
    check_scalars(archive.objects(), problems);
    const Scalars scalars(archive, problems);
    ModelConfig net;
    net.encoder_layers = count_layers(archive, "encoder");
    net.decoder_layers = count_layers(archive, "decoder");
    const std::vector<std::int64_t> source = matrix_sides(archive, source_embedding(archive));
    const std::vector<std::int64_t> target = matrix_sides(archive, "decoder/embeddings/weight");
    net.source_vocabulary = source.at(0);
    net.target_vocabulary = target.at(0);
    net.d_model = source.at(1);
    net.d_ff = matrix_sides(archive, "encoder/layer_0/ffn/linear_0/weight")[0];
    set_heads(scalars.integer("num_heads", 8, 1), scalars.reader(), "encoder/num_heads", net);
    net.activation = activation_numbered(scalars);
    net.norm = scalars.integer("pre_norm", 1) != 0 ? NormPlacement::Pre : NormPlacement::Post;
    net.layer_norm_epsilon = static_cast<float>(settings.number("layer_norm_epsilon", 1e-5));
    net.attention_bias = archive.contains("encoder/layer_0/self_attention/linear_0/bias");
    net.feed_forward_bias = archive.contains("encoder/layer_0/ffn/linear_0/bias");
    net.output_bias = archive.contains("decoder/projection/bias");
    net.embedding_norm = archive.contains("encoder/layernorm_embedding/gamma");
    net.scale_embedding = scales(scalars, net.d_model);
    net.tying = read_tying(archive);
    if (archive.contains("encoder/position_encodings/encodings")) {
        net.positions = Positions::Learned;
        net.max_length = matrix_sides(archive, "encoder/position_encodings/encodings")[0];
    } else {
        net.sinusoid_layout = SinusoidLayout::HalvesMinusOne;
        net.first_position = 1;
    }
    return net;
}

void add_stack(TensorMap& map, const std::string& stack, int layers) {
    const auto linear = [&](const std::string& theirs, const std::string& place,
                            const std::vector<std::string>& names) {
        for (const char* end : {"weight", "bias"}) {
            TensorRow row{.theirs = fmt::format("{}/{}", theirs, end), .ours = {}};
            for (const std::string& name : names) {
                row.ours.push_back(fmt::format("{}.{}.{}", place, name, end));
            }
            map.add(std::move(row));
        }
    };
    const auto norm = [&](const std::string& theirs, const std::string& ours) {
        map.add({.theirs = theirs + "/gamma", .ours = {ours + ".gain"}});
        map.add({.theirs = theirs + "/beta", .ours = {ours + ".bias"}});
    };
    for (int i = 0; i < layers; ++i) {
        const std::string theirs = fmt::format("{}/layer_{}/", stack, i);
        const std::string ours = fmt::format("{}.layers.{}.", stack, i);
        linear(theirs + "self_attention/linear_0", ours + "self_attention", {"q", "k", "v"});
        linear(theirs + "self_attention/linear_1", ours + "self_attention", {"output"});
        norm(theirs + "self_attention/layer_norm", ours + "self_attention.norm");
        linear(theirs + "attention/linear_0", ours + "cross_attention", {"q"});
        linear(theirs + "attention/linear_1", ours + "cross_attention", {"k", "v"});
        linear(theirs + "attention/linear_2", ours + "cross_attention", {"output"});
        norm(theirs + "attention/layer_norm", ours + "cross_attention.norm");
        linear(theirs + "ffn/linear_0", ours + "feed_forward", {"inner"});
        linear(theirs + "ffn/linear_1", ours + "feed_forward", {"outer"});
        norm(theirs + "ffn/layer_norm", ours + "feed_forward.norm");
    }
    norm(stack + "/layernorm_embedding", stack + ".embedding_norm");
    norm(stack + "/layer_norm", stack + ".norm");
    map.add({.theirs = stack + "/position_encodings/encodings", .ours = {stack + ".positions.weight"}});
}

}  // namespace

TensorMap ctranslate2_tensors(const ModelConfig& net, const std::string& source) {
    TensorMap map;
    map.add_embeddings(net.tying, source, "decoder/embeddings/weight", "decoder/projection/weight");
    map.add({.theirs = "decoder/projection/bias", .ours = {"output.bias"}});
    add_stack(map, "encoder", net.encoder_layers);
    add_stack(map, "decoder", net.decoder_layers);
    return map;
}

namespace {

constexpr auto kKeys = std::to_array<KeyRule>({
    {"binary_version"},
    {"spec_name"},
    {"spec_revision"},
    {"encoder/*"},  // check_scalars() has looked at them
    {"decoder/*"},
    {"alignment_*"},
    {"multi_query_attention", "false"},
});

}  // namespace

ModelDirectory open_ctranslate2(const std::string& folder) {
    Problems problems(folder);
    auto archive =
        std::make_shared<const TensorArchive>(open_ctranslate2_archive(require_file(folder, "model.bin", "")));
    const Settings read(folder, *archive);
    const ForeignConfig settings = read.reader(problems);
    ModelDirectory model{.path = folder};
    const std::string spec = archive->objects().value("spec_name", "");
    if (!archive->contains("decoder/embeddings/weight") || count_layers(*archive, "encoder") == 0) {
        problems.add("model.bin", fmt::format("is a {}: only encoder-decoder Transformers are supported", spec));
        problems.finish();
    }
    model.config = network(*archive, settings, problems);
    const ModelConfig& net = model.config;
    model.decoding = std::make_shared<const json>(json{{"beam", 2},
                                                       {"length_penalty", 1.0},
                                                       {"length_penalty_form", "power"},
                                                       {"max_length", 256},
                                                       {"max_extra", 256}});
    model.decoding_origin = folder;
    const bool zero = archive->objects().value("decoder/start_from_zero_embedding", 0) != 0;
    read_ctranslate2_frame(settings, ctranslate2_pieces(settings, zero), model);
    remark_unknown_keys((std::filesystem::path(folder) / settings.file()).string(), settings.unknown_keys(kKeys),
                        model.remarks);
    problems.finish();
    TensorMap map = ctranslate2_tensors(net, source_embedding(*archive));
    for (const std::string& name : archive->names()) {
        if (archive->entry(name).shape.empty()) {
            map.ignore(name);  // a setting
        }
    }
    model.weights = mapped_weights(std::move(archive), std::move(map));
    check_imported(model, folder, {{"bos_id", "decoder_start_token"}, {"eos_id", "eos_token"}});
    return model;
}

}  // namespace headscope

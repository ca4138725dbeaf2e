// llama.cpp's files: architecture, weights and tokenizer in one.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "backend/convert.h"
#include "import/common.h"
#include "import/formats.h"
#include "import/gguf.h"
#include "support/check.h"

namespace headscope {

namespace {

using nlohmann::json;

constexpr std::array kGgufFamilies = {
    GgufFamily{.name = "llama", .alternating_rows = true}, GgufFamily{.name = "qwen2"},
    GgufFamily{.name = "qwen3", .query_key_norm = QueryKeyNorm::Head},
    GgufFamily{.name = "gemma3", .query_key_norm = QueryKeyNorm::Head, .is_gemma = true}};

// Keys that change nothing here.
constexpr auto kKeys = std::to_array<KeyRule>({
    {"general.*"},
    {"split.*"},
    {"quantize.*"},
    {"tokenizer.chat_template*"},
    {"tokenizer.huggingface.json"},
    {"*_token_id"},  // of gaps, classifiers and masks
    {"tokenizer.ggml.token_type_count"},
    {"tokenizer.ggml.pre"},  // read for the kinds of tokenizers that need it
    {"tokenizer.ggml.add_sep_token", "false"},
    {"*.vocab_size"},  // the rows of the table say it
    {"*.rope.scaling.finetuned"},
    {"*.tensor_data_layout", "\"Meta AI original pth\""},
    {"*.attention.causal", "true"},
    {"*.expert_count", "0"},
    {"*.expert_used_count", "0"},
    {"*.attention.clamp_kqv", "0.0"},
    {"*.use_parallel_residual", "false"},
    {"*.attn_logit_softcapping", "0.0"},
    {"*.final_logit_softcapping", "0.0"},
});

// Empty for a model of texts.
std::string other_content(const ForeignConfig& config) {
    const std::string type = config.text("general.type", "model");
    if (type == "mmproj" || config.text("general.architecture", "") == "clip") {
        return "a projector of images";
    }
    return type == "model" ? "" : type == "adapter" ? "an adapter" : "a " + type;
}

const GgufFamily& family_of(const ForeignConfig& config) {
    const std::string name = config.text("general.architecture", "");
    if (const std::string other = other_content(config); !other.empty()) {
        throw Error(fmt::format("{} holds {}, which is not a model of texts: give the file of the model itself",
                                config.file(), other));
    }
    const auto* found = std::ranges::find(kGgufFamilies, name, &GgufFamily::name);
    if (found == kGgufFamilies.end()) {
        std::string names;
        for (const GgufFamily& family : kGgufFamilies) {
            names += (names.empty() ? "" : ", ") + std::string(family.name);
        }
        throw Error(
            fmt::format("{}: \"general.architecture\" is \"{}\"; supported are {}", config.file(), name, names));
    }
    return *found;
}

// A number for all layers, which some files write as a list of equal ones.
std::int64_t of_all_layers(const ForeignConfig& config, const std::string& key, int layers) {
    const json& value = config.at(key);
    if (!value.is_array()) {
        return config.required_integer(key, 1);
    }
    if (std::ssize(value) != layers) {
        config.problem(key, fmt::format("has {} numbers for {} layers", value.size(), layers));
        return 1;
    }
    if (std::ranges::any_of(value, [&](const json& one) { return one != value.front(); })) {
        config.problem(key, "differs between layers, which is not supported");
    }
    return config.integer_in(value.front(), key, 1, 1);
}

// The tensor of a model whose pairs of columns are slowed each by its own factor, such as Llama 3.1.
std::vector<double> rotary_factors(const TensorArchive& archive) {
    constexpr const char* kName = "rope_freqs.weight";
    std::vector<double> factors;
    if (archive.contains(kName)) {
        const ArchiveTensor tensor = archive.at(kName);
        factors.resize(static_cast<std::size_t>(tensor.shape.elements()));
        visit_stored(tensor.dtype, [&](auto one) {
            for (std::size_t i = 0; i < factors.size(); ++i) {
                std::memcpy(&one, tensor.data.data() + i * sizeof(one), sizeof(one));
                factors[i] = static_cast<double>(static_cast<float>(one));
            }
        });
    }
    return factors;
}

void read_gguf_rotary(const ForeignConfig& config, const std::string& prefix, const TensorArchive& archive,
                      ModelConfig& net) {
    RotaryConfig& rotary = net.positions.rotary;
    rotary.kind = Rotary::Plain;
    rotary.base = config.number(prefix + "rope.freq_base", 10000.0);
    const std::int64_t columns = config.integer(prefix + "rope.dimension_count", net.attention.d_k, 2);
    if (columns != net.attention.d_k) {
        config.problem(prefix + "rope.dimension_count",
                       fmt::format("is {}: only the size of a head, {}, is supported", columns, net.attention.d_k));
    }
    // Older files have the factor alone. 0 stands for 1.
    const std::string scaling = config.text(prefix + "rope.scaling.type", "linear");
    const double given =
        config.number(prefix + "rope.scaling.factor", config.number(prefix + "rope.scale_linear", 1.0));
    const double factor = given == 0.0 ? 1.0 : given;
    if (scaling == "linear") {
        rotary.kind = factor == 1.0 ? Rotary::Plain : Rotary::Linear;
        rotary.factor = factor;
    } else if (scaling == "yarn") {
        rotary.kind = Rotary::Yarn;
        rotary.factor = factor;
        rotary.original_length = config.integer(prefix + "rope.scaling.original_context_length", net.max_length, 1);
        rotary.high = config.number(prefix + "rope.scaling.yarn_beta_fast", 32.0);
        rotary.low = config.number(prefix + "rope.scaling.yarn_beta_slow", 1.0);
        rotary.magnitude = config.number(prefix + "rope.scaling.attn_factor", 1.0) * (0.1 * std::log(factor) + 1.0);
        for (const char* key : {"rope.scaling.yarn_ext_factor", "rope.scaling.yarn_attn_factor"}) {
            config.require(prefix + key, 1.0);
        }
    } else if (scaling != "none") {
        config.problem(prefix + "rope.scaling.type",
                       fmt::format("is \"{}\": supported are none, linear and yarn", scaling));
    }
    if (std::vector<double> factors = rotary_factors(archive); !factors.empty()) {
        if (rotary.kind != Rotary::Plain || std::cmp_not_equal(factors.size(), net.attention.d_k / 2)) {
            config.problem("rope_freqs.weight", fmt::format("has {} factors of rotary positions, expected {}, and no "
                                                            "other scaling",
                                                            factors.size(), net.attention.d_k / 2));
        }
        rotary.kind = Rotary::Factors;
        rotary.factors = std::move(factors);
    }
}

// Gemma 3, of which files leave out what llama.cpp knows: the layers without a window, the base of those with one, and
// that the largest model, of 62 layers, scales its queries by the width of d_model / heads columns.
void set_gemma(const ForeignConfig& config, const std::string& prefix, ModelConfig& net) {
    constexpr int kLayersOfLargest = 62;
    net.feed_forward.activation = Activation::GeluTanh;
    net.norm.placement = NormPlacement::Sandwich;
    net.embedding.scale = true;
    if (net.decoder_layers == kLayersOfLargest) {
        net.attention.scale =
            1.0 / std::sqrt(static_cast<double>(net.d_model) / static_cast<double>(net.attention.heads));
    }
    const std::int64_t period = config.integer(prefix + "attention.sliding_window_pattern", 6, 1);
    net.mixer.decoder = MixerKind::Restricted;
    net.mixer.window = config.required_integer(prefix + "attention.sliding_window", 1);
    for (int layer = 1; layer <= net.decoder_layers; ++layer) {
        net.mixer.window_pattern.push_back(layer % period == 0 ? 0 : 1);
    }
    net.positions.rotary.window_base = config.number(prefix + "rope.freq_base_swa", 10000.0);
}

ModelConfig gguf_network(const ForeignConfig& config, const GgufFamily& family, const TensorArchive& archive) {
    const std::string prefix = std::string(family.name) + ".";
    ModelConfig net;
    net.source_vocabulary = net.target_vocabulary = matrix_sides(archive, "token_embd.weight").front();
    net.architecture = Architecture::CausalLm;
    net.encoder_layers = 0;
    net.decoder_layers = static_cast<int>(config.required_integer(prefix + "block_count", 1, 1024));
    net.d_model = config.required_integer(prefix + "embedding_length", 1);
    net.max_length = config.required_integer(prefix + "context_length", 1);
    net.feed_forward.d_ff = of_all_layers(config, prefix + "feed_forward_length", net.decoder_layers);
    net.feed_forward.activation = Activation::Swish;
    net.feed_forward.gate = true;
    net.feed_forward.bias = false;
    const std::string heads = prefix + "attention.head_count";
    net.attention.heads = of_all_layers(config, heads, net.decoder_layers);
    if (!config.has(prefix + "attention.key_length") || !config.has(prefix + "attention.value_length")) {
        set_heads(net.attention.heads, config, heads, net);
    }
    const std::string groups = prefix + "attention.head_count_kv";
    net.attention.kv_heads =
        config.has(groups) ? of_all_layers(config, groups, net.decoder_layers) : net.attention.heads;
    net.attention.d_k = config.integer(prefix + "attention.key_length", net.attention.d_k, 1);
    net.attention.d_v = config.integer(prefix + "attention.value_length", net.attention.d_v, 1);
    net.attention.bias = archive.contains("blk.0.attn_q.bias");
    net.attention.output_bias = !net.attention.bias || archive.contains("blk.0.attn_output.bias");
    net.norm = {.placement = NormPlacement::Pre,
                .type = NormType::Rms,
                .epsilon = static_cast<float>(config.required_number(prefix + "attention.layer_norm_rms_epsilon"))};
    net.positions.kind = Positions::None;
    read_gguf_rotary(config, prefix, archive, net);
    net.embedding.scale = false;
    net.embedding.tying = archive.contains("output.weight") ? Tying::None : Tying::All;
    net.attention.query_key_norm = family.query_key_norm;
    if (family.is_gemma) {
        set_gemma(config, prefix, net);
    }
    return net;
}

// Says which of the quantised matrices are not held as they are.
void remark_dequantised(ModelDirectory& model) {
    const std::vector<ParameterSpec> table = describe(model.config).parameters;
    const auto in_file = model.weights->in_blocks(table);
    const std::vector<BlockForm> forms = block_forms(table, Arithmetic().weights(), blocks_in_file(model));
    std::set<std::string> types;
    std::size_t count = 0;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const auto found = in_file.find(table[i].name);
        if (found != in_file.end() && forms[i].bits == 0) {
            types.insert(found->second->name);
            ++count;
        }
    }
    if (count > 0) {
        model.remarks.push_back(fmt::format(
            "{} of {} quantised matrices (of {}) are read as numbers: --precision q8 holds them in blocks of 8 bits",
            count, in_file.size(), fmt::join(types, ", ")));
    }
}

}  // namespace

bool may_be_gguf_model(const std::string& path) {
    try {
        const TensorArchive archive = open_gguf_archive(path);
        Problems ignored(path);
        return other_content(ForeignConfig(archive.objects(), path, ignored)).empty();
    } catch (const Error&) {
        return true;  // so that opening it says what is wrong
    }
}

ModelDirectory open_gguf(const std::string& path) {
    TensorArchive opened = open_gguf_archive(path);
    const nlohmann::json metadata = opened.take_objects();  // with every piece, which the tokenizer has, too
    auto archive = std::make_shared<const TensorArchive>(std::move(opened));
    Problems problems(path);
    const ForeignConfig config(metadata, path, problems);
    const GgufFamily& family = family_of(config);
    ModelDirectory model{.path = path, .config = gguf_network(config, family, *archive)};
    open_gguf_tokenizer(config, model.config.target_vocabulary, problems, model);
    remark_unknown_keys(path, config.unknown_keys(kKeys), model.remarks);
    problems.finish();
    model.weights = mapped_weights(std::move(archive), gguf_tensors(model.config, family));
    const std::string prefix = std::string(family.name) + ".";
    const std::string heads = prefix + "attention.head_count";
    const std::string groups = prefix + "attention.head_count_kv";
    const std::string length = prefix + "context_length";
    check_imported(model, path,
                   {{"eos_id", "tokenizer.ggml.eos_token_id"},
                    {"bos_id", "tokenizer.ggml.bos_token_id"},
                    {"attention.heads", heads.c_str()},
                    {"attention.kv_heads", groups.c_str()},
                    {"max_length", length.c_str()}});
    remark_dequantised(model);
    return model;
}

}  // namespace headscope

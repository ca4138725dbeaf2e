// Hugging Face's Llama (1 to 3, also SmolLM and many others that are saved as it) and the families whose layers are its
// own but for what a row of the table says.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/formats.h"
#include "import/hugging_face.h"
#include "import/hugging_face_rotary.h"

namespace headscope {

namespace {

// What transformers takes where config.json says nothing, and what no key says.
struct LlamaFamily {
    const char* name;
    std::int64_t vocabulary = 32000, d_model = 4096, d_ff = 11008, layers = 32, heads = 32, max_length = 2048;
    std::int64_t groups = 0;    // of heads that share keys; 0: each has its own
    std::int64_t head_dim = 0;  // 0: the width divided by the heads
    const char* activation_key = "hidden_act";
    const char* activation = "silu";
    double epsilon = 1e-6;
    double base = 10000.0;            // of rotary positions
    std::int32_t begin = 1, end = 2;  // of texts; -1: none
    bool tied = false;
    bool packed = false;          // q, k and v are one tensor, and so are the gate and what it multiplies
    bool input_biases = false;    // q, k and v have biases, and they alone; otherwise "attention_bias" says
    bool turns_a_share = false;   // of the columns, with "partial_rotary_factor"
    bool has_window = false;      // otherwise "sliding_window" says nothing
    bool has_switch = false;      // a window counts only with "use_sliding_window"
    std::int64_t window = 0;      // 0: none
    std::int64_t unwindowed = 0;  // how many layers, the first, have no window
    std::int64_t unturned = 0;    // every so many-th layer has no rotary positions; 0: all have them
    NormPlacement placement = NormPlacement::Pre;
    QueryKeyNorm query_key_norm = QueryKeyNorm::None;
    bool is_gemma = false;           // gains less 1 and a scale of queries in the file, embeddings times sqrt(d_model)
    std::int64_t window_period = 0;  // every so many-th layer has no window, the others have; 0: no such period
    double window_base = 0.0;        // of the layers with a window, if it is another
};
const std::array kLlamaFamilies = std::to_array<LlamaFamily>({
    {.name = "llama"},
    {.name = "gemma3_text",
     .vocabulary = 262208,
     .d_model = 2304,
     .d_ff = 9216,
     .layers = 26,
     .heads = 8,
     .max_length = 131072,
     .groups = 4,
     .head_dim = 256,
     .activation_key = "hidden_activation",
     .activation = "gelu_pytorch_tanh",
     .base = 1e6,
     .begin = 2,
     .end = 1,
     .tied = true,
     .has_window = true,
     .window = 4096,
     .placement = NormPlacement::Sandwich,
     .query_key_norm = QueryKeyNorm::Head,
     .is_gemma = true,
     .window_period = 6,
     .window_base = 10000.0},
    {.name = "mistral", .d_ff = 14336, .max_length = 131072, .groups = 8, .has_window = true, .window = 4096},
    {.name = "olmo2",
     .vocabulary = 50304,
     .epsilon = 1e-5,
     .begin = -1,
     .end = 50279,
     .placement = NormPlacement::Inside,
     .query_key_norm = QueryKeyNorm::All},
    {.name = "phi3",
     .vocabulary = 32064,
     .d_model = 3072,
     .d_ff = 8192,
     .max_length = 4096,
     .epsilon = 1e-5,
     .end = 32000,
     .packed = true,
     .turns_a_share = true,
     .has_window = true},
    {.name = "qwen2",
     .vocabulary = 151936,
     .d_ff = 22016,
     .max_length = 32768,
     .groups = 32,
     .begin = -1,
     .end = -1,
     .input_biases = true,
     .has_window = true,
     .has_switch = true,
     .window = 4096,
     .unwindowed = 28},
    {.name = "qwen3",
     .vocabulary = 151936,
     .d_ff = 22016,
     .max_length = 32768,
     .groups = 32,
     .head_dim = 128,
     .begin = -1,
     .end = -1,
     .has_window = true,
     .has_switch = true,
     .window = 4096,
     .unwindowed = 28,
     .query_key_norm = QueryKeyNorm::Head},
    {.name = "smollm3",
     .vocabulary = 128256,
     .d_model = 2048,
     .layers = 36,
     .heads = 16,
     .max_length = 32768,
     .groups = 4,
     .base = 2e6,
     .begin = 128000,
     .end = 128001,
     .tied = true,
     .has_window = true,
     .has_switch = true,
     .unturned = 4},
});

const LlamaFamily& family_named(const std::string& name) {
    return *std::ranges::find_if(kLlamaFamilies, [&](const LlamaFamily& one) { return name == one.name; });
}

void read_heads(const ForeignConfig& config, const LlamaFamily& family, ModelConfig& net) {
    AttentionConfig& attention = net.attention;
    attention.heads = config.integer("num_attention_heads", family.heads, 1, 65535);
    if (config.has("head_dim") || family.head_dim > 0) {
        attention.d_k = attention.d_v = config.integer("head_dim", family.head_dim, 1);
    } else {
        set_heads(attention.heads, config, "num_attention_heads", net);
    }
    const char* const key = "num_key_value_heads";
    const std::int64_t usual = family.groups > 0 && !config.is_null(key) ? family.groups : attention.heads;
    const std::int64_t groups = config.integer(key, usual, 1, attention.heads);
    attention.kv_heads = groups == attention.heads ? 0 : groups;
    attention.bias = family.input_biases || config.boolean("attention_bias", false);
    attention.output_bias = !family.input_biases;
    attention.query_key_norm = family.query_key_norm;
    if (family.is_gemma) {
        constexpr const char* kScalar = "query_pre_attn_scalar";
        const double scalar = config.number(kScalar, 256.0);
        if (scalar <= 0.0) {
            config.problem(kScalar, fmt::format("must be above 0, found {}", scalar));
        } else if (scalar != static_cast<double>(attention.d_k)) {
            attention.scale = 1.0 / std::sqrt(scalar);
        }
    }
}

// 1 for the layers with rotary positions, in spite of the key's name, 0 for the others.
std::vector<std::int32_t> turned_layers(const ForeignConfig& config, const LlamaFamily& family, int layers) {
    constexpr const char* kKey = "no_rope_layers";
    const std::int64_t every = config.integer("no_rope_layer_interval", family.unturned, 1);
    std::vector<std::int32_t> turned;
    for (int i = 0; i < layers; ++i) {
        turned.push_back((i + 1) % every != 0 ? 1 : 0);
    }
    if (!config.has(kKey)) {
        return turned;
    }
    const nlohmann::json& stated = config.at(kKey);
    const bool fits =
        stated.is_array() && std::ssize(stated) == layers && std::ranges::all_of(stated, [](const nlohmann::json& one) {
            return one.is_number_integer() && (one == 0 || one == 1);
        });
    if (!fits) {
        config.problem(kKey, fmt::format("must be a list of {} numbers, each 0 or 1, found {}", layers, stated.dump()));
        return turned;
    }
    return stated.get<std::vector<std::int32_t>>();
}

// The windows where config.json has no "layer_types".
WindowRules window_rules(const ForeignConfig& config, const LlamaFamily& family, int layers,
                         const std::vector<std::int32_t>& turned) {
    WindowRules windows{.window = family.window,
                        .used = !family.has_switch || config.boolean("use_sliding_window", false),
                        .all_alike = !family.has_switch && family.window_period == 0,
                        .turn_apart = family.window_base > 0.0};
    const std::int64_t unwindowed = family.unwindowed > 0 ? config.integer("max_window_layers", family.unwindowed) : 0;
    std::int64_t period = family.window_period;
    for (const char* key : {"_sliding_window_pattern", "sliding_window_pattern"}) {
        period = family.window_period > 0 ? config.integer(key, period, 1) : 0;
    }
    for (int i = 0; i < layers; ++i) {
        const bool plain = turned.empty() || turned[static_cast<std::size_t>(i)] == 0;
        const bool whole = period > 0 && (i + 1) % period == 0;
        windows.layers.push_back(i >= unwindowed && plain && !whole ? 1 : 0);
    }
    return windows;
}

void read_positions(const ForeignConfig& config, Problems& problems, const LlamaFamily& family, ModelConfig& net) {
    const int layers = net.decoder_layers;
    std::vector<std::int32_t> turned;
    if (family.unturned > 0) {
        turned = turned_layers(config, family, layers);
    }
    if (family.has_window) {
        read_windows(config, window_rules(config, family, layers, turned), net);
    }
    read_rotary(config, problems,
                {.base = family.base, .partial = family.turns_a_share, .window_base = family.window_base}, net);
    if (std::ranges::find(turned, 0) != turned.end()) {
        net.positions.rotary.pattern = turned;
    }
    // In files of this family "yarn" means longrope, and transformers refuses the other kinds.
    if (family.packed && net.positions.rotary.kind != Rotary::Plain) {
        config.problem(config.has("rope_scaling") ? "rope_scaling" : "rope_parameters",
                       "scales rotary positions, which is not supported for this family");
    }
}

ModelConfig llama_network(const ForeignConfig& config, Problems& problems, const LlamaFamily& family) {
    ModelConfig net;
    net.architecture = Architecture::CausalLm;
    net.encoder_layers = 0;
    net.decoder_layers = static_cast<int>(config.integer("num_hidden_layers", family.layers, 1, 1024));
    net.d_model = config.integer("hidden_size", family.d_model, 1);
    net.feed_forward.d_ff = config.integer("intermediate_size", family.d_ff, 1);
    net.feed_forward.activation = activation_of(config, family.activation_key, family.activation);
    net.feed_forward.gate = true;
    net.feed_forward.bias = config.boolean("mlp_bias", false);
    net.max_length = config.integer("max_position_embeddings", family.max_length, 1);
    net.norm.placement = family.placement;
    net.norm.type = NormType::Rms;
    net.norm.epsilon = static_cast<float>(config.number("rms_norm_eps", family.epsilon));
    net.positions.kind = Positions::None;
    net.embedding.scale = family.is_gemma;
    net.embedding.tying = config.boolean("tie_word_embeddings", family.tied) ? Tying::All : Tying::None;
    net.source_vocabulary = net.target_vocabulary = config.integer("vocab_size", family.vocabulary, 1);
    net.frame.pad_id = net.frame.bos_id = net.frame.unk_id = -1;
    read_heads(config, family, net);
    read_positions(config, problems, family, net);
    return net;
}

// Each family with its own placement of norms has its own names for them.
void add_norms(TensorMap& map, const ModelConfig& net, const std::string& theirs, const std::string& ours,
               float addend) {
    const auto add = [&](const char* their_part, const char* part) {
        map.add_norm(theirs + their_part, ours + part, addend);
    };
    add("self_attn.q_norm", "self_attention.q_norm");
    add("self_attn.k_norm", "self_attention.k_norm");
    switch (net.norm.placement) {
        case NormPlacement::Inside:
            add("post_attention_layernorm", "self_attention.norm");
            add("post_feedforward_layernorm", "feed_forward.norm");
            break;
        case NormPlacement::Sandwich:
            add("input_layernorm", "self_attention.norm");
            add("post_attention_layernorm", "self_attention.output_norm");
            add("pre_feedforward_layernorm", "feed_forward.norm");
            add("post_feedforward_layernorm", "feed_forward.output_norm");
            break;
        default: add("input_layernorm", "self_attention.norm"); add("post_attention_layernorm", "feed_forward.norm");
    }
}

TensorMap llama_tensors(const ModelConfig& net, const std::string& prefix, const LlamaFamily& family) {
    const float addend = family.is_gemma ? 1.0F : 0.0F;
    TensorMap map;
    const bool tied = net.embedding.tying == Tying::All;
    map.add({.theirs = prefix + "embed_tokens.weight",
             .ours = {"embedding.weight"},
             .copies = tied ? std::vector<std::string>{"lm_head.weight"} : std::vector<std::string>{}});
    map.add({.theirs = "lm_head.weight", .ours = {"output.weight"}});
    for (int i = 0; i < net.decoder_layers; ++i) {
        const std::string theirs = fmt::format("{}layers.{}.", prefix, i);
        const std::string ours = fmt::format("decoder.layers.{}.", i);
        if (family.packed) {
            map.add({.theirs = theirs + "self_attn.qkv_proj.weight",
                     .ours = {ours + "self_attention.q.weight", ours + "self_attention.k.weight",
                              ours + "self_attention.v.weight"}});
            map.add({.theirs = theirs + "mlp.gate_up_proj.weight",
                     .ours = {ours + "feed_forward.gate.weight", ours + "feed_forward.inner.weight"}});
        } else {
            for (const auto& [their_part, part] : {std::pair{"q_proj", "q"}, {"k_proj", "k"}, {"v_proj", "v"}}) {
                map.add_linear(theirs + "self_attn." + their_part, ours + "self_attention." + part);
            }
            map.add_linear(theirs + "mlp.gate_proj", ours + "feed_forward.gate");
            map.add_linear(theirs + "mlp.up_proj", ours + "feed_forward.inner");
        }
        map.add_linear(theirs + "self_attn.o_proj", ours + "self_attention.output");
        map.add_linear(theirs + "mlp.down_proj", ours + "feed_forward.outer");
        add_norms(map, net, theirs, ours, addend);
    }
    map.add_norm(prefix + "norm", "decoder.norm", addend);
    map.ignore("*rotary_emb.inv_freq");
    ignore_other_heads(map);
    return map;
}

}  // namespace

ModelDirectory open_llama(const std::string& folder, const nlohmann::json& json) {
    Problems problems(folder);
    const ForeignConfig config(json, "config.json", problems);
    const LlamaFamily& family = family_named(config.text("model_type", ""));
    ModelConfig net = llama_network(config, problems, family);
    net.frame.eos_id = end_id(config, family.end);
    return open_decoder(
        folder, config, problems, std::move(net),
        {.begin = family.begin, .prefix = "model.", .tensors = [&](const ModelConfig& own, const std::string& prefix) {
             return llama_tensors(own, prefix, family);
         }});
}

}  // namespace headscope

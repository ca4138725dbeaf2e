// Hugging Face's Llama (1 to 3, also SmolLM and many others that are saved as it), Mistral, Phi-3, Qwen 2 and SmolLM3.
#include <algorithm>
#include <array>

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
    std::int64_t groups = 0;  // of heads that share keys; 0: each has its own
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
};
const std::array kLlamaFamilies = std::to_array<LlamaFamily>({
    {.name = "llama"},
    {.name = "mistral", .d_ff = 14336, .max_length = 131072, .groups = 8, .has_window = true, .window = 4096},
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
    if (config.has("head_dim")) {
        attention.d_k = attention.d_v = config.integer("head_dim", 1, 1);
    } else {
        set_heads(attention.heads, config, "num_attention_heads", net);
    }
    const char* const key = "num_key_value_heads";
    const std::int64_t usual = family.groups > 0 && !config.is_null(key) ? family.groups : attention.heads;
    const std::int64_t groups = config.integer(key, usual, 1, attention.heads);
    attention.kv_heads = groups == attention.heads ? 0 : groups;
    attention.bias = family.input_biases || config.boolean("attention_bias", false);
    attention.output_bias = !family.input_biases;
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

void read_positions(const ForeignConfig& config, Problems& problems, const LlamaFamily& family, ModelConfig& net) {
    const int layers = net.decoder_layers;
    std::vector<std::int32_t> turned;
    if (family.unturned > 0) {
        turned = turned_layers(config, family, layers);
    }
    if (family.has_window) {
        WindowRules windows{.window = family.window, .all_alike = !family.has_switch};
        const std::int64_t unwindowed =
            family.unwindowed > 0 ? config.integer("max_window_layers", family.unwindowed) : 0;
        for (int i = 0; i < layers; ++i) {
            const bool plain = turned.empty() || turned[static_cast<std::size_t>(i)] == 0;
            windows.layers.push_back(i >= unwindowed && plain ? 1 : 0);
        }
        windows.used = !family.has_switch || config.boolean("use_sliding_window", false);
        read_windows(config, windows, net);
    }
    read_rotary(config, problems, {.base = family.base, .partial = family.turns_a_share}, net);
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
    net.feed_forward.activation = activation_of(config, "hidden_act", "silu");
    net.feed_forward.gate = true;
    net.feed_forward.bias = config.boolean("mlp_bias", false);
    net.max_length = config.integer("max_position_embeddings", family.max_length, 1);
    net.norm.placement = NormPlacement::Pre;
    net.norm.type = NormType::Rms;
    net.norm.epsilon = static_cast<float>(config.number("rms_norm_eps", family.epsilon));
    net.positions.kind = Positions::None;
    net.embedding.scale = false;
    net.embedding.tying = config.boolean("tie_word_embeddings", family.tied) ? Tying::All : Tying::None;
    net.source_vocabulary = net.target_vocabulary = config.integer("vocab_size", family.vocabulary, 1);
    net.frame.pad_id = net.frame.bos_id = net.frame.unk_id = -1;
    read_heads(config, family, net);
    read_positions(config, problems, family, net);
    return net;
}

TensorMap llama_tensors(const ModelConfig& net, const std::string& prefix, bool packed) {
    TensorMap map;
    const bool tied = net.embedding.tying == Tying::All;
    map.add({.theirs = prefix + "embed_tokens.weight",
             .ours = {"embedding.weight"},
             .copies = tied ? std::vector<std::string>{"lm_head.weight"} : std::vector<std::string>{}});
    map.add({.theirs = "lm_head.weight", .ours = {"output.weight"}});
    for (int i = 0; i < net.decoder_layers; ++i) {
        const std::string theirs = fmt::format("{}layers.{}.", prefix, i);
        const std::string ours = fmt::format("decoder.layers.{}.", i);
        if (packed) {
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
        map.add({.theirs = theirs + "input_layernorm.weight", .ours = {ours + "self_attention.norm.gain"}});
        map.add({.theirs = theirs + "post_attention_layernorm.weight", .ours = {ours + "feed_forward.norm.gain"}});
    }
    map.add({.theirs = prefix + "norm.weight", .ours = {"decoder.norm.gain"}});
    map.ignore("*rotary_emb.inv_freq");
    ignore_other_heads(map);
    return map;
}

}  // namespace

ModelDirectory open_llama(const std::string& folder, const nlohmann::json& json) {
    Problems problems(folder);
    const ForeignConfig config(json, "config.json", problems);
    const LlamaFamily& family = family_named(config.text("model_type", ""));
    ModelDirectory model{.path = folder, .config = llama_network(config, problems, family)};
    model.config.frame.eos_id = end_id(config, family.end);
    open_tokenizers(folder, problems, model);
    model.config.frame.bos_id = begin_id(config, family.begin, problems, model);
    read_generation(folder, json, problems, model);
    check_keys(config, problems, model);
    problems.finish();
    auto archive = open_folder_weights(folder);
    remark_other_head(*archive, model);
    model.weights = mapped_weights(archive, llama_tensors(model.config, prefix_in(*archive, "model."), family.packed));
    check_hugging_face(model);
    return model;
}

}  // namespace headscope

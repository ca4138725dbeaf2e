#include "import/hugging_face.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/formats.h"
#include "import/unread_families.h"
#include "io/strict_json.h"
#include "support/check.h"

namespace headscope {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

using OpenFamily = ModelDirectory (*)(const std::string& folder, const json& config);

const std::map<std::string, OpenFamily>& readers() {
    static const std::map<std::string, OpenFamily> known = {{"marian", open_marian_mt},
                                                            {"bart", open_bart},
                                                            {"mbart", open_mbart},
                                                            {"m2m_100", open_m2m100},
                                                            {"t5", open_t5},
                                                            {"mt5", open_mt5},
                                                            {"umt5", open_umt5},
                                                            {"pegasus", open_pegasus},
                                                            {"blenderbot", open_blenderbot},
                                                            {"blenderbot-small", open_blenderbot_small},
                                                            {"gpt2", open_gpt2},
                                                            {"llama", open_llama},
                                                            {"mistral", open_llama},
                                                            {"phi3", open_llama},
                                                            {"qwen2", open_llama},
                                                            {"qwen3", open_llama},
                                                            {"gemma3_text", open_llama},
                                                            {"olmo2", open_llama},
                                                            {"gpt_neox", open_gpt_neox},
                                                            {"gptj", open_gptj},
                                                            {"opt", open_opt},
                                                            {"smollm3", open_llama},
                                                            {"bert", open_bert},
                                                            {"roberta", open_roberta},
                                                            {"xlm-roberta", open_roberta},
                                                            {"camembert", open_camembert},
                                                            {"distilbert", open_distilbert},
                                                            {"vit", open_vit}};
    return known;
}

// Compares names, shapes and the first values of each tensor, which is enough to notice files of different models.
void check_same(const TensorArchive& one, const TensorArchive& other) {
    constexpr std::size_t kBytes = 4096;
    Problems problems(fmt::format("{} and {} disagree: keep one of them", one.path(), other.path()));
    for (const std::string& name : one.names()) {
        if (!other.contains(name)) {
            continue;  // a pickle repeats tied tensors and holds constants
        }
        const StoredTensor& first = one.entry(name);
        const StoredTensor& second = other.entry(name);
        if (first.shape != second.shape) {
            problems.add(name, "the shapes differ");
            continue;
        }
        const ArchiveTensor a = one.at(name);
        const ArchiveTensor b = other.at(name);
        if (a.dtype == b.dtype &&
            std::memcmp(a.data.data(), b.data.data(), std::min({kBytes, a.data.size(), b.data.size()})) != 0) {
            problems.add(name, "the values differ");
        }
    }
    problems.finish();
}

}  // namespace

std::shared_ptr<const TensorArchive> open_folder_weights(const std::string& folder) {
    struct Kind {
        const char* name;
        TensorArchive (*open)(const std::string&);
    };
    constexpr std::array<Kind, 4> kKinds = {{{"model.safetensors", open_safetensors_archive},
                                             {"model.safetensors.index.json", open_safetensors_archive},
                                             {"pytorch_model.bin", open_pickle_archive},
                                             {"pytorch_model.bin.index.json", open_pickle_archive}}};
    std::shared_ptr<const TensorArchive> first;
    std::string names;
    for (const auto& [name, open] : kKinds) {
        names += (names.empty() ? "" : ", ") + std::string(name);
        if (const std::string path = file_in(folder, name); !path.empty()) {
            auto found = std::make_shared<const TensorArchive>(open(path));
            if (first != nullptr) {
                check_same(*first, *found);
            } else {
                first = std::move(found);
            }
        }
    }
    if (first == nullptr) {
        throw Error(fmt::format("{} holds no weights: expected one of {}", folder, names));
    }
    return first;
}

namespace {

// Of classifiers and their like.
constexpr std::array<const char*, 8> kOtherHeads = {
    "classifier", "classifier.dense",          "classifier.out_proj",         "pre_classifier", "qa_outputs",
    "score",      "classification_head.dense", "classification_head.out_proj"};

bool holds(const TensorArchive& archive, const std::string& begin) {
    const std::vector<StoredTensor>& entries = archive.entries();
    return std::any_of(entries.begin(), entries.end(), [&](auto& one) { return one.name.starts_with(begin); });
}

}  // namespace

std::string prefix_in(const TensorArchive& archive, const std::string& prefix) {
    return holds(archive, prefix) ? prefix : "";
}

void ignore_other_heads(TensorMap& map) {
    for (const char* head : kOtherHeads) {
        map.ignore(std::string(head) + ".weight");
        map.ignore(std::string(head) + ".bias");
    }
}

void remark_other_head(const TensorArchive& archive, ModelDirectory& model) {
    if (std::any_of(kOtherHeads.begin(), kOtherHeads.end(),
                    [&](const char* head) { return archive.contains(std::string(head) + ".weight"); })) {
        model.remarks.push_back(
            fmt::format("{} has the head of another task: its attention can be seen, but what it writes means nothing",
                        model.path));
    }
}

void require_both_stacks(const TensorArchive& archive, const ModelDirectory& model, const json& config,
                         const std::string& prefix) {
    const bool encodes = holds(archive, prefix + "encoder.");
    if (encodes && holds(archive, prefix + "decoder.")) {
        return;
    }
    const json classes = config.value("architectures", json::array());
    const std::string name = classes.is_array() && classes.size() == 1 && classes[0].is_string()
                                 ? fmt::format(" ({})", classes[0].get<std::string>())
                                 : "";
    throw Error(fmt::format("{}{} holds no {}: a \"{}\" model needs both stacks, encoder and decoder", model.path, name,
                            encodes ? "decoder" : "encoder", config.value("model_type", "")));
}

Tying untied_tables(const TensorArchive& archive, const std::string& source, const std::string& target) {
    const bool apart = archive.contains(source) && archive.contains(target) && !same_values(archive, source, target);
    return apart ? Tying::None : Tying::Embeddings;
}

void check_hugging_face(const ModelDirectory& model, const char* length_key) {
    const ModelConfig& net = model.config;
    const bool continues = traits(net.architecture).continues_text;
    const bool yarn = net.positions.rotary.kind == Rotary::Yarn;
    check_imported(model, (fs::path(model.path) / "config.json").string(),
                   {{"pad_id", "pad_token_id"},
                    {"bos_id", continues ? "bos_token_id" : "decoder_start_token_id"},
                    {"eos_id", "eos_token_id"},
                    {"target_begin", "forced_bos_token_id"},
                    {"suppressed_ids", "suppress_tokens"},
                    {"source_vocabulary", "vocab_size"},
                    {"target_vocabulary", "vocab_size"},
                    {"max_length", length_key},
                    {"positions.relative.buckets", "relative_attention_num_buckets"},
                    {"positions.relative.distance", "relative_attention_max_distance"},
                    {"positions.rotary.base", "rope_theta"},
                    {"positions.rotary.columns", "partial_rotary_factor"},
                    {"positions.rotary.factor", "factor"},
                    {"positions.rotary.original_length", "original_max_position_embeddings"},
                    {"positions.rotary.low", yarn ? "beta_slow" : "low_freq_factor"},
                    {"positions.rotary.high", yarn ? "beta_fast" : "high_freq_factor"},
                    {"positions.rotary.magnitude", "attention_factor"},
                    {"attention.d_k", "head_dim"},
                    {"attention.kv_heads", "num_key_value_heads"}});
}

ModelDirectory open_hugging_face(const std::string& folder) {
    const std::string file = (fs::path(folder) / "config.json").string();
    const json config = read_json_file(file);
    Problems problems(folder);
    const std::string type = ForeignConfig(config, "config.json", problems).text("model_type", "");
    const auto found = readers().find(type);
    if (found == readers().end()) {
        std::string known;
        for (const auto& [name, open] : readers()) {
            known += (known.empty() ? "" : ", ") + name;
        }
        const std::string reason = why_unread(type, config);
        throw Error(fmt::format("{}: \"model_type\" is \"{}\"{}; supported are {}", file, type,
                                reason.empty() ? "" : fmt::format(", which needs {}", reason), known));
    }
    return found->second(folder, config);
}

}  // namespace headscope

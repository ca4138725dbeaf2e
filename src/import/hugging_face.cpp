#include "import/hugging_face.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/formats.h"
#include "io/strict_json.h"
#include "support/check.h"

namespace headscope {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

using OpenFamily = ModelDirectory (*)(const std::string& folder, const json& config);

const std::map<std::string, OpenFamily>& families() {
    static const std::map<std::string, OpenFamily> known = {{"marian", open_marian_mt},
                                                            {"bart", open_bart},
                                                            {"mbart", open_mbart},
                                                            {"m2m_100", open_m2m100},
                                                            {"t5", open_t5},
                                                            {"mt5", open_mt5},
                                                            {"gpt2", open_gpt2},
                                                            {"bert", open_bert},
                                                            {"roberta", open_roberta},
                                                            {"distilbert", open_distilbert}};
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

std::string prefix_in(const TensorArchive& archive, const std::string& prefix) {
    const std::vector<std::string> names = archive.names();
    const bool found = std::any_of(names.begin(), names.end(), [&](auto& name) { return name.starts_with(prefix); });
    return found ? prefix : "";
}

Tying untied_tables(const TensorArchive& archive, const std::string& source, const std::string& target) {
    const bool apart = archive.contains(source) && archive.contains(target) && !same_values(archive, source, target);
    return apart ? Tying::None : Tying::Embeddings;
}

namespace {

// Sequences that no output contains, but for the pad, which no output contains anyway.
json bad_words(const ForeignConfig& options, const ModelConfig& net) {
    json words = json::array();
    if (options.at("bad_words_ids").is_array()) {
        for (const json& word : options.at("bad_words_ids")) {
            if (word != json{net.pad_id} && word != json{net.eos_id}) {
                words.push_back(word);
            }
        }
    }
    if (options.at("suppress_tokens").is_array()) {
        for (const json& token : options.at("suppress_tokens")) {
            if (token != net.eos_id && token != net.pad_id) {
                words.push_back({token});
            }
        }
    }
    return words;
}

}  // namespace

void read_generation(const std::string& folder, const json& config, Problems& problems, ModelDirectory& model) {
    const std::string file = file_in(folder, "generation_config.json");
    const json own = file.empty() ? config : read_json_file(file);
    const ForeignConfig options(own, file.empty() ? "config.json" : "generation_config.json", problems);
    json choices = {{"beam", std::clamp<std::int64_t>(options.integer("num_beams", 1, 1), 1, 30)},
                    {"length_penalty", std::clamp(options.number("length_penalty", 1.0), 0.0, 10.0)},
                    {"length_penalty_form", "power"}};
    if (const std::int64_t size = options.integer("no_repeat_ngram_size", 0); size > 0) {
        choices["no_repeat_ngram"] = size;
    }
    if (options.has("forced_bos_token_id")) {
        model.config.target_begin = {static_cast<std::int32_t>(options.integer("forced_bos_token_id", 0))};
    }
    // Their lengths count the start and the forced beginning.
    const std::int64_t given = 1 + std::ssize(model.config.target_begin);
    if (const std::int64_t least = options.integer("min_length", 0); least > given) {
        choices["min_length"] = least - given;
    }
    if (const std::int64_t most = options.integer("max_new_tokens", options.integer("max_length", 1) - 1); most > 0) {
        choices["max_length"] = choices["max_extra"] = std::min<std::int64_t>(most, 100'000);
    }
    if (options.has("forced_eos_token_id")) {
        choices["force_end"] = true;
    }
    if (json words = bad_words(options, model.config); !words.empty()) {
        choices["bad_words"] = std::move(words);
    }
    const json ignored = {{"repetition_penalty", 1.0}, {"encoder_repetition_penalty", 1.0},
                          {"diversity_penalty", 0.0},  {"num_beam_groups", 1},
                          {"do_sample", false},        {"encoder_no_repeat_ngram_size", 0}};
    for (const auto& [key, neutral] : ignored.items()) {
        if (options.has(key) && options.at(key) != neutral) {
            model.remarks.push_back(fmt::format("{}: \"{}\" is ignored", options.file(), key));
        }
    }
    model.decoding = std::make_shared<const json>(std::move(choices));
    model.decoding_origin = file.empty() ? (fs::path(folder) / "config.json").string() : file;
}

void check_hugging_face(const ModelDirectory& model) {
    check_imported(model, (fs::path(model.path) / "config.json").string(),
                   {{"pad_id", "pad_token_id"},
                    {"bos_id", "decoder_start_token_id"},
                    {"eos_id", "eos_token_id"},
                    {"target_begin", "forced_bos_token_id"},
                    {"suppressed_ids", "suppress_tokens"},
                    {"source_vocabulary", "vocab_size"},
                    {"target_vocabulary", "vocab_size"},
                    {"relative_buckets", "relative_attention_num_buckets"},
                    {"relative_distance", "relative_attention_max_distance"}});
}

ModelDirectory open_hugging_face(const std::string& folder) {
    const std::string file = (fs::path(folder) / "config.json").string();
    const json config = read_json_file(file);
    Problems problems(folder);
    const std::string type = ForeignConfig(config, "config.json", problems).text("model_type", "");
    const auto found = families().find(type);
    if (found == families().end()) {
        std::string known;
        for (const auto& [name, open] : families()) {
            known += (known.empty() ? "" : ", ") + name;
        }
        throw Error(fmt::format("{}: \"model_type\" is \"{}\"; supported are {}", file, type, known));
    }
    return found->second(folder, config);
}

}  // namespace headscope

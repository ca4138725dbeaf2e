// generation_config.json of Hugging Face's folders, or the same keys of older config.json files, as our decoding
// options.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/hugging_face.h"
#include "import/hugging_face_generation_keys.h"
#include "io/strict_json.h"
#include "model/model_chat.h"

namespace headscope {

namespace {

using nlohmann::json;
using Ids = std::vector<std::int32_t>;

// What our options can hold (SearchOptions).
constexpr int kMostBeams = 30;
constexpr double kMostLengthPenalty = 10.0;
constexpr std::int64_t kMostTokens = 100'000;
constexpr std::int64_t kMostNgram = 1000;
constexpr double kLeastPenalty = 1e-3;
constexpr double kMostPenalty = 1000.0;

// Where an option is read, and what it becomes.
struct GenerationReader {
    const ForeignConfig& file;
    const json& own;     // the same
    const json& config;  // config.json
    ModelDirectory& model;
    json choices;

    bool causal() const { return model.config.architecture == Architecture::CausalLm; }
    void remark(const std::string& key, const std::string& text) {
        model.remarks.push_back(fmt::format("{}: \"{}\" {}", file.file(), key, text));
    }
    // Ids of the target's vocabulary; a problem for anything else.
    Ids ids(const std::string& key, const json& list) const {
        const Ids found = ids_of(list);
        const auto fits = [&](std::int32_t id) { return id < model.config.target_vocabulary; };
        if (found.empty() || !std::all_of(found.begin(), found.end(), fits)) {
            file.problem(key,
                         fmt::format("must hold ids below {}, found {}", model.config.target_vocabulary, list.dump()));
            return {};
        }
        return found;
    }
    // A number, cut to what our options can hold, which is said.
    json within(const std::string& key, const json& value, const json& least, const json& most) {
        const json held = std::clamp(value, least, most);
        if (held != value) {
            remark(key, fmt::format("is {}, of which {} is used: it must be from {} to {}", value.dump(), held.dump(),
                                    least.dump(), most.dump()));
        }
        return held;
    }
    void remark_several(const std::string& key, const Ids& ids) {
        if (ids.size() > 1) {
            remark(key, fmt::format("holds {} ids, of which only the first, {}, is used", ids.size(), ids.front()));
        }
    }
    bool has_no_probability(std::int32_t id) const {
        const Ids& suppressed = model.config.frame.suppressed_ids;
        return std::find(suppressed.begin(), suppressed.end(), id) != suppressed.end();
    }
    bool is_end(const json& id) const {
        const Ids ends = choices.value("ends", Ids{model.config.frame.eos_id});
        return id.is_number_integer() && std::find(ends.begin(), ends.end(), id.get<std::int32_t>()) != ends.end();
    }
};

// What one key means. Keys in the order in which they must be read: the ends first.
struct Option {
    const char* key;
    json neutral;  // a value that means the same as none
    void (*obey)(GenerationReader& generation, const std::string& key);
};

std::int64_t whole(const GenerationReader& generation, const std::string& key) {
    return generation.file.integer(key, 0, INT64_MIN, INT64_MAX);
}

void copy_ngram(GenerationReader& generation, const std::string& key, const char* ours) {
    generation.choices[ours] = generation.within(key, whole(generation, key), 0, kMostNgram);
}

void copy_number(GenerationReader& generation, const std::string& key, const char* ours, double least, double most) {
    generation.choices[ours] = generation.within(key, generation.file.number(key, 1.0), least, most);
}

// config.json's count if the other file has none.
void read_ends(GenerationReader& generation) {
    const std::string key = "eos_token_id";
    const json& ends = generation.file.has(key) ? generation.file.at(key) : generation.config.value(key, json());
    if (!ends.is_null() && ids_of(ends) != Ids{generation.model.config.frame.eos_id}) {
        if (const Ids ids = generation.ids(key, ends); !ids.empty()) {
            generation.choices["ends"] = ids;
        }
    }
}

// The end of an output at the limit is the first of the ends.
void force_end(GenerationReader& generation, std::int32_t forced) {
    generation.choices["force_end"] = true;
    if (generation.choices.contains("ends")) {
        Ids ends = generation.choices["ends"];
        std::rotate(ends.begin(), std::find(ends.begin(), ends.end(), forced), ends.end());
        generation.choices["ends"] = ends;
    }
}

// transformers gives all of several ends the same probability, of which the least id wins.
void read_forced_end(GenerationReader& generation, const std::string& key) {
    const json& value = generation.file.at(key);
    const Ids forced = ids_of(value);
    if (forced.empty() || !std::ranges::all_of(forced, [&](std::int32_t id) { return generation.is_end(id); })) {
        generation.remark(key,
                          fmt::format("is {}, which is ignored: not all of it is in \"eos_token_id\"", value.dump()));
        return;
    }
    const std::int32_t least = std::ranges::min(forced);
    if (forced.size() > 1) {
        generation.remark(key, fmt::format("is {}, of which {} is used", value.dump(), least));
    }
    force_end(generation, least);
}

void force_usual_end(GenerationReader& generation, std::int32_t usual) {
    const std::string key = "forced_eos_token_id";
    if (usual < 0 || generation.own.contains(key)) {
        return;
    }
    if (generation.is_end(usual)) {
        force_end(generation, usual);
    } else {
        generation.remark(
            key, fmt::format("is missing, and its default, {}, is ignored: it is not in \"eos_token_id\"", usual));
    }
}

void begin_with(GenerationReader& generation, const std::string& key) {
    if (generation.causal()) {
        generation.remark(key, "is ignored: a language model's outputs begin with their prompt");
    } else if (const Ids ids = generation.ids(key, generation.file.at(key)); !ids.empty()) {
        generation.remark_several(key, ids);
        generation.model.config.frame.target_begin = {ids.front()};
    }
}

// Of transformers before 2021.
void begin_with_bos(GenerationReader& generation, const std::string& key) {
    if (generation.file.boolean(key, false) && generation.file.has("bos_token_id") &&
        !generation.file.has("forced_bos_token_id")) {
        begin_with(generation, "bos_token_id");
    }
}

// Hugging Face counts the decoder's start or the prompt in max_length and min_length, and not in the others, which win.
void read_most(GenerationReader& generation, const std::string& key) {
    const bool is_new = key == "max_new_tokens";
    const std::int64_t counted = is_new || generation.causal() ? 0 : 1;
    const std::int64_t most = whole(generation, key) - counted;
    if (most < 1) {
        generation.remark(key, "is ignored: it leaves no room for an output");
        return;
    }
    const std::int64_t extra = std::min(most, kMostTokens);  // beyond what any model takes
    generation.choices["max_extra"] = !is_new && generation.causal() ? kMostTokens : extra;
    generation.choices["max_length"] = is_new && generation.causal() ? 0 : extra;
}

void read_least(GenerationReader& generation, const std::string& key) {
    const bool is_new = key == "min_new_tokens";
    const std::int64_t counted = is_new || generation.causal() ? 0 : 1;
    const std::int64_t least = std::clamp<std::int64_t>(whole(generation, key) - counted, 0, kMostTokens);
    generation.choices["min_length"] = is_new && generation.causal() ? least : 0;
    generation.choices["min_total"] = is_new && generation.causal() ? 0 : least;
}

void read_stopping(GenerationReader& generation, const std::string& key) {
    const json& value = generation.file.at(key);
    if (value.is_boolean() || value == "never") {
        generation.choices["early_stopping"] = value;
    } else {
        generation.file.problem(key, "must be true, false or \"never\", found " + value.dump());
    }
}

// Hugging Face, too, lets an output end.
void add_bad_words(GenerationReader& generation, const std::string& key) {
    for (const json& word : generation.file.at(key)) {
        const Ids ids = generation.ids(key, word);
        if (ids.size() != 1 || (!generation.is_end(ids[0]) && !generation.has_no_probability(ids[0]))) {
            generation.choices["bad_words"].push_back(ids);
        }
    }
}

void add_suppressed(GenerationReader& generation, const std::string& key) {
    for (const std::int32_t token : generation.ids(key, generation.file.at(key))) {
        if (token == generation.model.config.frame.eos_id) {
            generation.remark(key, fmt::format("holds {}, the end of a text, which is not suppressed", token));
        } else if (!generation.has_no_probability(token)) {
            generation.choices["bad_words"].push_back(Ids{token});
        }
    }
}

// The last of equal sequences counts.
void read_bias(GenerationReader& generation, const std::string& key) {
    std::map<Ids, double> biases;
    for (const json& pair : generation.file.at(key)) {
        if (!pair.is_array() || pair.size() != 2 || !pair[1].is_number()) {
            generation.file.problem(key, "must be a list of pairs [[ids], number], found " + pair.dump());
            return;
        }
        biases[generation.ids(key, pair[0])] = pair[1].get<double>();
    }
    for (const auto& [tokens, bias] : biases) {
        generation.choices["sequence_bias"].push_back({tokens, bias});
    }
}

// Sampling is the user's choice. The options that its flags can repeat are named.
void explain_sampling(GenerationReader& generation, const std::string& key) {
    const ForeignConfig& file = generation.file;
    std::string flags = "--sample";
    for (const auto& [theirs, ours, fallback] : {std::tuple{"temperature", "--temperature", 1.0},
                                                 {"top_k", "--top-k", 50.0},
                                                 {"top_p", "--top-p", 1.0},
                                                 {"min_p", "--min-p", 0.0}}) {
        const double value = file.number(theirs, fallback);
        flags += value == 1.0 || value == 0.0 ? "" : fmt::format(" {} {}", ours, value);
    }
    std::string others;
    for (const char* name : {"typical_p", "top_h", "epsilon_cutoff", "eta_cutoff"}) {
        const double value = file.number(name, 1.0);
        others += value == 1.0 || value == 0.0 ? "" : fmt::format("; \"{}\" is not supported", name);
    }
    generation.remark(key, fmt::format("is ignored, outputs are the likeliest: give {} to sample{}", flags, others));
}

const std::vector<Option>& obeyed() {
    static const std::vector<Option> options = {
        {"forced_eos_token_id", nullptr, read_forced_end},
        {"force_bos_token_to_be_generated", false, begin_with_bos},
        {"forced_bos_token_id", nullptr, begin_with},
        {"num_beams", 1,
         [](auto& to, auto& key) { to.choices["beam"] = to.within(key, whole(to, key), 1, kMostBeams); }},
        {"early_stopping", nullptr, read_stopping},
        {"length_penalty", 1.0,
         [](auto& to, auto& key) { copy_number(to, key, "length_penalty", -kMostLengthPenalty, kMostLengthPenalty); }},
        {"max_length", nullptr, read_most},
        {"max_new_tokens", nullptr, read_most},
        {"min_length", 0, read_least},
        {"min_new_tokens", nullptr, read_least},
        {"no_repeat_ngram_size", 0, [](auto& to, auto& key) { copy_ngram(to, key, "no_repeat_ngram"); }},
        {"encoder_no_repeat_ngram_size", 0, [](auto& to, auto& key) { copy_ngram(to, key, "no_source_ngram"); }},
        {"repetition_penalty", 1.0,
         [](auto& to, auto& key) { copy_number(to, key, "repetition_penalty", kLeastPenalty, kMostPenalty); }},
        {"encoder_repetition_penalty", 1.0,
         [](auto& to, auto& key) { copy_number(to, key, "source_repetition_penalty", kLeastPenalty, kMostPenalty); }},
        {"bad_words_ids", nullptr, add_bad_words},
        {"suppress_tokens", nullptr, add_suppressed},
        {"begin_suppress_tokens", nullptr,
         [](auto& to, auto& key) { to.choices["bad_first"] = to.ids(key, to.file.at(key)); }},
        {"sequence_bias", nullptr, read_bias},
        {"exponential_decay_length_penalty", nullptr,
         [](auto& to, auto& key) { to.choices["end_growth"] = to.file.at(key); }},
        {"renormalize_logits", false,
         [](auto& to, auto& key) { to.choices["renormalize"] = to.file.boolean(key, false); }},
        {"do_sample", false, explain_sampling},
    };
    return options;
}

bool counts(const ForeignConfig& file, const std::string& key, const json& neutral) {
    const json& value = file.at(key);
    return !value.is_null() && value != neutral && !(value.is_array() && value.empty());
}

void name_what_is_not_obeyed(GenerationReader& generation, bool has_own_file) {
    std::set<std::string> known = harmless_generation_keys();
    known.insert("eos_token_id");
    for (const Option& option : obeyed()) {
        known.insert(option.key);
    }
    for (const auto& [key, neutral] : ignored_generation_keys()) {
        known.insert(key);
        if (counts(generation.file, key, neutral)) {
            generation.remark(key, "is ignored");
        }
    }
    for (const auto& [key, value] : generation.own.items()) {
        if (has_own_file && !known.contains(key) && !value.is_null()) {
            generation.remark(key, "is ignored: this key is unknown");
        }
    }
}

// The decoder's start. Without a key of its own it is the beginning of a text, in config.json only if that key is null
// or the family has no other start; config.json's counts only if the other file names neither.
void read_start(GenerationReader& generation, bool has_own_file, bool begins_with_bos) {
    constexpr const char* kStart = "decoder_start_token_id";
    ModelConfig& net = generation.model.config;
    for (const json* file : {&generation.own, &generation.config}) {
        const bool is_own = has_own_file && file == &generation.own;
        for (const char* key : {kStart, "bos_token_id"}) {
            const Ids ids = ids_of(file->value(key, json()));
            const bool counts = key == kStart || is_own || begins_with_bos || file->contains(kStart);
            if (ids.empty() || !counts) {
                continue;
            }
            net.frame.bos_id = ids.front();
            generation.remark_several(key, ids);
            if (is_own && net.frame.bos_id >= net.target_vocabulary) {
                generation.file.problem(key, fmt::format("must be below {}", net.target_vocabulary));
            }
            return;
        }
    }
}

}  // namespace

std::vector<std::int32_t> ids_of(const json& value) {
    const auto is_id = [](const json& id) { return id.is_number_integer() && id >= 0 && id <= INT32_MAX; };
    if (is_id(value)) {
        return {value.get<std::int32_t>()};
    }
    return value.is_array() && std::all_of(value.begin(), value.end(), is_id) ? value.get<Ids>() : Ids{};
}

std::int32_t end_id(const ForeignConfig& config, std::int32_t fallback) {
    const json& value = config.at("eos_token_id");
    const Ids ids = ids_of(value);
    if (ids.empty() && !value.is_null()) {
        config.problem("eos_token_id", "must be an id or a list of ids, found " + value.dump());
    }
    return ids.empty() ? fallback : ids.front();
}

void read_generation(const std::string& folder, const json& config, Problems& problems, ModelDirectory& model,
                     const GenerationDefaults& defaults) {
    const std::string path = file_in(folder, "generation_config.json");
    const json own = path.empty() ? config : read_json_file(path);
    const ForeignConfig file(own, path.empty() ? "config.json" : "generation_config.json", problems);
    GenerationReader generation{file, own, config, model,
                                json{{"beam", 1},
                                     {"length_penalty", 1.0},
                                     {"length_penalty_form", "power"},
                                     {"early_stopping", false},
                                     {"allow_start", true},
                                     {"min_length", 0}}};
    read_ends(generation);
    if (!generation.causal()) {
        read_start(generation, !path.empty(), defaults.begins_with_bos);
    }
    if (path.empty()) {
        force_usual_end(generation, defaults.forced_end);
    }
    for (const Option& option : obeyed()) {
        if (counts(file, option.key, option.neutral)) {
            option.obey(generation, option.key);
        }
    }
    name_what_is_not_obeyed(generation, !path.empty());
    if (const std::string jinja = generation.causal() ? chat_source(folder) : ""; !jinja.empty()) {
        generation.choices[kChatKey] = chat_of_jinja(jinja);
    }
    model.decoding = std::make_shared<const json>(std::move(generation.choices));
    model.decoding_origin = path.empty() ? (std::filesystem::path(folder) / "config.json").string() : path;
}

}  // namespace headscope

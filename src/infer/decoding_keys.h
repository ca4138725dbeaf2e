// What a row of the table of decoding options (decoding_rows.h) says, and what every row can do.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/model_directory.h"

namespace headscope {

struct DecodingChoices;
struct DecodingOptions;

// Sets of what writes outputs: the models to which an option means something.
inline constexpr unsigned kTranslatesInOrder = 1;  // from left to right
inline constexpr unsigned kMaskPredict = 2;        // a translation model that fills in masks
inline constexpr unsigned kCompletes = 4;          // a causal language model
inline constexpr unsigned kTranslation = kTranslatesInOrder | kMaskPredict;
inline constexpr unsigned kLeftToRight = kTranslatesInOrder | kCompletes;
inline constexpr unsigned kAllWriters = kTranslation | kCompletes;

// The one of these that a model is; 0 for a masked language model, which decoding options do not concern.
unsigned writer_of(const ModelConfig& config);

struct DecodingFacts {
    const char* key = "";  // by default the member's name
    double least = 0.0, most = 0.0;
    bool above = false;                        // `least` itself is out of range
    std::span<const char* const> names = {};   // of an enum's values
    unsigned writers = kAllWriters;            // who obeys it
    bool of_model = true;                      // a model's author may choose it, in decoding.json
    bool explored = true;                      // a search that is explored (explore/) obeys it
    const char* needs = "";                    // another key, without which this one has no effect
    std::array<const char*, 2> excludes = {};  // keys that contradict it
    bool has_flag = true;                      // by default the key, with dashes
    const char* completion_flag = "";          // if completing has another flag
    const char* default_text = "";             // for a default that is no value
    const char* help = "";                     // one line of plain text
    const char* page = "";                     // more for the documents, in Markdown
};

// A value as it is given. `shown` stands for it in messages; only `model` knows ids of pieces, and may be null.
struct GivenValue {
    const nlohmann::json& json;
    std::string shown;
    const ModelDirectory* model;
};

struct DecodingKey : DecodingFacts {
    std::string_view type = {};  // "boolean", "integer", "number", "choice", "text" or "list"
    // Sets the member. An Error without the key says what the value must be and what it is.
    void (*read)(const DecodingKey& key, const GivenValue& value, DecodingChoices& choices) = nullptr;
    // The value as JSON; null if it is not chosen.
    nlohmann::json (*chosen)(const DecodingKey& key, const DecodingChoices& choices) = nullptr;
    void (*apply)(const DecodingChoices& choices, DecodingOptions& options) = nullptr;
    // Its value in complete options.
    nlohmann::json (*value)(const DecodingKey& key, const DecodingOptions& options) = nullptr;

    // "--beam"; empty if it has none. `writers`: who the command is for.
    std::string flag(unsigned writers = kTranslation) const;
    std::string values() const;  // "1 to 30"
    // "the model's decoding.json, or 4"
    std::string default_for(unsigned writers) const;
};

// In the table's order.
std::span<const DecodingKey> decoding_keys();
// One that there is.
const DecodingKey& decoding_key(std::string_view name);

// A command-line argument as JSON of the key's type; as a string if it is none, which read() refuses.
nlohmann::json json_of_text(const DecodingKey& key, const std::string& text);

// Every key for programs: an array of objects with key, type, values, least and most (of numbers), choices, default and
// completion_default, translates, mask_predict and completes (who obeys it), in_decoding_json, help.
nlohmann::ordered_json list_decoding_keys();
// The table for the documents, in Markdown: of the keys that an author may choose, or of the others.
std::string table_of_decoding_keys(bool of_model);

}  // namespace headscope

#include "infer/decoding_keys.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "infer/decoding_choices.h"
#include "infer/decoding_values.h"
#include "infer/translation.h"
#include "model/family.h"
#include "support/check.h"

namespace headscope {

namespace {

constexpr const char* kLengthPenaltyForms[] = {"gnmt", "power"};
constexpr const char* kStoppings[] = {"exact", "true", "false", "never"};

// `chosen` is the member of DecodingChoices, `place` returns a reference to what it sets in a DecodingOptions.
template <auto chosen, class Place>
DecodingKey key_of(const char* member, const DecodingFacts& facts, Place) {
    using Value = typename std::remove_cvref_t<decltype(std::declval<DecodingChoices>().*chosen)>::value_type;
    DecodingKey key{facts};
    key.key = *key.key != '\0' ? key.key : member;
    key.type = type_of<Value>();
    key.read = [](const DecodingKey& of, const GivenValue& given, DecodingChoices& choices) {
        Value value{};
        read_value(of, given, value);
        choices.*chosen = std::move(value);
    };
    key.chosen = [](const DecodingKey& of, const DecodingChoices& choices) {
        return choices.*chosen ? write_value(of, *(choices.*chosen)) : nlohmann::json();
    };
    key.apply = [](const DecodingChoices& choices, DecodingOptions& options) {
        if (choices.*chosen) {
            Place{}(options) = *(choices.*chosen);
        }
    };
    key.value = [](const DecodingKey& of, const DecodingOptions& options) { return write_value(of, Place{}(options)); };
    return key;
}

std::vector<DecodingKey> all_keys() {
    return {
#define HEADSCOPE_SEARCH_OPTION(Type, member, initial, ...) \
    HEADSCOPE_OTHER_OPTION(Type, member, options.search.member, __VA_ARGS__)
#define HEADSCOPE_OTHER_OPTION(Type, member, place, ...) \
    key_of<&DecodingChoices::member>(                    \
        #member, DecodingFacts{__VA_ARGS__}, [](auto& options) -> auto& { return place; }),
#include "infer/decoding_rows.h"
    };
}

template <class Number>
nlohmann::json number_or_text(const std::string& text) {
    Number number{};
    const char* end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, number);
    return problem == std::errc() && stop == end ? nlohmann::json(number) : nlohmann::json(text);
}

DecodingOptions defaults_of(unsigned writer) {
    return default_decoding_options(writer == kCompletes ? Architecture::CausalLm : Architecture::EncoderDecoder);
}

// "4; completing: 1"
std::string default_in_page(const DecodingKey& key) {
    if (*key.default_text != '\0') {
        return key.default_text;
    }
    const auto text = [&](unsigned writer) {
        const nlohmann::json value = key.value(key, defaults_of(writer));
        return value == ""                               ? "-"
               : value.is_number() || value.is_boolean() ? value.dump()
                                                         : fmt::format("`{}`", value.dump());
    };
    const std::string usual = text(kTranslatesInOrder);
    const std::string completing = text(kCompletes);
    return usual == completing || (key.writers & kCompletes) == 0 ? usual : usual + "; completing: " + completing;
}

const char* name_of_writers(unsigned writers) {
    switch (writers) {
        case kAllWriters: return "all";
        case kLeftToRight: return "left to right";
        case kTranslation: return "translation";
        case kMaskPredict: return "mask-predict";
        default: return "completion";
    }
}

}  // namespace

unsigned writer_of(const ModelConfig& config) {
    const FamilyTraits& family = traits(config.architecture);
    if (family.fills_masks) {
        return 0;
    }
    return family.continues_text                          ? kCompletes
           : config.generation == Generation::MaskPredict ? kMaskPredict
                                                          : kTranslatesInOrder;
}

std::string DecodingKey::flag(unsigned for_writers) const {
    if (!has_flag) {
        return "";
    }
    if (for_writers == kCompletes && *completion_flag != '\0') {
        return completion_flag;
    }
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', '-');
    return "--" + name;
}

std::string DecodingKey::default_for(unsigned for_writers) const {
    const nlohmann::json initial = value(*this, defaults_of(for_writers));
    const std::string text = *default_text != '\0' ? default_text
                             : initial.is_string() ? initial.get<std::string>()
                                                   : initial.dump();
    return !of_model ? text : text.empty() ? "the model's decoding.json" : "the model's decoding.json, or " + text;
}

std::span<const DecodingKey> decoding_keys() {
    static const std::vector<DecodingKey> keys = all_keys();
    return keys;
}

const DecodingKey& decoding_key(std::string_view name) {
    const auto keys = decoding_keys();
    const auto found = std::ranges::find_if(keys, [&](const DecodingKey& key) { return name == key.key; });
    HEADSCOPE_CHECK(found != keys.end(), "there is no such decoding option");
    return *found;
}

nlohmann::json json_of_text(const DecodingKey& key, const std::string& text) {
    const std::size_t first = text.starts_with('-') ? 1 : 0;
    if (key.type == "integer" && !(text.size() > first + 1 && text[first] == '0')) {  // 010 is no number
        const nlohmann::json number = number_or_text<std::uint64_t>(text);
        return number.is_number() ? number : number_or_text<std::int64_t>(text);
    }
    if (key.type == "number") {
        return number_or_text<double>(text);
    }
    if (key.type == "list" && text.starts_with('[')) {
        const nlohmann::json list = nlohmann::json::parse(text, nullptr, false);
        return list.is_discarded() ? nlohmann::json(text) : list;
    }
    const bool truth = (key.type == "boolean" || key.type == "choice") && (text == "true" || text == "false");
    return truth ? nlohmann::json(text == "true") : nlohmann::json(text);
}

nlohmann::ordered_json list_decoding_keys() {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const DecodingKey& key : decoding_keys()) {
        nlohmann::ordered_json row = {{"key", key.key}, {"type", key.type}, {"values", key.values()}};
        if (key.most > key.least) {
            row.update({{"least", key.least}, {"least_excluded", key.above}, {"most", key.most}});
        }
        for (const char* name : key.names) {
            row["choices"].push_back(name);
        }
        row["default"] = key.value(key, defaults_of(kTranslatesInOrder));
        row["completion_default"] = key.value(key, defaults_of(kCompletes));
        row["translates"] = (key.writers & kTranslatesInOrder) != 0;
        row["mask_predict"] = (key.writers & kMaskPredict) != 0;
        row["completes"] = (key.writers & kCompletes) != 0;
        row["in_decoding_json"] = key.of_model;
        row["help"] = key.help;
        list.push_back(std::move(row));
    }
    return list;
}

std::string table_of_decoding_keys(bool of_model) {
    std::string text = "| key | option | values | default | models | meaning |\n|---|---|---|---|---|---|\n";
    for (const DecodingKey& key : decoding_keys()) {
        if (key.of_model != of_model) {
            continue;
        }
        std::string flags = key.has_flag ? fmt::format("`{}`", key.flag()) : "-";
        flags += *key.completion_flag != '\0' ? fmt::format(", `{}`", key.completion_flag) : "";
        text +=
            fmt::format("| `{}` | {} | {} | {} | {} | {}{}{} |\n", key.key, flags, key.values(), default_in_page(key),
                        name_of_writers(key.writers), key.help, *key.page != '\0' ? ". " : "", key.page);
    }
    return text;
}

}  // namespace headscope

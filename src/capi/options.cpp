#include "capi/options.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "capi/failures.h"
#include "capi/text.h"
#include "infer/decoding_keys.h"
#include "support/utf8.h"

namespace headscope {

namespace {

const OptionRow& row_of(std::string_view key) {
    return *std::ranges::find(option_rows(), key, &OptionRow::key);  // it was checked
}

template <class Element>
std::vector<Element> elements(const nlohmann::json& list, const char* key, bool (*is)(const nlohmann::json&),
                              const char* wanted) {
    std::vector<Element> all;
    for (const nlohmann::json& element : list) {
        if (!is(element)) {
            throw Failure(HS_INVALID,
                          fmt::format("option: \"{}\" must be a list of {}, and has {}", key, wanted, shown(element)));
        }
        all.push_back(element.get<Element>());
    }
    return all;
}

bool is_small(const nlohmann::json& value) {
    return value.is_number_integer() && value.get<double>() >= 0 && value.get<double>() <= kAnyNumber;
}

[[noreturn]] void refuse_edit(const nlohmann::json& edit, const std::string& why) {
    throw Failure(HS_INVALID, fmt::format("option: an edit has {}, got {}", why, shown(edit)));
}

int part_of_edit(const nlohmann::json& edit, const char* key, int least, std::optional<int> initial) {
    const auto found = edit.find(key);
    if (found == edit.end() && initial) {
        return *initial;
    }
    if (found == edit.end() || !is_small(*found) || found->get<int>() < least) {
        refuse_edit(edit, fmt::format("a whole number from {} as \"{}\"", least, key));
    }
    return found->get<int>();
}

AttentionEdit edit_of(const nlohmann::json& edit) {
    constexpr std::array kKeys{"kind", "layer", "head", "edit", "query", "key"};
    if (!edit.is_object()) {
        refuse_edit(edit, "a kind, a layer and a head");
    }
    for (const auto& [key, value] : edit.items()) {
        if (std::ranges::none_of(kKeys, [&name = key](const char* known) { return name == known; })) {
            refuse_edit(edit, fmt::format("no \"{}\", but {}", key, fmt::join(kKeys, ", ")));
        }
    }
    const auto text = [&](const char* key, const char* initial) {
        const nlohmann::json value = edit.value(key, nlohmann::json(initial));
        return value.is_string() ? value.get<std::string>() : std::string();
    };
    const std::string name = text("edit", "off");
    const auto* const found = std::ranges::find_if(kEditNames, [&](const auto& each) { return name == each.first; });
    if (found == kEditNames.end()) {
        refuse_edit(edit, "off, uniform, pin or unmasked as \"edit\"");
    }
    AttentionEdit result;
    result.kind = found->second;
    result.site = {parse_attention_kind(text("kind", "")), part_of_edit(edit, "layer", 1, {}) - 1};
    result.head = part_of_edit(edit, "head", 1, {});
    result.query = part_of_edit(edit, "query", 0, -1);
    const bool pins = result.kind == EditKind::Pin;
    if (!pins && edit.contains("key")) {
        refuse_edit(edit, "a \"key\" only to pin");
    }
    result.key = pins ? part_of_edit(edit, "key", 0, {}) : -1;
    return result;
}

}  // namespace

ChosenOptions::ChosenOptions(const hs_options* options, Uses use) {
    static const hs_options none{};
    options_ = options == nullptr ? &none : options;
    for (const auto& [key, value] : options_->values.items()) {
        if (const Uses uses = row_of(key).uses; (uses & use) == 0) {
            throw Failure(HS_INVALID, fmt::format("the option \"{}\" means nothing to {}: it is for {}", key,
                                                  fmt::join(names_of(use), ", "), fmt::join(names_of(uses), ", ")));
        }
    }
    const bool hooked = !options_->patches.empty() || !options_->hooks.empty();
    if (hooked && use != use_of(HS_RUN)) {
        throw Failure(HS_INVALID, fmt::format("patches and hooks mean nothing to {}: they are for HS_RUN",
                                              fmt::join(names_of(use), ", ")));
    }
}

nlohmann::json ChosenOptions::value(const char* key) const {
    const auto found = options_->values.find(key);
    return found == options_->values.end() ? row_of(key).initial : *found;
}

bool ChosenOptions::on(const char* key) const {
    return value(key).get<bool>();
}

std::int64_t ChosenOptions::integer(const char* key) const {
    return value(key).get<std::int64_t>();
}

double ChosenOptions::number(const char* key) const {
    return value(key).get<double>();
}

std::string ChosenOptions::text(const char* key) const {
    return value(key).get<std::string>();
}

std::vector<std::string> ChosenOptions::texts(const char* key) const {
    return elements<std::string>(
        value(key), key, [](const nlohmann::json& each) { return each.is_string(); }, "texts");
}

std::vector<int> ChosenOptions::integers(const char* key) const {
    return elements<int>(value(key), key, is_small, "whole numbers");
}

DecodingChoices ChosenOptions::decoding(const ModelDirectory& model) const {
    nlohmann::json decoding = nlohmann::json::object();
    for (const DecodingKey& key : decoding_keys()) {
        if (const auto found = options_->values.find(key.key); found != options_->values.end()) {
            decoding[key.key] = *found;
        }
    }
    DecodingChoices choices;
    set_choices(choices, decoding, "option", &model);
    return choices;
}

Settings ChosenOptions::settings() const {
    Settings settings;
    const nlohmann::json values = value("settings");
    for (const auto& [name, value] : values.items()) {
        if (!value.is_string()) {
            throw Failure(HS_INVALID, fmt::format("option: \"settings\" has texts, but {} is {}", name, shown(value)));
        }
        settings.set(name, value.get<std::string>());
    }
    if (has("threads")) {
        settings.set("HEADSCOPE_THREADS", std::to_string(integer("threads")));
    }
    return settings;
}

std::vector<AttentionEdit> ChosenOptions::edits() const {
    std::vector<AttentionEdit> edits;
    const nlohmann::json list = value("edits");
    for (const nlohmann::json& each : list) {
        edits.push_back(edit_of(each));
    }
    return edits;
}

}  // namespace headscope

namespace {

using headscope::Failure;
using headscope::given;
using headscope::guarded;
using headscope::guarded_input;

// Of a patch, which has 1 to 4 dimensions.
headscope::Shape shape_of(const hs_array& array) {
    const std::array kOnes{headscope::Shape{1}, headscope::Shape{1, 1}, headscope::Shape{1, 1, 1},
                           headscope::Shape{1, 1, 1, 1}};
    headscope::Shape shape = kOnes.at(static_cast<std::size_t>(array.rank - 1));
    std::int64_t count = 1;
    for (int i = 0; i < array.rank; ++i) {
        constexpr std::int64_t kMost = std::int64_t{1} << 31;
        const std::int64_t size = array.shape[i];
        if (size < 1 || count > kMost / size) {
            throw Failure(
                HS_INVALID,
                fmt::format("a patch has {} values in dimension {}: expected 1 or more, and fewer than 2^31 in "
                            "all",
                            size, i));
        }
        count *= size;
        shape.set(i, size);
    }
    return shape;
}

hs_status set_option(hs_options* options, const char* key, nlohmann::json value, hs_error** error) {
    return guarded_input(error, [&] {
        nlohmann::json& values = given(options, "options").values;
        const std::string name = &given(key, "key");
        headscope::require_option(name);
        if (value.is_null()) {
            values.erase(name);
            return;
        }
        const auto row = std::ranges::find(headscope::option_rows(), name, &headscope::OptionRow::key);
        if (row != headscope::option_rows().end() && row->type == "boolean" && (value == 0 || value == 1)) {
            value = value == 1;
        }
        headscope::check_option(name, value);
        values[name] = std::move(value);
    });
}

}  // namespace

hs_options* hs_options_new() {
    return new (std::nothrow) hs_options;
}

void hs_options_free(hs_options* options) {
    delete options;
}

hs_status hs_options_set_integer(hs_options* options, const char* key, int64_t value, hs_error** error) {
    return set_option(options, key, value, error);
}

hs_status hs_options_set_number(hs_options* options, const char* key, double value, hs_error** error) {
    return set_option(options, key, value, error);
}

hs_status hs_options_set_text(hs_options* options, const char* key, hs_text value, hs_error** error) {
    return guarded_input(error, [&] {
        std::string text = headscope::taken(value, "the value");
        if (const auto invalid = headscope::first_invalid_utf8(text)) {
            throw Failure(HS_INVALID, fmt::format("option: the value of \"{}\" is not UTF-8 at byte {}",
                                                  key == nullptr ? "" : key, *invalid));
        }
        return set_option(options, key, std::move(text), error);
    });
}

hs_status hs_options_set_json(hs_options* options, const char* key, hs_text value, hs_error** error) {
    return guarded_input(error, [&] {
        const std::string name = key == nullptr ? "" : key;
        nlohmann::json json =
            headscope::parsed(headscope::taken(value, "the value"), "option: the value of \"" + name + "\"");
        return set_option(options, key, std::move(json), error);
    });
}

hs_status hs_options_keys(hs_buffer** json, hs_error** error) {
    return guarded(error, [&] {
        nlohmann::ordered_json list = nlohmann::ordered_json::array();
        for (const headscope::OptionRow& row : headscope::option_rows()) {
            nlohmann::ordered_json one{{"key", row.key}, {"type", row.type}};
            if (row.most > row.least) {
                one.update({{"least", row.least}, {"most", row.most}});
            }
            if (!row.choices.empty()) {
                one["choices"] = row.choices;
            }
            one.update({{"default", row.initial}, {"for", headscope::names_of(row.uses)}, {"help", row.help}});
            list.push_back(std::move(one));
        }
        headscope::give(json, list.dump());
    });
}

hs_status hs_options_patch(hs_options* options, const char* site, const hs_array* by, int64_t head, int64_t first,
                           hs_error** error) {
    return guarded_input(error, [&] {
        hs_options& to = given(options, "options");
        const hs_array& array = given(by, "by");
        headscope::require_size(array.size, offsetof(hs_array, data) + sizeof(array.data), "the patch", "hs_array");
        if (array.type != HS_FLOAT32 || array.rank < 1 || array.rank > headscope::kMaxRank || array.data == nullptr) {
            throw Failure(HS_INVALID,
                          fmt::format("a patch is an array of HS_FLOAT32 with 1 to 4 dimensions, got type {} "
                                      "with {} dimensions{}",
                                      array.type, array.rank, array.data == nullptr ? " and no data" : ""));
        }
        const headscope::Shape shape = shape_of(array);
        if (head < 0 || head > headscope::kAnyNumber || first < 0) {
            throw Failure(HS_INVALID,
                          fmt::format("a patch of head {} from position {}: heads count from 1, 0 is all, and "
                                      "positions from 0",
                                      head, first));
        }
        const auto* const data = static_cast<const float*>(array.data);
        to.patches.push_back({.by = {.site = &given(site, "site"),
                                     .shape = shape,
                                     .values = std::vector<float>(data, data + shape.elements())},
                              .first = first,
                              .head = static_cast<int>(head)});
    });
}

hs_status hs_options_hook(hs_options* options, const char* site, hs_hook_function function, void* user,
                          hs_error** error) {
    return guarded_input(error, [&] {
        given(options, "options").hooks.push_back({&given(site, "site"), &given(function, "function"), user});
    });
}

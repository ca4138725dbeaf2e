#include "import/declared_tokens.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/common.h"
#include "io/strict_json.h"
#include "support/check.h"
#include "text/tokenizer_json.h"

namespace headscope {

namespace {

using nlohmann::json;

constexpr std::array<const char*, 2> kFurther{"additional_special_tokens", "extra_special_tokens"};

// A token as the files write it: its text, or an object with its rules.
std::optional<DeclaredToken> token_of(const json& value, bool special) {
    if (value.is_string()) {
        return DeclaredToken{.token = {.content = value.get<std::string>(), .special = special}};
    }
    if (!value.is_object() || !value.contains("content") || !value["content"].is_string()) {
        return std::nullopt;
    }
    const auto flag = [&](const char* key, bool fallback) {
        const auto found = value.find(key);
        return found != value.end() && found->is_boolean() ? found->get<bool>() : fallback;
    };
    AddedToken token{.content = value["content"].get<std::string>(), .special = special || flag("special", false)};
    token.lstrip = flag("lstrip", false);
    token.rstrip = flag("rstrip", false);
    token.normalized = flag("normalized", !token.special);
    token.single_word = flag("single_word", false);
    return DeclaredToken{.token = std::move(token), .has_rules = true};
}

// Collects tokens; the rules that come later count.
class DeclaredList {
public:
    void add(std::optional<DeclaredToken> one) {
        if (!one || one->token.content.empty()) {
            return;
        }
        const auto [found, is_new] = places_.emplace(one->token.content, tokens_.size());
        if (is_new) {
            tokens_.push_back(*std::move(one));
        } else if (DeclaredToken& known = tokens_[found->second]; one->has_rules) {
            known.token = std::move(one->token);
            known.has_rules = true;
        } else {
            known.token.special = known.token.special || one->token.special;
        }
    }
    // Those with ids first, in their order.
    std::vector<DeclaredToken> tokens() && {
        std::ranges::stable_sort(tokens_, {}, [](const DeclaredToken& one) {
            return one.id < 0 ? std::pair(true, 0) : std::pair(false, one.id);
        });
        return std::move(tokens_);
    }

private:
    std::vector<DeclaredToken> tokens_;
    std::unordered_map<std::string, std::size_t> places_;
};

constexpr std::array<const char*, 7> kRoles{"bos_token", "eos_token", "unk_token", "sep_token",
                                            "pad_token", "cls_token", "mask_token"};

// "mask_token" and the like, then the further ones.
std::vector<DeclaredToken> declared_specials(const json& file) {
    std::vector<DeclaredToken> found;
    const auto add = [&](const json& value) {
        if (std::optional<DeclaredToken> one = token_of(value, true)) {
            found.push_back(*std::move(one));
        }
    };
    for (const char* role : kRoles) {
        if (const auto value = file.find(role); value != file.end()) {
            add(*value);
        }
    }
    for (const char* key : kFurther) {
        if (const auto list = file.find(key); list != file.end() && list->is_structured()) {
            for (const json& value : *list) {
                add(value);
            }
        }
    }
    return found;
}

void require_object(const json& value, const std::string& what) {
    if (!value.is_object()) {
        throw Error(fmt::format("{}: expected a JSON object, found {}", what, value.type_name()));
    }
}

// Error for a token that is neither its text nor an object with it.
void check_specials(const json& file, const std::string& name) {
    for (const char* role : kRoles) {
        const auto value = file.find(role);
        if (value != file.end() && !value->is_null() && !token_of(*value, true)) {
            throw Error(fmt::format("{}: \"{}\" is {}: expected a string, or an object with \"content\"", name, role,
                                    value->dump()));
        }
    }
}

// tokenizer_config.json, over which special_tokens_map.json counts unless there is an "added_tokens_decoder".
json with_older_specials(const std::string& folder, json settings) {
    check_specials(settings, "tokenizer_config.json");
    const std::string file = file_in(folder, "special_tokens_map.json");
    if (!file.empty() && !settings.contains("added_tokens_decoder")) {
        const json older = read_json_file(file);
        require_object(older, file);
        check_specials(older, file);
        settings.update(older);
    }
    return settings;
}

std::int32_t id_in_json(const json& id, const std::string& file, const std::string& token) {
    if (!id.is_number_integer() || id < 0 || id > 0x7fffffff) {
        throw Error(
            fmt::format("{}: the id of the token '{}' must be an integer from 0, but is {}", file, token, id.dump()));
    }
    return id.get<std::int32_t>();
}

void add_decoder(const json& decoder, DeclaredList& declared) {
    require_object(decoder, "tokenizer_config.json: \"added_tokens_decoder\"");
    for (const auto& [id, value] : decoder.items()) {
        std::optional<DeclaredToken> one = token_of(value, false);
        const bool is_number = !id.empty() && id.size() < 10 && id.find_first_not_of("0123456789") == std::string::npos;
        if (!one || !is_number) {
            throw Error(
                fmt::format("tokenizer_config.json: \"added_tokens_decoder\" has \"{}\": {}, which is not an "
                            "id with its token",
                            id, value.dump()));
        }
        one->id = std::stoi(id);
        declared.add(std::move(one));
    }
}

// Those of the older file, added_tokens.json.
void add_older(const std::string& folder, const json& settings, DeclaredList& declared) {
    const std::string file = file_in(folder, "added_tokens.json");
    if (file.empty()) {
        return;
    }
    std::set<std::string> special;
    for (const DeclaredToken& one : declared_specials(settings)) {
        special.insert(one.token.content);
    }
    const json ids = read_json_file(file);
    require_object(ids, file);
    for (const auto& [content, id] : ids.items()) {
        const bool is_special = special.contains(content);
        declared.add(DeclaredToken{.token = {.content = content, .special = is_special, .normalized = !is_special},
                                   .id = id_in_json(id, file, content),
                                   .has_rules = true});
    }
}

// -1 if there is none.
std::int64_t integer_in(const json& object, const char* key) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    return object.is_object() && found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : -1;
}

std::int64_t id_in_model(const json& vocabulary, const std::string& content) {
    if (!vocabulary.is_array()) {
        return integer_in(vocabulary, content.c_str());
    }
    const auto found = std::ranges::find_if(
        vocabulary, [&](const json& piece) { return piece.is_array() && !piece.empty() && piece.front() == content; });
    return found == vocabulary.end() ? -1 : found - vocabulary.begin();
}

}  // namespace

std::vector<DeclaredToken> declared_tokens(const std::string& folder, const json& settings) {
    DeclaredList declared;
    const json special = with_older_specials(folder, settings);
    if (const auto decoder = settings.find("added_tokens_decoder"); decoder != settings.end()) {
        add_decoder(*decoder, declared);
    } else {
        add_older(folder, special, declared);
    }
    for (DeclaredToken& one : declared_specials(special)) {
        declared.add(std::move(one));
    }
    return std::move(declared).tokens();
}

std::string declared_role(const std::string& folder, const json& settings, const std::string& role) {
    const json special = with_older_specials(folder, settings);
    const auto token = token_of(special.value(role, json()), true);
    return token ? token->token.content : "";
}

bool add_declared(json& tokenizer, const std::vector<DeclaredToken>& declared, std::int64_t rows,
                  std::vector<std::string>& left_out) {
    const json& vocabulary = tokenizer["model"]["vocab"];
    json& added = tokenizer["added_tokens"];
    added = added.is_array() ? added : json::array();
    std::int64_t next = std::ssize(vocabulary);
    for (const json& token : added) {
        next = std::max(next, integer_in(token, "id") + 1);
    }
    bool changed = false;
    for (const DeclaredToken& one : declared) {
        const auto found = std::ranges::find_if(added, [&](const json& token) {
            return token.is_object() && token.contains("content") && token["content"] == one.token.content;
        });
        const std::int64_t in_model = found == added.end() ? id_in_model(vocabulary, one.token.content) : -1;
        const std::int64_t id = found != added.end() ? integer_in(*found, "id")
                                : in_model >= 0      ? in_model
                                : one.id >= 0        ? one.id
                                                     : next;
        if (id >= rows) {
            if (found == added.end()) {
                left_out.push_back(one.token.content);
            }
            continue;
        }
        next = std::max(next, id + 1);
        const json ruled = added_token_json(one.token, static_cast<std::int32_t>(id));
        if (found == added.end()) {
            added.push_back(ruled);
            changed = true;
        } else if (one.has_rules && ruled != *found) {
            *found = ruled;
            changed = true;
        }
    }
    return changed;
}

}  // namespace headscope

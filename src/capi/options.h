// What hs_options hold, and how functions read it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <headscope/headscope.h>
#include "capi/option_table.h"
#include "explore/exploration.h"
#include "explore/hooked_run.h"
#include "infer/decoding_choices.h"
#include "support/settings.h"

// A copy of the user's pointers, which the header says how long they must live.
struct SiteHook {
    std::string pattern;
    hs_hook_function function = nullptr;
    void* user = nullptr;
};

struct hs_options {
    nlohmann::json values = nlohmann::json::object();  // by key, as checked
    std::vector<headscope::SitePatch> patches = {};
    std::vector<SiteHook> hooks = {};
};

namespace headscope {

// The options of one call.
class ChosenOptions {
public:
    // Failure for a key that the use does not obey. `options` may be null.
    ChosenOptions(const hs_options* options, Uses use);

    bool has(const char* key) const { return options_->values.contains(key); }
    bool on(const char* key) const;
    std::int64_t integer(const char* key) const;
    double number(const char* key) const;
    std::string text(const char* key) const;
    // Empty if it is not given. Failure for an element of another type.
    std::vector<std::string> texts(const char* key) const;
    std::vector<int> integers(const char* key) const;
    nlohmann::json value(const char* key) const;  // or its default

    // The decoding options among them. `model` knows ids of pieces.
    DecodingChoices decoding(const ModelDirectory& model) const;
    Settings settings() const;  // with "threads"
    // Failure for a wrong one.
    std::vector<AttentionEdit> edits() const;
    const std::vector<SitePatch>& patches() const { return options_->patches; }
    const std::vector<SiteHook>& hooks() const { return options_->hooks; }

private:
    const hs_options* options_;
};

}  // namespace headscope

// The kinds of requests of the C library. A kind is a row.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capi/asked.h"
#include "capi/options.h"

namespace headscope {

struct Submission {
    Engine& engine;
    ModelHandle model;
    std::vector<std::string> inputs;
    std::optional<std::vector<std::string>> targets;
    const ChosenOptions& options;
    Terms terms = {};
    std::size_t most = 0;  // requests that the engine takes at a time
};

struct KindRow {
    int kind = 0;
    const char* name = "";
    bool (*suits)(const ModelDirectory& model) = nullptr;
    const char* models = "";  // that suit
    bool takes_targets = false;
    AllAsked (*ask)(const Submission& submission) = nullptr;
};

// Failure for more inputs than the engine takes at a time, each of which is a request of its own.
void require_room(const Submission& submission);

// Of the option "edits". Failure for one that the model has no head for.
std::vector<AttentionEdit> edits_of(const Submission& submission);

// Failure for a kind that does not exist.
const KindRow& kind_row(int kind);

}  // namespace headscope

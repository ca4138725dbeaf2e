// The chat template of a model: "chat" in decoding.json.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "model/model_directory.h"
#include "text/chat_encoder.h"

namespace headscope {

inline constexpr const char* kChatKey = "chat";

// What decoding.json holds for a template's Jinja source: its name, or {"jinja": source} if it is unknown.
nlohmann::json chat_of_jinja(std::string_view jinja);

// Error that names the file if `value` is neither the name of a template nor an unknown one.
void check_chat(const nlohmann::json& value, const std::string& file);

// Whether the model says which template it was trained with, a known one.
bool has_chat_template(const ModelDirectory& model);

// The named template, or else the model's. Error for a model that is no causal one, that has no template, or an unknown
// one, which it prints, or whose vocabulary lacks the markers.
ChatEncoder chat_encoder(const ModelDirectory& model, const std::string& name = "");

}  // namespace headscope

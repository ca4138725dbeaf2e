#include "model/model_chat.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/config_reader.h"
#include "model/frame_of_config.h"
#include "support/check.h"

namespace headscope {

namespace {

constexpr const char* kJinja = "jinja";

// Null if the model says nothing of a template.
nlohmann::json stated_chat(const ModelDirectory& model) {
    return model.decoding != nullptr && model.decoding->is_object() ? model.decoding->value(kChatKey, nlohmann::json())
                                                                    : nlohmann::json();
}

const ChatTemplate& template_of(const ModelDirectory& model) {
    const nlohmann::json stated = stated_chat(model);
    if (stated.is_null()) {
        throw Error(fmt::format(
            "{} has no chat template: it continues texts and was not trained to answer. headscope complete continues "
            "yours; headscope chat --template NAME has it answer all the same",
            model.path));
    }
    check_chat(stated, model.decoding_origin);
    if (stated.is_object()) {
        throw Error(
            fmt::format("{} has a chat template that is unknown here; headscope chat --template NAME takes one "
                        "that is known. It is:\n{}",
                        model.decoding_origin, stated[kJinja].get<std::string>()));
    }
    return chat_template(stated.get<std::string>());
}

}  // namespace

nlohmann::json chat_of_jinja(std::string_view jinja) {
    const ChatTemplate* known = recognise_chat_template(jinja);
    return known != nullptr ? nlohmann::json(known->name) : nlohmann::json{{kJinja, jinja}};
}

void check_chat(const nlohmann::json& value, const std::string& file) {
    if (value.is_object()) {
        ConfigReader reader(value, file, kChatKey);
        static_cast<void>(reader.child(kJinja));
        static_cast<void>(reader.text(kJinja));
        reader.finish();
        return;
    }
    if (!value.is_string()) {
        throw Error(
            fmt::format("{}: \"{}\" must be the name of a chat template, found {}", file, kChatKey, value.type_name()));
    }
    try {
        static_cast<void>(chat_template(value.get<std::string>()));
    } catch (const Error& problem) {
        throw Error(fmt::format("{}: \"{}\": {}", file, kChatKey, problem.what()));
    }
}

bool has_chat_template(const ModelDirectory& model) {
    return stated_chat(model).is_string();
}

ChatEncoder chat_encoder(const ModelDirectory& model, const std::string& name) {
    require_architecture(model, Architecture::CausalLm);
    const ChatTemplate& chat = name.empty() ? template_of(model) : chat_template(name);
    return {chat, model.target_tokenizer, frame_of(model.config).start_of_text()};
}

}  // namespace headscope

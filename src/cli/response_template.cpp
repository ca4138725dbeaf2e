#include "cli/response_template.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "data/response_encoder.h"
#include "model/model_chat.h"
#include "options/terminal.h"

namespace headscope {

std::string response_template(const ModelDirectory& model, const std::string& named) {
    if (!named.empty()) {
        return named;
    }
    if (has_chat_template(model)) {
        return model.decoding->at(kChatKey).get<std::string>();
    }
    if (model.decoding && model.decoding->contains(kChatKey)) {
        log_line(
            fmt::format("headscope: {} has an unknown chat template: responses just follow their prompts; "
                        "--template names a known one",
                        model.path));
    }
    return kNoTemplate;
}

}  // namespace headscope

#include "viewer/session/opened_model.h"

#include <filesystem>
#include <utility>

#include "model/family.h"
#include "model/model_chat.h"
#include "observe/repeated_text.h"
#include "support/check.h"
#include "trees/tree_vocabulary.h"

namespace headscope::viewer {

namespace {

std::string name_of_directory(const std::string& path) {
    const std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
    return (normal.has_filename() ? normal : normal.parent_path()).filename().string();
}

// A parser reads whole sentences.
std::shared_ptr<const TextParts> parts_for(const LoadedModel& translator) {
    const bool translates = !translator.model().config.input.patches() &&
                            traits(translator.model().config.architecture).reads_source &&
                            !terminals_in(*translator.model().target_tokenizer).has_value();
    return translates ? std::make_shared<const TextParts>(translator) : nullptr;
}

std::string why_no_chat(const ModelDirectory& model) {
    try {
        static_cast<void>(chat_encoder(model));
        return "";
    } catch (const Error& error) {
        return error.what();
    }
}

}  // namespace

Opened opened_model(Tag tag, const OpenRequest& request, const ModelSource& source,
                    const std::shared_ptr<const SharedModel>& shared) {
    const ModelDirectory& directory = shared->handle->directory();
    const DeviceUse device = shared->engine->devices().front();
    Opened opened{.tag = tag,
                  .path = request.model,
                  .name = name_of_directory(source.has_run() ? source.folder() : request.model),
                  .checkpoint = shared->step,
                  .config = directory.config,
                  .tokenizer = directory.target_tokenizer->type(),
                  .terminals = terminals_in(*directory.target_tokenizer),
                  .no_chat = why_no_chat(directory),
                  .repeated = find_repeated_text(directory).value_or(""),
                  .device = device.info.id,
                  .device_name = device.info.name,
                  .arithmetic = name_of(device.arithmetic),
                  .run = {},
                  .shared = shared};
    shared->engine->run(shared->handle, [&](const Place& place) {
        opened.parts = parts_for(place.model);
        opened.parameters = place.model.parameters().count();
    });
    return opened;
}

}  // namespace headscope::viewer

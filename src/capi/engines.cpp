#include "capi/engines.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <limits>
#include <mutex>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "answers/model_json.h"
#include "capi/failures.h"
#include "capi/options.h"
#include "capi/text.h"
#include "import/open_model.h"
#include "infer/model_lookup.h"
#include "model/family.h"
#include "model/sites.h"
#include "registry/device_list.h"
#include "registry/registry.h"

namespace headscope {

namespace {

using Json = nlohmann::ordered_json;

Precision precision_of(const std::string& name) {
    const auto* const found = std::ranges::find(kPrecisionNames, name);
    return static_cast<Precision>(found - kPrecisionNames.begin());
}

EngineOptions engine_options(const ChosenOptions& chosen) {
    EngineOptions options;
    options.open.settings = chosen.settings();
    const std::vector<std::string> devices = chosen.texts("devices");
    options.devices = asked_devices(devices, options.open);
    options.skip_unusable = std::ranges::any_of(devices, names_all);
    options.precision = precision_of(chosen.text("precision"));
    options.bounds = {.requests = static_cast<std::size_t>(chosen.integer("max_requests")),
                      .tokens = chosen.integer("max_tokens"),
                      .tokens_of_client = chosen.integer("max_tokens_of_client")};
    return options;
}

Json json_of(const Histogram& histogram) {
    return {{"bounds", histogram.bounds()}, {"counts", histogram.counts()}, {"sum", histogram.sum()}};
}

Json json_of(const DeviceUse& device) {
    return {{"device", device.name},
            {"id", device.info.id},
            {"name", device.info.name},
            {"arithmetic", name_of(device.arithmetic)},
            {"peak_bytes", device.peak_bytes},
            {"batches", device.batches},
            {"sentences", device.sentences},
            {"source_tokens", device.source_tokens},
            {"target_tokens", device.target_tokens},
            {"seconds", device.seconds},
            {"failure", device.failure}};
}

Json statistics_json(const Engine& engine) {
    const EngineStatistics all = engine.statistics();
    Json devices = Json::array();
    for (const DeviceUse& device : engine.devices()) {
        devices.push_back(json_of(device));
    }
    return {{"devices", devices},
            {"requests",
             {{"answered", all.answered},
              {"failed", all.failed},
              {"cancelled", all.cancelled},
              {"late", all.late},
              {"too_large", all.too_large},
              {"busy", all.busy}}},
            {"queue_seconds", json_of(all.queue_seconds)},
            {"first_seconds", json_of(all.first_seconds)},
            {"run_seconds", json_of(all.run_seconds)},
            {"batch_rows", json_of(all.batch_rows)}};
}

// Whose models on Hugging Face's hub have names that begin so.
constexpr std::pair<std::string_view, std::string_view> kOwners[] = {
    {"bert-", "google-bert"}, {"distilbert-", "distilbert"}, {"gpt2", "openai-community"}, {"mbart-", "facebook"},
    {"nllb-", "facebook"},    {"opus-mt-", "Helsinki-NLP"},  {"SmolLM", "HuggingFaceTB"},  {"t5-", "google-t5"},
};

// ", such as .." with the command that downloads a model of this name, or of OWNER/NAME; empty if none is known.
std::string such_as(const std::string& wanted) {
    const std::filesystem::path path(wanted);
    const std::string name = path.filename().string();
    std::string owner = path.parent_path().string();
    if (owner.empty()) {
        const auto* const found =
            std::ranges::find_if(kOwners, [&](const auto& each) { return name.starts_with(each.first); });
        owner = found == std::end(kOwners) ? "" : found->second;
    }
    std::error_code failure;
    if (owner.empty() || name.empty() || owner.find_first_of("/.~") != std::string::npos ||
        std::filesystem::exists(owner, failure)) {
        return "";
    }
    return fmt::format(", such as: hf download {0}/{1} --local-dir {1}", owner, name);
}

std::string found_model(const std::string& wanted, const std::vector<std::filesystem::path>& path) {
    if (wanted.empty()) {
        throw Failure(HS_INVALID, "the place of a model is empty: give a name or a folder");
    }
    try {
        std::error_code failure;
        const std::string found = find_model(wanted, {}, path);
        if (!std::filesystem::exists(found, failure)) {
            throw Error(fmt::format("there is no '{}'", found));
        }
        return found;
    } catch (const Error& error) {
        std::string searched;
        if (wanted.find('/') == std::string::npos) {
            searched = "Searched:";
            for (const std::filesystem::path& place : path) {
                searched += "\n  " + (place / "models").string();
            }
            searched += "\nThe option \"path\" adds folders. ";
        }
        throw Failure(HS_NOT_FOUND,
                      fmt::format("{}\n{}Nothing is downloaded: docs/importing.md says how to get models of others{}",
                                  error.what(), searched, such_as(wanted)));
    }
}

// Failure for a folder or file that is no model, with what was looked for; others are opened by the engine.
void require_model(const std::string& path) {
    if (format_of(path) == ModelFormat::None) {
        failing_with(HS_NOT_FOUND, [&] { open_model(path); });
    }
}

Json model_json(const OpenModel& model) {
    const ModelDirectory& directory = model.directory();
    return {{"path", directory.path},
            {"family", traits(directory.config.architecture).key},
            {"languages", directory.config.frame.languages},
            {"longest", model.longest()},
            {"sites", sites_of(directory.config)},
            {"decoding", to_json(model.choices())},
            {"keys", model_facts(directory)}};
}

}  // namespace

}  // namespace headscope

using namespace headscope;  // NOLINT(google-build-using-namespace): the functions of the header are global

hs_status hs_engine_open(uint32_t abi, const hs_options* options, hs_log_function log, void* user, hs_engine** engine,
                         hs_error** error) {
    return guarded(
        error,
        [&] {
            if (abi > HS_ABI) {
                throw Failure(
                    HS_UNSUPPORTED,
                    fmt::format("this program was compiled with a newer headscope.h (ABI {}) than the library "
                                "(ABI {}): install a newer libheadscope",
                                abi, HS_ABI));
            }
            hs_engine*& place = given(engine, "the place for the engine");
            Engine::Log tell;
            if (log != nullptr) {
                tell = [log, user, turn = std::make_shared<std::mutex>()](const std::string& message) {
                    const std::lock_guard lock(*turn);  // the scheduler and the devices tell
                    log(user, lent(message));
                };
            } else {
                tell = [](const std::string&) {};
            }
            EngineOptions wanted = engine_options(ChosenOptions(options, kEngine));
            wanted.open.diagnostics = Diagnostics([tell](Severity, const std::string& message) { tell(message); });
            const std::size_t most = wanted.bounds.requests;
            auto opened = make_owned<Engine>(std::move(wanted), std::move(tell));
            place = new hs_engine{std::move(opened), most};
        },
        HS_DEVICE);
}

hs_status hs_engine_drain(hs_engine* engine, int64_t timeout_ms, hs_error** error) {
    return guarded(error, [&] {
        constexpr std::chrono::milliseconds kYear = std::chrono::hours(24 * 365);
        const auto longest = timeout_ms < 0 ? kYear : std::min(kYear, std::chrono::milliseconds(timeout_ms));
        return given(engine, "engine").engine->drain(longest) ? HS_OK : HS_AGAIN;
    });
}

void hs_engine_close(hs_engine* engine) {
    if (engine != nullptr) {
        guarded(nullptr, [&] { engine->engine->close(); });  // HS_FORKED in a child, where there is nothing to close
        delete engine;
    }
}

hs_status hs_engine_statistics(hs_engine* engine, hs_buffer** json, hs_error** error) {
    return guarded(error, [&] { give(json, statistics_json(*given(engine, "engine").engine).dump()); });
}

hs_status hs_model_open(hs_engine* engine, const hs_text* places, size_t count, const hs_options* options,
                        hs_model** model, hs_error** error) {
    return guarded(error, [&] {
        const hs_engine& opener = given(engine, "engine");
        hs_model*& place = given(model, "the place for the model");
        const ChosenOptions chosen(options, kModel);
        const auto path = search_path(chosen.texts("path"));
        if (count == 0) {
            throw Failure(HS_INVALID, "there is no place of a model: give one, or several of an ensemble");
        }
        std::vector<std::string> folders;
        for (std::size_t i = 0; i < count; ++i) {
            folders.push_back(found_model(taken((&given(places, "places"))[i], "the place of a model"), path));
            require_model(folders.back());
        }
        place = new hs_model{opener.engine, opener.most_requests, opener.engine->open(folders)};
    });
}

hs_status hs_model_info(hs_model* model, hs_buffer** json, hs_error** error) {
    return guarded(error, [&] {
        hs_model& asked = given(model, "model");
        static_cast<void>(asked.engine->devices());  // HS_FORKED in a child
        give(json, model_json(*asked.model).dump(-1, ' ', false, Json::error_handler_t::replace));
    });
}

hs_status hs_model_unload(hs_model* model, hs_error** error) {
    return guarded(error, [&] {
        const hs_model& asked = given(model, "model");
        asked.engine->unload(asked.model);
    });
}

hs_status hs_model_load(hs_model* model, hs_error** error) {
    return guarded(error, [&] {
        const hs_model& asked = given(model, "model");
        asked.engine->load(asked.model);
    });
}

void hs_model_close(hs_model* model) {
    delete model;
}

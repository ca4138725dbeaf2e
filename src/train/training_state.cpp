#include "train/training_state.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "support/check.h"

namespace headscope {
namespace {

[[noreturn]] void refuse(const std::string& file, const std::string& what) {
    throw Error(
        fmt::format("{} belongs to another run: {}; continue with its original configuration and data, or "
                    "choose another --output",
                    file, what));
}

// Runs `read`, which parses the state of `file`.
template <class Read>
auto reading(const std::string& file, const Read& read) {
    const auto damaged = [&](const std::exception& error) {
        return Error(fmt::format("{}: its checkpoint state is damaged: {}", file, error.what()));
    };
    try {
        return read();
    } catch (const nlohmann::json::exception& error) {
        throw damaged(error);
    } catch (const Error& error) {
        throw damaged(error);
    }
}

// Not in checkpoints of format 2.
void parse_since_format_2(const nlohmann::json& json, TrainingState& state) {
    if (!json.contains("guard")) {
        return;
    }
    state.tokens = count_at(json, "tokens");
    json.at("epochs").get_to(state.epochs);
    if (json.contains("validations_since_best")) {
        state.validations_since_best = count_at(json, "validations_since_best");
    }
    state.guard = parse_guard_state(json["guard"]);
    json.at("checkpoint_due").get_to(state.checkpoint_due);
    for (const nlohmann::json& kept : json.at("kept")) {
        state.kept.push_back({count_at(kept, "step"), kept.at("healthy").get<bool>()});
    }
}

// A 64-bit digest.
std::uint64_t digest_at(const nlohmann::json& json, const char* key) {
    const nlohmann::json& value = json.at(key);
    if (!value.is_number_unsigned()) {
        throw Error(fmt::format("\"{}\" is {}; expected a whole number from 0", key, value.dump()));
    }
    return value.get<std::uint64_t>();
}

// Whether a state of a StepSource has a Batcher's keys and no other.
bool is_of_batcher(const nlohmann::json& source) {
    return source.size() == 3 && source.contains("epoch") && source.contains("window") &&
           source.contains("window_step");
}

Progress progress_of(const nlohmann::json& json) {
    return {.steps = count_at(json, "step"),
            .epochs = json.value("epochs", 0.0),
            .tokens = json.contains("tokens") ? count_at(json, "tokens") : 0,
            .minutes = json.at("seconds").get<double>() / 60.0};
}

}  // namespace

void TrainingState::note_kept(bool healthy, std::int64_t most) {
    kept.push_back({step, healthy});
    const auto is_healthy = [](const Kept& one) { return one.healthy; };
    const auto pinned = [&] {  // 1 if the oldest is the newest healthy one
        return kept.front().healthy && std::none_of(std::next(kept.begin()), kept.end(), is_healthy) ? 1 : 0;
    };
    while (std::ssize(kept) > most + pinned()) {
        kept.erase(kept.begin() + pinned());
    }
}

nlohmann::json to_json(const TrainingState::Best& best) {
    nlohmann::json json = {{"step", best.step}, {"nll", best.nll}, {"mean", best.mean}};
    if (best.text) {
        json["text"] = *best.text;
    }
    return json;
}

TrainingState::Best parse_best(const nlohmann::json& json, const std::string& file) {
    return reading(file, [&] {
        TrainingState::Best best{count_at(json, "step"), json.at("nll").get<double>(), json.value("mean", false)};
        if (json.contains("text")) {
            best.text = digest_at(json, "text");
        }
        return best;
    });
}

nlohmann::json to_json(const TrainingState& state, const RunIdentity& identity) {
    nlohmann::json json = {
        {"step", state.step},     {"seconds", state.seconds},        {"tokens", state.tokens},
        {"epochs", state.epochs}, {"totals", to_json(state.totals)}, {"config", identity.config},
        {"data", identity.data},  {"device", identity.device},       {"compute", identity.arithmetic}};
    if (is_of_batcher(state.source)) {  // as earlier versions wrote it
        json.update(state.source);
    } else {
        json["source"] = state.source;
    }
    if (state.flops) {
        json["flops"] = *state.flops;
    }
    if (state.loss_scale) {
        json["loss_scale"] = state.loss_scale->scale;
        json["good_steps"] = state.loss_scale->good_steps;
    }
    json["updates"] = state.updates;
    if (state.part_tokens > 0) {
        json["part_tokens"] = state.part_tokens;
    }
    if (state.best) {
        json["best"] = to_json(*state.best);
        json["validations_since_best"] = state.validations_since_best;
    }
    json["guard"] = to_json(state.guard);
    json["checkpoint_due"] = state.checkpoint_due;
    json["kept"] = nlohmann::json::array();
    for (const TrainingState::Kept& kept : state.kept) {
        json["kept"].push_back({{"step", kept.step}, {"healthy", kept.healthy}});
    }
    return json;
}

TrainingState parse_training_state(const nlohmann::json& json, const std::string& file) {
    if (json.contains("epoch_step") && !json.contains("window")) {
        throw Error(
            fmt::format("{} was written by an earlier version, which used its data in another order: the run cannot be "
                        "resumed; start a new one with its weights (--from, with the model folder of that run)",
                        file));
    }
    return reading(file, [&] {
        TrainingState state;
        state.step = count_at(json, "step");
        json.at("seconds").get_to(state.seconds);
        state.source = json.contains("source") ? json["source"]
                                               : nlohmann::json{{"epoch", count_at(json, "epoch")},
                                                                {"window", count_at(json, "window")},
                                                                {"window_step", count_at(json, "window_step")}};
        state.totals = parse_run_totals(json.at("totals"));
        if (json.contains("loss_scale")) {
            state.loss_scale = {json["loss_scale"].get<double>(), json.at("good_steps").get<double>()};
            if (!(state.loss_scale->scale > 0.0 && state.loss_scale->good_steps >= 0.0)) {
                throw Error(fmt::format("\"loss_scale\" is {} after {} good steps; expected a number above 0",
                                        json["loss_scale"].dump(), json["good_steps"].dump()));
            }
        }
        // Earlier versions corrected the moments by the number of steps, skipped ones too: their runs continue so.
        state.updates = json.contains("updates") ? count_at(json, "updates") : state.step;
        if (json.contains("part_tokens")) {
            state.part_tokens = count_at(json, "part_tokens");
        }
        if (json.contains("best")) {
            state.best = parse_best(json["best"], file);
        }
        state.flops = json.contains("flops") ? std::optional(json["flops"].get<double>()) : std::nullopt;
        parse_since_format_2(json, state);
        return state;
    });
}

std::string compare_identity(const nlohmann::json& json, const RunIdentity& now, const std::string& file,
                             Purpose purpose) {
    const RunIdentity then = reading(file, [&] {
        return RunIdentity{json.at("config").get<nlohmann::json::object_t>(), digest_at(json, "data"),
                           json.at("device").get<std::string>(), json.at("compute").get<std::string>()};
    });
    const ConfigChanges changes =
        reading(file, [&] { return compare_configs(then.config, now.config, progress_of(json), purpose); });
    if (!changes.refused.empty()) {
        refuse(file, changes.refused);
    }
    if (then.data != now.data) {
        refuse(file, "the training text or its tokenizer has changed");
    }
    std::vector<std::string> warnings = changes.allowed;
    if (then.device != now.device || then.arithmetic != now.arithmetic) {
        warnings.push_back(
            fmt::format("the run began on {} ({}) and continues on {} ({}): its weights will not be those of an "
                        "uninterrupted run bit for bit",
                        then.device, then.arithmetic, now.device, now.arithmetic));
    }
    return fmt::format("{}", fmt::join(warnings, "; "));
}

}  // namespace headscope

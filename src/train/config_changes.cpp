#include "train/config_changes.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "train/run_totals.h"

namespace headscope {
namespace {

constexpr const char* kSteps = "training.steps";
constexpr const char* kCooldown = "training.cooldown_steps";

std::string change(const std::string& key, const nlohmann::json& then, const nlohmann::json& now) {
    return fmt::format("\"{}\" was {} and is now {}", key, then.dump(), now.is_null() ? "absent" : now.dump());
}

// The first key whose value differs, inside the model's section where that is it.
std::string difference(const nlohmann::json& then, const nlohmann::json& now) {
    for (const auto& [key, value] : now.items()) {
        const nlohmann::json old = then.value(key, nlohmann::json());
        if (old != value) {
            return old.is_object() && value.is_object() ? key + ": " + difference(old, value) : change(key, old, value);
        }
    }
    for (const auto& [key, value] : then.items()) {
        if (!now.contains(key)) {
            return change(key, value, nlohmann::json());
        }
    }
    return "";
}

struct Cooldown {
    nlohmann::json values;  // [steps, cooldown_steps], null where the configuration has none
    std::int64_t last_at_full_rate = std::numeric_limits<std::int64_t>::max();  // then equation 3 is scaled down
};

Cooldown take_cooldown(nlohmann::json& config) {
    Cooldown cooldown;
    cooldown.values = {config.value(kSteps, nlohmann::json()), config.value(kCooldown, nlohmann::json())};
    const std::int64_t length = config.contains(kCooldown) ? count_at(config, kCooldown) : 0;
    if (length > 0) {
        cooldown.last_at_full_rate = count_at(config, kSteps) - length + 1;
    }
    config.erase(kSteps);
    config.erase(kCooldown);
    return cooldown;
}

std::string cooldown_conflict(const Cooldown& then, const Cooldown& now, std::int64_t step) {
    const bool steps = then.values[0] != now.values[0];
    const auto falls = [](const Cooldown& at) {
        return at.last_at_full_rate == std::numeric_limits<std::int64_t>::max()
                   ? std::string("never")
                   : fmt::format("from step {} on", at.last_at_full_rate + 1);
    };
    std::string text = fmt::format(
        "{}: that cannot change once the learning rate falls, which it did {} and would now {}, and "
        "the run stands after step {}",
        steps ? change(kSteps, then.values[0], now.values[0]) : change(kCooldown, then.values[1], now.values[1]),
        falls(then), falls(now), step);
    if (steps && step > then.last_at_full_rate) {
        text += fmt::format(": give --steps {} again", then.values[0].dump());
    }
    return text;
}

void erase_training(nlohmann::json& config) {
    for (auto item = config.begin(); item != config.end();) {
        item = std::string_view(item.key()).starts_with("training.") ? config.erase(item) : std::next(item);
    }
}

}  // namespace

ConfigChanges compare_configs(nlohmann::json then, nlohmann::json now, std::int64_t step, Purpose purpose) {
    ConfigChanges changes;
    if (purpose == Purpose::Finish) {
        erase_training(then);
        erase_training(now);
    }
    // What a run that diverges is mended by.
    for (const char* key : {"training.learning_rate_scale", "training.clip_norm", "training.loss_scale_interval",
                            "training.loss_scale_least", "training.loss_scale_most"}) {
        if (then.contains(key) && now.contains(key) && then[key] != now[key]) {
            changes.allowed.push_back(change(key, then[key], now[key]));
            then.erase(key);
            now.erase(key);
        }
    }
    for (nlohmann::json* config : {&then, &now}) {
        // RunIdentity has the arithmetic: the run may go on elsewhere, and there are loss scales in F16 alone.
        for (const char* key : {"training.compute", "training.loss_scale_interval", "training.loss_scale_least",
                                "training.loss_scale_most"}) {
            config->erase(key);
        }
    }
    const Cooldown old = take_cooldown(then);
    const Cooldown asked = take_cooldown(now);
    changes.refused = difference(then, now);
    const bool falls = step > std::min(old.last_at_full_rate, asked.last_at_full_rate);
    if (changes.refused.empty() && falls && old.values != asked.values) {
        changes.refused = cooldown_conflict(old, asked, step);
    }
    return changes;
}

}  // namespace headscope

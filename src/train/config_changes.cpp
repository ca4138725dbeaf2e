#include "train/config_changes.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "model/config.h"
#include "train/run_totals.h"

namespace headscope {
namespace {

constexpr const char* kSteps = "training.steps";
constexpr const char* kCooldown = "training.cooldown_steps";
constexpr const char* kShare = "training.cooldown";
constexpr const char* kLimits = "training.limits";

std::string text_of(const nlohmann::json& value) {
    return value.is_null() ? "absent" : value.dump();
}

// The limits of a run as they are recorded, [steps, epochs, tokens, minutes]: "17 steps or 2 epochs".
std::string limits_of(const nlohmann::json& value) {
    constexpr std::array kUnits = {"steps", "epochs", "tokens", "minutes"};
    std::vector<std::string> found;
    for (std::size_t i = 0; i < kUnits.size() && value.is_array(); ++i) {
        if (value.at(i) != 0) {
            found.push_back(fmt::format("{:.15g} {}", value.at(i).get<double>(), kUnits[i]));
        }
    }
    return found.empty() ? "without a limit" : fmt::format("{}", fmt::join(found, " or "));
}

std::string change(const std::string& key, const nlohmann::json& then, const nlohmann::json& now) {
    if (key == kLimits) {
        return fmt::format("the length of the training was {} and is now {}", limits_of(then), limits_of(now));
    }
    return fmt::format("\"{}\" was {} and is now {}", key, text_of(then), text_of(now));
}

// Lists every key whose value differs, prefixed by its section.
void list_differences(const nlohmann::json& then, const nlohmann::json& now, const std::string& inside,
                      std::vector<std::string>& found) {
    nlohmann::json keys = then;
    keys.update(now);
    for (const auto& item : keys.items()) {
        const nlohmann::json old = then.value(item.key(), nlohmann::json());
        const nlohmann::json value = now.value(item.key(), nlohmann::json());
        if (old.is_object() && value.is_object()) {
            const auto keys_of = [&](const nlohmann::json& section) {  // a model's can be written in several ways
                return item.key() == "model" ? flat_model_keys(section, "the configuration", "model") : section;
            };
            list_differences(keys_of(old), keys_of(value), item.key() + ": ", found);
        } else if (old != value) {
            found.push_back(inside + change(item.key(), old, value));
        }
    }
}

// Decides when the learning rate begins to fall.
struct Cooldown {
    nlohmann::json values = nlohmann::json::object();                           // by key
    std::int64_t last_at_full_rate = std::numeric_limits<std::int64_t>::max();  // then equation 3 is scaled down
    double share = 0.0;                                                         // or over this share of the limits
    RunLimits limits;

    bool falls(const Progress& done) const {
        return done.steps > last_at_full_rate || (share > 0.0 && limits.share(done) > 1.0 - share);
    }
    std::string begins() const {
        if (share > 0.0) {
            return fmt::format("over the last {:g} of {}", share, limits_of(values.value(kLimits, nlohmann::json())));
        }
        return last_at_full_rate == std::numeric_limits<std::int64_t>::max()
                   ? std::string("never")
                   : fmt::format("from step {} on", last_at_full_rate + 1);
    }
};

Cooldown take_cooldown(nlohmann::json& config) {
    Cooldown cooldown;
    const std::int64_t length = config.contains(kCooldown) ? count_at(config, kCooldown) : 0;
    if (length > 0) {
        cooldown.last_at_full_rate = count_at(config, kSteps) - length + 1;
    }
    if (config.contains(kShare)) {
        const nlohmann::json& limits = config.at(kLimits);
        cooldown.share = config[kShare].get<double>();
        cooldown.limits = {count_of(limits.at(0), kLimits), limits.at(1).get<double>(), count_of(limits.at(2), kLimits),
                           limits.at(3).get<double>()};
    }
    for (const char* key : {kSteps, kCooldown, kShare, kLimits}) {
        if (config.contains(key)) {
            cooldown.values[key] = config[key];
            config.erase(key);
        }
    }
    return cooldown;
}

std::string cooldown_conflict(const Cooldown& then, const Cooldown& now, const Progress& done) {
    std::string text = fmt::format(
        "{}: this cannot change once the learning rate falls, which it did {} and would now {}, and "
        "the run is resumed after step {}",
        fmt::join(differences(then.values, now.values), ", "), then.begins(), now.begins(), done.steps);
    const nlohmann::json steps = then.values.value(kSteps, nlohmann::json());
    if (done.steps > then.last_at_full_rate && steps != now.values.value(kSteps, nlohmann::json())) {
        text += fmt::format(": give --steps {} again", steps.dump());
    }
    return text;
}

void erase_training(nlohmann::json& config) {
    for (auto item = config.begin(); item != config.end();) {
        item = std::string_view(item.key()).starts_with("training.") ? config.erase(item) : std::next(item);
    }
}

}  // namespace

std::vector<std::string> differences(const nlohmann::json& then, const nlohmann::json& now) {
    std::vector<std::string> found;
    list_differences(then, now, "", found);
    return found;
}

ConfigChanges compare_configs(nlohmann::json then, nlohmann::json now, const Progress& done, Purpose purpose) {
    ConfigChanges changes;
    if (purpose == Purpose::Finish) {
        erase_training(then);
        erase_training(now);
    }
    // These help a run that diverges.
    for (const char* key :
         {"training.learning_rate_scale", "training.clip_norm", "training.loss_scale_interval",
          "training.loss_scale_least", "training.loss_scale_most", "training.divergence_returns",
          "training.divergence_rate_factor", "training.divergence_nll", "training.divergence_steps"}) {
        const nlohmann::json old = then.value(key, nlohmann::json());
        const nlohmann::json value = now.value(key, nlohmann::json());
        // Only F16 has loss scales; in another precision they are absent.
        if (old != value && (std::string_view(key).find("loss_scale") == std::string_view::npos ||
                             !(old.is_null() || value.is_null()))) {
            changes.allowed.push_back(change(key, old, value));
        }
        then.erase(key);
        now.erase(key);
    }
    for (nlohmann::json* config : {&then, &now}) {
        config->erase("training.compute");  // compared as RunIdentity::arithmetic, which may change
    }
    const Cooldown old = take_cooldown(then);
    const Cooldown asked = take_cooldown(now);
    changes.refused = fmt::format("{}", fmt::join(differences(then, now), "; "));
    if (changes.refused.empty() && (old.falls(done) || asked.falls(done)) && old.values != asked.values) {
        changes.refused = cooldown_conflict(old, asked, done);
    }
    return changes;
}

}  // namespace headscope

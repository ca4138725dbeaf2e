#include "model/rotary.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "backend/ops/search.h"

namespace headscope {

namespace {

std::vector<double> plain_speeds(double base, std::int64_t columns) {
    std::vector<double> speeds;
    for (std::int64_t pair = 0; pair < columns / 2; ++pair) {
        speeds.push_back(std::pow(base, -2.0 * static_cast<double>(pair) / static_cast<double>(columns)));
    }
    return speeds;
}

// YaRN (Peng et al., 2023): the number, not whole, of the pair that turns so many times over the original length.
double pair_that_turns(double times, const RotaryConfig& rotary, std::int64_t columns) {
    const double wavelength = static_cast<double>(rotary.original_length) / times;
    return static_cast<double>(columns) * std::log(wavelength / (2.0 * std::numbers::pi)) /
           (2.0 * std::log(rotary.base));
}

// How much of a pair's own speed it keeps: 1 for fast pairs, 0 for slow ones, which get all of the scaling.
std::vector<double> kept_shares(const RotaryConfig& rotary, std::int64_t columns, const std::vector<double>& speeds) {
    std::vector<double> kept(speeds.size());
    // As transformers has it: whole pairs, and a difference that is not 0.
    const double first = std::max(std::floor(pair_that_turns(rotary.high, rotary, columns)), 0.0);
    double last = std::min(std::ceil(pair_that_turns(rotary.low, rotary, columns)), static_cast<double>(columns - 1));
    last += first == last ? 0.001 : 0.0;
    for (std::size_t pair = 0; pair < speeds.size(); ++pair) {
        const double times = static_cast<double>(rotary.original_length) * speeds[pair] / (2.0 * std::numbers::pi);
        const double share = rotary.kind == Rotary::Yarn ? 1.0 - (static_cast<double>(pair) - first) / (last - first)
                                                         : (times - rotary.low) / (rotary.high - rotary.low);
        kept[pair] = std::clamp(share, 0.0, 1.0);
    }
    return kept;
}

bool has_turn(const std::vector<std::int32_t>& pattern, int layer) {
    return pattern.empty() || pattern[static_cast<std::size_t>(layer) % pattern.size()] != 0;
}

}  // namespace

std::vector<double> rotary_speeds(const RotaryConfig& rotary, std::int64_t columns) {
    const auto width = static_cast<double>(columns);
    const double base =
        rotary.kind == Rotary::Ntk ? rotary.base * std::pow(rotary.factor, width / (width - 2.0)) : rotary.base;
    std::vector<double> speeds = plain_speeds(base, columns);
    if (rotary.kind == Rotary::Factors) {
        std::transform(speeds.begin(), speeds.end(), rotary.factors.begin(), speeds.begin(), std::divides<>());
    } else if (rotary.kind == Rotary::Linear) {
        std::transform(speeds.begin(), speeds.end(), speeds.begin(), [&](double one) { return one / rotary.factor; });
    } else if (rotary.kind == Rotary::Yarn || rotary.kind == Rotary::Llama3) {
        const std::vector<double> kept = kept_shares(rotary, columns, speeds);
        std::transform(speeds.begin(), speeds.end(), kept.begin(), speeds.begin(),
                       [&](double one, double share) { return one * share + one / rotary.factor * (1.0 - share); });
    }
    return speeds;
}

bool is_turned(const ModelConfig& config, int layer) {
    return config.positions.rotary.kind != Rotary::None && has_turn(config.positions.rotary.pattern, layer);
}

std::int64_t window_of(const ModelConfig& config, AttentionKind self, int layer) {
    const bool windowed =
        mixer_of(config, self) == MixerKind::Restricted && has_turn(config.mixer.window_pattern, layer);
    return windowed ? config.mixer.window : 0;
}

RotaryTables::RotaryTables(const ModelConfig& config)
    : neighbours_(config.positions.rotary.pairs == RotaryPairs::Neighbours),
      apart_(config.positions.rotary.window_base > 0.0),
      max_length_(config.max_length),
      magnitude_(config.positions.rotary.magnitude) {
    const RotaryConfig& rotary = config.positions.rotary;
    if (rotary.kind != Rotary::None) {
        const std::int64_t columns = rotary.columns > 0 ? rotary.columns : config.attention.d_k;
        speeds_[0] = rotary_speeds(rotary, columns);
        speeds_[1] = apart_ ? plain_speeds(rotary.window_base, columns) : speeds_[0];
    }
}

void RotaryTables::grow(Backend& backend, std::int64_t length) {
    constexpr std::int64_t kFirstLength = 256;
    for (std::size_t i = 0; i <= number_of(true); ++i) {
        Tensor& table = tables_[i];
        const auto pairs = static_cast<std::int64_t>(speeds_[i].size());
        if (pairs == 0 || (table.defined() && table.dim(0) >= length)) {
            continue;
        }
        const std::int64_t room = table.defined() ? 2 * table.dim(0) : kFirstLength;
        const std::int64_t grown = std::max(length, std::min(room, max_length_));
        const double magnitude = i == 0 ? magnitude_ : 1.0;
        std::vector<double> values;
        values.reserve(static_cast<std::size_t>(grown * 2 * pairs));
        for (std::int64_t position = 0; position < grown; ++position) {
            for (double (*const function)(double) : {static_cast<double (*)(double)>(std::cos), std::sin}) {
                for (const double speed : speeds_[i]) {
                    values.push_back(magnitude * function(static_cast<double>(position) * speed));
                }
            }
        }
        table = make_from_host(backend, {grown, 2, pairs}, backend.full_dtype(), values);
    }
}

Turns RotaryTables::turns(bool windowed) const {
    return {.table = tables_[number_of(windowed)], .first = {}, .each_row = false, .neighbours = neighbours_};
}

Turns RotaryTables::turns_at(Backend& backend, bool windowed, const Tensor& places) const {
    Turns turns = this->turns(windowed);
    if (turns.table.defined()) {
        const Tensor own = backend.empty({places.dim(0), 2, turns.table.dim(2)}, turns.table.dtype);
        backend.run(GatherRows{.x = turns.table, .index = places, .out = own});
        turns.table = own;
        turns.each_row = true;
    }
    return turns;
}

void RotaryTables::add_to(Dependencies& dependencies) const {
    for (const Tensor& table : tables_) {
        dependencies.add(table);
    }
}

}  // namespace headscope

#include "app/bench_report.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/flops.h"

namespace headscope {
namespace {

constexpr double kTera = 1e12;
constexpr double kMilli = 1e3;

// Of one run.
double flops(const BenchResult& result) {
    const BenchShape& shape = result.shape;
    const WorkShape work{shape.sentences, shape.source_length, shape.target_length};
    return result.training ? result.steps * training_flops(shape.model, work)
                           : translation_flops(shape.model, work, shape.beam);
}

double flops_per_second(const BenchResult& result) {
    return flops(result) / result.runs.median();
}

// The op that takes longest first.
std::vector<std::pair<std::string, OpTime>> by_time(const OpTimes& times) {
    std::vector<std::pair<std::string, OpTime>> sorted(times.begin(), times.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
    return sorted;
}

double all_seconds(const OpTimes& times) {
    double seconds = 0.0;
    for (const auto& [name, time] : times) {
        seconds += time.seconds;
    }
    return seconds;
}

// Whose clock the times of ops are of.
std::string clock_text(const Support& events) {
    return events.level == SupportLevel::Native ? "device time" : "every op waited for, since " + events.reason;
}

std::string profile_text(const OpTimes& times, const Support& events) {
    if (times.empty()) {
        return "";
    }
    const double all = all_seconds(times);
    std::string text = fmt::format("\n{:<26}{:>8}{:>12}{:>8}   {}: {:.2f} ms in one run\n", "op", "calls", "ms",
                                   "share", clock_text(events), kMilli * all);
    for (const auto& [name, time] : by_time(times)) {
        text += fmt::format("{:<26}{:>8}{:>12.3f}{:>7.1f}%\n", name, time.calls, kMilli * time.seconds,
                            100.0 * time.seconds / all);
    }
    return text;
}

nlohmann::ordered_json profile_json(const OpTimes& times) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    const double all = all_seconds(times);
    for (const auto& [name, time] : by_time(times)) {
        json.push_back({{"op", name},
                        {"calls", time.calls},
                        {"milliseconds", kMilli * time.seconds},
                        {"share", time.seconds / all}});
    }
    return json;
}

}  // namespace

nlohmann::ordered_json to_json(const BenchResult& result) {
    const BenchShape& shape = result.shape;
    const double seconds = result.runs.median();
    nlohmann::ordered_json json = {
        {"bench", result.training ? "train" : "translate"},
        {"device", result.device.id},
        {"device_name", result.device.name},
        {"driver", result.device.driver},
        {"precision", name_of(shape.arithmetic)},
        {"encoder_layers", shape.model.encoder_layers},
        {"decoder_layers", shape.model.decoder_layers},
        {"d_model", shape.model.d_model},
        {"d_ff", shape.model.d_ff},
        {"heads", shape.model.heads},
        {"vocabulary", shape.model.target_vocabulary},
        {"parameters", count_parameters(shape.model)},
        {"sentences", shape.sentences},
        {"source_length", shape.source_length},
        {"target_length", shape.target_length},
        {"repetitions", result.runs.seconds.size()},
        {"milliseconds_per_step", kMilli * seconds / result.steps},
        {"source_tokens_per_second", static_cast<double>(result.runs.source_tokens) / seconds},
        {"target_tokens_per_second", static_cast<double>(result.runs.target_tokens) / seconds},
        {"run_seconds", result.runs.seconds},
        {"teraflop_per_step", flops(result) / result.steps / kTera},
        {"teraflops_per_second", flops_per_second(result) / kTera},
        {"peak_teraflops_per_second", result.peak.flops_per_second / kTera},
        {"peak_product", result.peak.side},
        {"share_of_peak", flops_per_second(result) / result.peak.flops_per_second},
        {"peak_resident_bytes", result.resident_bytes},
        {"peak_device_bytes", result.memory.peak},
    };
    if (result.training) {
        json["dropout"] = shape.dropout;
    } else {
        json["beam"] = shape.beam;
    }
    if (!result.profile.empty()) {
        json["profile_clock"] = clock_text(result.profile_events);
        json["profile"] = profile_json(result.profile);
    }
    return json;
}

std::string to_text(const BenchResult& result) {
    constexpr double kMebi = 1024.0 * 1024.0;
    const BenchShape& shape = result.shape;
    const ModelConfig& model = shape.model;
    const double seconds = result.runs.median();
    std::string text = fmt::format(
        "{} on {} ({}), {}\n"
        "model       {}+{} layers, d_model {}, d_ff {}, {} heads, vocabulary {}: {:.1f} M parameters\n"
        "batch       {} sentences, source {} and target {} tokens each\n",
        result.training ? "train" : "translate", result.device.id, result.device.name, name_of(shape.arithmetic),
        model.encoder_layers, model.decoder_layers, model.d_model, model.d_ff, model.heads, model.target_vocabulary,
        static_cast<double>(count_parameters(model)) / 1e6, shape.sentences, shape.source_length, shape.target_length);
    text += fmt::format(
        "speed       {:.0f} target tokens/s, {:.0f} source tokens/s, {:.2f} ms a step (median of {} runs)\n",
        static_cast<double>(result.runs.target_tokens) / seconds,
        static_cast<double>(result.runs.source_tokens) / seconds, kMilli * seconds / result.steps,
        result.runs.seconds.size());
    text += fmt::format(
        "arithmetic  {:.3g} TFLOP a step, {:.3g} TFLOP/s: {:.1f} % of the {:.3g} that a product of {} x {} reaches\n",
        flops(result) / result.steps / kTera, flops_per_second(result) / kTera,
        100.0 * flops_per_second(result) / result.peak.flops_per_second, result.peak.flops_per_second / kTera,
        result.peak.side, result.peak.side);
    text += fmt::format("memory      {:.0f} MiB resident at most, {:.0f} MiB on the device\n",
                        static_cast<double>(result.resident_bytes) / kMebi,
                        static_cast<double>(result.memory.peak) / kMebi);
    return text + profile_text(result.profile, result.profile_events);
}

}  // namespace headscope

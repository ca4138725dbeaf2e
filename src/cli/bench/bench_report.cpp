#include "cli/bench/bench_report.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/bench/bench_devices.h"
#include "model/family.h"
#include "model/flops.h"
#include "support/counted.h"
#include "support/median.h"

namespace headscope {
namespace {

constexpr double kTera = 1e12;
constexpr double kMilli = 1e3;

// Floating point operations of one run.
double flops(const BenchPlan& plan) {
    const BenchShape& shape = plan.shape;
    if (plan.training && shape.model.adaptive()) {  // depends on the targets
        return plan.steps * TrainingFlops(shape.model, 0).of(std::vector{training_batch(shape)}).total();
    }
    WorkShape work{shape.sentences, shape.source_length, shape.target_length};
    if (traits(shape.model.architecture).fills_masks) {
        work.source_length = shape.target_length;
        work.target_length = std::llround(kPredictedShare * static_cast<double>(shape.target_length));
    } else if (traits(shape.model.architecture).continues_text) {
        work.target_length += work.source_length;
    }
    return plan.training ? plan.steps * training_flops(shape.model, work)
                         : translation_flops(shape.model, work, shape.beam);
}

double flops_per_second(const BenchPlan& plan, const BenchResult& result) {
    return flops(plan) / median(result.seconds);
}

// Only where the peak was measured.
double share_of_peak(const BenchPlan& plan, const BenchResult& result) {
    return flops_per_second(plan, result) / result.peak->flops_per_second;
}

// Tokens of sentences of this length.
double tokens_per_second(const BenchPlan& plan, const BenchResult& result, std::int64_t length) {
    const auto runs = static_cast<double>(plan.training ? plan.steps : 1);
    return runs * static_cast<double>(plan.shape.sentences * length) / median(result.seconds);
}

double milliseconds_per_step(const BenchPlan& plan, const BenchResult& result) {
    return kMilli * median(result.seconds) / plan.steps;
}

bool has_source(const BenchPlan& plan) {
    return traits(plan.shape.model.architecture).reads_source;
}

const char* name_of(const BenchPlan& plan) {
    return plan.training ? "train" : has_source(plan) ? "translate" : "complete";
}

// Sorted by time, longest first.
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

// Which clock measured the ops.
std::string clock_text(const Support& events) {
    return events.level == SupportLevel::Native ? "device time"
                                                : "host time, waiting for each op, because " + events.reason;
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

// Sizes of the model and the batch.
nlohmann::ordered_json sizes_json(const BenchPlan& plan) {
    const BenchShape& shape = plan.shape;
    nlohmann::ordered_json json = {{"encoder_layers", shape.model.encoder_layers},
                                   {"decoder_layers", shape.model.decoder_layers},
                                   {"d_model", shape.model.d_model},
                                   {"d_ff", shape.model.feed_forward.d_ff},
                                   {"heads", shape.model.attention.heads},
                                   {"vocabulary", shape.model.target_vocabulary},
                                   {"parameters", count_parameters(shape.model)},
                                   {"sentences", shape.sentences},
                                   {"source_length", shape.source_length},
                                   {"target_length", shape.target_length},
                                   {"teraflop_per_step", flops(plan) / plan.steps / kTera}};
    if (plan.training) {
        json["dropout"] = shape.dropout;
    } else {
        json["beam"] = shape.beam;
    }
    return json;
}

nlohmann::ordered_json device_json(const BenchPlan& plan, const BenchResult& result) {
    if (!result.error.empty()) {
        return {{"device", result.device.id}, {"error", result.error}};
    }
    nlohmann::ordered_json json = {
        {"device", result.device.id},
        {"device_name", result.device.name},
        {"driver", result.device.driver},
        {"software", result.device.software},
        {"precision", name_of(result.arithmetic)},
        {"repetitions", result.seconds.size()},
        {"milliseconds_per_step", milliseconds_per_step(plan, result)},
        {"source_tokens_per_second", tokens_per_second(plan, result, plan.shape.source_length)},
        {"target_tokens_per_second", tokens_per_second(plan, result, plan.shape.target_length)},
        {"run_seconds", result.seconds},
        {"teraflops_per_second", flops_per_second(plan, result) / kTera},
    };
    if (result.peak) {
        json["peak_teraflops_per_second"] = result.peak->flops_per_second / kTera;
        json["peak_product"] = result.peak->side;
        json["share_of_peak"] = share_of_peak(plan, result);
    }
    json["peak_device_bytes"] = result.memory.peak;
    if (result.resident_bytes > 0) {
        json["peak_resident_bytes"] = result.resident_bytes;
    }
    if (!result.profile.empty()) {
        json["profile_clock"] = clock_text(result.profile_events);
        json["profile"] = profile_json(result.profile);
    }
    return json;
}

std::string batch_text(const BenchPlan& plan) {
    const BenchShape& shape = plan.shape;
    if (has_source(plan)) {
        return fmt::format("{}, source {} and target {} tokens each", counted(shape.sentences, "sentence"),
                           shape.source_length, shape.target_length);
    }
    return plan.training ? fmt::format("{} of {} tokens", counted(shape.sentences, "text"), shape.target_length)
                         : fmt::format("{} of {} tokens, {} new tokens each", counted(shape.sentences, "prompt"),
                                       shape.source_length, shape.target_length);
}

std::string sizes_text(const BenchPlan& plan) {
    const BenchShape& shape = plan.shape;
    const ModelConfig& model = shape.model;
    return fmt::format(
        "model       {} layers, d_model {}, d_ff {}, {} heads, vocabulary {}: {:.1f} M parameters\n"
        "batch       {}\n",
        has_source(plan) ? fmt::format("{}+{}", model.encoder_layers, model.decoder_layers)
                         : fmt::format("{}", model.encoder_layers + model.decoder_layers),
        model.d_model, model.feed_forward.d_ff, model.attention.heads, model.target_vocabulary,
        static_cast<double>(count_parameters(model)) / 1e6, batch_text(plan));
}

// What is counted per second.
struct Counted {
    const char* unit;
    std::int64_t length;
};

std::vector<Counted> counted_tokens(const BenchPlan& plan) {
    return has_source(plan) ? std::vector<Counted>{{"target tokens/s", plan.shape.target_length},
                                                   {"source tokens/s", plan.shape.source_length}}
                            : std::vector<Counted>{{"tokens/s", plan.shape.target_length}};
}

// The speed relative to the first CPU; std::nullopt without a CPU.
std::optional<double> ratio_to_cpu(const std::vector<BenchResult>& results, const BenchResult& result) {
    for (const BenchResult& each : results) {
        if (each.device.backend == "cpu" && each.error.empty()) {
            return median(each.seconds) / median(result.seconds);
        }
    }
    return std::nullopt;
}

}  // namespace

nlohmann::ordered_json to_json(const ResultOrigin& origin, const BenchPlan& plan, const BenchResult& result) {
    nlohmann::ordered_json json = to_json(origin, name_of(plan));
    json.update(sizes_json(plan));
    json.update(device_json(plan, result));
    return json;
}

std::string to_text(const BenchPlan& plan, const BenchResult& result) {
    constexpr double kMebi = 1024.0 * 1024.0;
    std::string text = fmt::format("{} on {} ({}), {}\n", name_of(plan), result.device.id, result.device.name,
                                   name_of(result.arithmetic)) +
                       sizes_text(plan);
    text += "speed       ";
    for (const Counted& each : counted_tokens(plan)) {
        text += fmt::format("{:.0f} {}, ", tokens_per_second(plan, result, each.length), each.unit);
    }
    text += fmt::format("{:.2f} ms per step (median of {})\n", milliseconds_per_step(plan, result),
                        counted(result.seconds.size(), "run"));
    text += fmt::format("arithmetic  {:.3g} TFLOP per step, {:.3g} TFLOP/s", flops(plan) / plan.steps / kTera,
                        flops_per_second(plan, result) / kTera);
    if (result.peak) {
        text += fmt::format(": {:.1f} % of the {:.3g} that a product of {} x {} reaches",
                            100.0 * share_of_peak(plan, result), result.peak->flops_per_second / kTera,
                            result.peak->side, result.peak->side);
    }
    text += "\n";
    text += fmt::format("memory      {:.0f} MiB resident at most, {:.0f} MiB on the device\n",
                        static_cast<double>(result.resident_bytes) / kMebi,
                        static_cast<double>(result.memory.peak) / kMebi);
    return text + profile_text(result.profile, result.profile_events);
}

nlohmann::ordered_json to_json(const ResultOrigin& origin, const BenchPlan& plan,
                               const std::vector<BenchResult>& results) {
    nlohmann::ordered_json json = to_json(origin, name_of(plan));
    json.update(sizes_json(plan));
    json["results"] = nlohmann::ordered_json::array();
    for (const BenchResult& each : results) {
        nlohmann::ordered_json& entry = json["results"].emplace_back(device_json(plan, each));
        if (const std::optional<double> ratio = ratio_to_cpu(results, each); ratio && each.error.empty()) {
            entry["ratio_to_cpu"] = *ratio;
        }
    }
    return json;
}

std::string to_text(const BenchPlan& plan, const std::vector<BenchResult>& results) {
    std::string text = fmt::format("{}, devices taking turns\n{}\n", name_of(plan), sizes_text(plan));
    text += fmt::format("{:<12}{:<16}", "device", "precision");
    for (const Counted& each : counted_tokens(plan)) {
        text += fmt::format("{:>16}", each.unit);
    }
    text += fmt::format("{:>12}{:>10}{:>9}{:>8}\n", "ms/step", "TFLOP/s", "of peak", "/ cpu");
    std::string profiles;
    for (const BenchResult& each : results) {
        if (!each.error.empty()) {
            text += fmt::format("{:<12}{}\n", each.device.id, failed_cell(each.error));
            continue;
        }
        const std::optional<double> ratio = ratio_to_cpu(results, each);
        text += fmt::format("{:<12}{:<16}", each.device.id, name_of(each.arithmetic));
        for (const Counted& side : counted_tokens(plan)) {
            text += fmt::format("{:>16.0f}", tokens_per_second(plan, each, side.length));
        }
        text += fmt::format("{:>12.2f}{:>10.3g}{:>9}{:>8}\n", milliseconds_per_step(plan, each),
                            flops_per_second(plan, each) / kTera,
                            each.peak ? fmt::format("{:.1f} %", 100.0 * share_of_peak(plan, each)) : "-",
                            ratio ? fmt::format("{:.2f}x", *ratio) : "-");
        profiles += each.profile.empty()
                        ? ""
                        : fmt::format("\n{}:{}", each.device.id, profile_text(each.profile, each.profile_events));
    }
    return text + profiles;
}

}  // namespace headscope

#include "backends/vulkan/trials/device_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <vector>

#include <nlohmann/json.hpp>

#include "backends/vulkan/device/cache_file.h"
#include "backends/vulkan/products/product_plan.h"
#include "backends/vulkan/stream/pipelines.h"
#include "support/hash.h"

namespace headscope::vulkan {

namespace {

DeviceTrial matrix_trial(const MatrixTile& tile, bool bf16) {
    return {
        .name = to_string(matrix_choice(tile)) + (bf16 ? " in BF16" : ""),
        .feature = bf16 ? kBf16MatrixFeature : kMatrixFeature,
        .word = bf16 ? "bf16_matrix" : "cooperative_matrix",
        .applies =
            [=](const Capabilities& found, const Options& options) {
                const std::optional<MatrixDevice> device = matrix_device(found, options, bf16);
                if (!device || (device->emulated && !options.trial_error)) {
                    return false;
                }
                const std::vector<MatrixTile> tiles = matrix_tiles(*device);
                return std::find(tiles.begin(), tiles.end(), tile) != tiles.end();
            },
        .complaint = [=](Backend& backend,
                         const Options& options) { return matrix_complaint(backend, options, tile, bf16); },
        .disable = [=](Options& options) { (bf16 ? options.wrong_bf16_tiles : options.wrong_tiles).push_back(tile); }};
}

std::vector<DeviceTrial> device_trials() {
    std::vector<DeviceTrial> trials{
        {.name = "subgroups",
         .feature = "subgroup arithmetic",
         .word = "subgroups",
         .applies = [](const Capabilities& found, const Options&) { return found.subgroup_arithmetic; },
         .complaint = subgroup_complaint,
         .disable = [](Options& options) { options.subgroups = false; }},
        {.name = "half conversions",
         .feature = kHalfFeature,
         .word = "half_conversions",
         .applies = [](const Capabilities& found,
                       const Options& options) { return half_conversion(found, options).own; },
         .complaint = half_complaint,
         .disable = [](Options& options) { options.half_conversions = HalfConversions::Never; }}};
    for (const bool bf16 : {false, true}) {
        for (const MatrixTile& tile : kMatrixTiles) {
            trials.push_back(matrix_trial(tile, bf16));
        }
    }
    trials.push_back({.name = kMatrixAttentionFeature,
                      .feature = kMatrixAttentionFeature,
                      .word = "cooperative_attention",
                      .applies =
                          [](const Capabilities& found, const Options& options) {
                              const std::optional<MatrixDevice> device = matrix_device(found, options, false);
                              return attends_by(device, options) && (!device->emulated || options.trial_error);
                          },
                      .complaint = matrix_attention_complaint,
                      .disable = [](Options& options) { options.cooperative_attention = false; }});
    return trials;
}

// Verdicts by name: the complaint, empty for a pass. A file that cannot be read only costs the trials' time.
class Verdicts {
public:
    Verdicts(const Capabilities& found, const Options& options) {
        if (!options.trial_error) {  // set by tests, whose verdicts are not kept
            const std::uint64_t build = fnv1a(fmt::format("{:x} {}", kernels_hash(), options.given));
            path_ = cache_file_path(found, options.cache_directory, fmt::format("{:016x}.trials.json", build));
        }
        std::ifstream file(path_);
        kept_ = nlohmann::json::parse(file, nullptr, false);
        if (!kept_.is_object()) {
            kept_ = nlohmann::json::object();
        }
    }

    template <class Run>
    std::string of(const std::string& name, const Run& run) {
        if (kept_.contains(name) && kept_[name].is_string()) {
            return kept_[name];
        }
        std::string complaint;
        try {
            complaint = run();
        } catch (const CannotCompile& error) {  // any other error is no verdict
            complaint = error.what();
        }
        kept_[name] = complaint;
        if (!path_.empty()) {
            (void)write_cache_file(path_, kept_.dump(1) + "\n");
        }
        return complaint;
    }

private:
    std::string path_;  // empty: nothing is kept
    nlohmann::json kept_;
};

}  // namespace

Probe pass_trials(const TrialDevice& device, Options& options) {
    Probe probed = device.probe(options);
    if (!probed.info.rejected.empty() || !options.trials || (probed.capabilities.software && !options.trial_error)) {
        return probed;
    }
    Verdicts verdicts(probed.capabilities, options);
    std::vector<std::pair<const char*, std::string>> failed;
    std::unique_ptr<Backend> backend;
    for (const DeviceTrial& trial : device_trials()) {
        if (!trial.applies(probed.capabilities, options)) {
            continue;
        }
        const std::string complaint = verdicts.of(trial.name, [&] {
            if (backend == nullptr) {
                Options alone = options;
                alone.lost_at_submission = 0;  // counts submissions of the user's backend only
                alone.max_binding_bytes = 0;   // the trials' rows need more than the tests' smallest
                backend = device.open(device.probe(alone), alone);
            }
            return trial.complaint(*backend, options);
        });
        if (complaint.empty()) {
            continue;
        }
        backend.reset();  // a kernel that failed to compile is an error of all later work
        trial.disable(options);
        probed = device.probe(options);
        failed.emplace_back(trial.feature, trial.name);
        options.diagnostics.warn(
            fmt::format("{} ({}): {} disabled: {}; update the driver, or disable it with HEADSCOPE_VULKAN_DISABLE={}",
                        probed.info.id, probed.info.name, trial.name, complaint, trial.word));
    }
    for (const auto& [feature, name] : failed) {
        for (auto& [listed, text] : probed.info.features) {
            text += listed == feature ? fmt::format(", {} failed the trial", name) : "";
        }
    }
    return probed;
}

}  // namespace headscope::vulkan

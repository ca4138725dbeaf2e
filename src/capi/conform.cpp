// hs_conform()
#include <atomic>

#include <nlohmann/json.hpp>

#include "capi/failures.h"
#include "capi/options.h"
#include "capi/text.h"
#include "conformance/asked_run.h"
#include "conformance/cases/catalogue.h"
#include "conformance/run.h"
#include "options/version.h"

namespace headscope {

namespace {

using Json = nlohmann::ordered_json;

Json counts_of(const conformance::Report& report) {
    std::size_t results = 0;
    std::size_t failed_results = 0;
    std::int64_t cases = 0;
    std::int64_t runs = 0;
    std::int64_t failed_runs = 0;
    for (const conformance::DeviceReport& device : report.devices) {
        results += device.results.size();
        failed_results += device.failures();
        for (const conformance::Result& result : device.results) {
            cases += result.cases;
            runs += result.runs;
            failed_runs += result.failed_runs;
        }
    }
    return {{"results", results},
            {"failed_results", failed_results},
            {"cases", cases},
            {"runs", runs},
            {"failed_runs", failed_runs}};
}

Json json_of(const conformance::Report& report) {
    Json json = conformance::report_json(report);
    json["counts"] = counts_of(report);
    json["failures"] = conformance::failures_of(report);
    std::string text;
    for (const conformance::DeviceReport& device : report.devices) {
        text += conformance::report_table(device, report.settings);
    }
    json["text"] = text;
    return json;
}

conformance::Plan plan_of(const ChosenOptions& chosen, const OpenOptions& open) {
    conformance::require_no_scan(open.settings);
    return {.devices =
                failing_with(HS_DEVICE, [&] { return conformance::devices_asked_for(chosen.texts("devices"), open); }),
            .ops = chosen.texts("ops"),
            .dtypes = chosen.texts("dtypes"),
            .paths = chosen.texts("paths"),
            .case_text = chosen.text("case"),
            .full = !chosen.on("quick"),
            .part = conformance::parse_part(chosen.text("part")),
            .timed = !chosen.on("no_speed"),
            .open = [open](const std::string& path, const std::string& device) {
                return failing_with(HS_DEVICE, [&] { return open_device_by(path, device, open); });
            }};
}

}  // namespace

}  // namespace headscope

using namespace headscope;  // NOLINT(google-build-using-namespace): the functions of the header are global

hs_status hs_conform(const hs_options* options, hs_progress_function progress, void* user, hs_buffer** json,
                     hs_error** error) {
    return guarded_input(error, [&] {
        given(json, "the place for the buffer");
        const ChosenOptions chosen(options, kConform);
        const OpenOptions open{.settings = chosen.settings()};
        conformance::Plan plan = plan_of(chosen, open);
        std::atomic<bool> stopped = false;
        plan.stop_requested = [&] { return stopped.load(); };
        if (progress != nullptr) {
            plan.progress = [&](const conformance::Doing& doing) {
                stopped = progress(user, doing.done, doing.all, lent(doing.text)) != HS_OK || stopped;
            };
        }
        conformance::Report report = conformance::run(plan, conformance::catalogue());
        report.version = program_version();
        report.date = conformance::date_now();
        report.settings = conformance::settings_of(open.settings);
        give(json, json_of(report).dump(-1, ' ', false, Json::error_handler_t::replace));
    });
}

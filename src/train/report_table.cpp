#include "train/report_table.h"

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "eval/training_measures.h"
#include "support/duration.h"

namespace headscope {
namespace {

constexpr int kScreen = 20;                  // lines after which the head has scrolled away on a small terminal
constexpr const char* kNewRow = "\r\x1b[K";  // go to the beginning of the line and clear it

// What a reader watches: the perplexity, or what a training measures in its place.
std::pair<std::string, double> watched(const Report& report) {
    const Measures measures = report.measures();
    const std::string first = measures.empty() ? "" : first_measure(measures);
    return first.empty() ? std::pair(std::string("perplexity"), std::exp(report.nll()))
                         : std::pair(first, measures.at(first));
}

std::string head(const Report& report) {
    return fmt::format("{:>9} {:>8} {:>8} {:>8} {:>10} {:>9} {:>9} {:>9} {:>8}\n", "step", "epoch", "loss", "nll",
                       watched(report).first, "tokens/s", "lr", "grad norm", "ETA");
}

std::string row(const Report& report) {
    const RunTotals& totals = report.totals;
    const double gradient = totals.steps == 0 ? 0.0 : totals.gradient_norm / static_cast<double>(totals.steps);
    return fmt::format("{:>9} {:>8.2f} {:>8.4f} {:>8.4f} {:>10.2f} {:>9.0f} {:>9.2e} {:>9.2f} {:>8}{}", report.step,
                       report.epoch, report.loss(), report.nll(), watched(report).second, report.tokens_per_second(),
                       report.learning_rate, gradient,
                       report.minutes_left < 0.0 ? "?" : duration_text(report.minutes_left),
                       totals.skipped > 0 ? fmt::format("  {} SKIPPED", totals.skipped) : "");
}

}  // namespace

void ReportTable::report(const Report& report) {
    if (row_open_) {
        write_(kNewRow);
    } else if (lines_since_head_ < 0 || lines_since_head_ >= kScreen) {
        write_(head(report));
        lines_since_head_ = 0;
    }
    write_(row(report));
    row_open_ = true;
}

void ReportTable::say(std::string_view line) {
    finish();
    write_(std::string(line) + "\n");
    lines_since_head_ += lines_since_head_ < 0 ? 0 : 1;
}

void ReportTable::finish() {
    if (row_open_) {
        write_("\n");
        row_open_ = false;
        ++lines_since_head_;
    }
}

}  // namespace headscope

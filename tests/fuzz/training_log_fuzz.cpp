// Any bytes as the log of a training: read for curves, which are drawn, and cut where a run goes on.
#include <algorithm>

#include "figures/training_plot.h"
#include "paint/svg.h"
#include "tests/fuzz/fuzz.h"
#include "train/log_reader.h"
#include "train/run_log.h"

using namespace headscope;

namespace {

constexpr std::int64_t kGoesOnAt = 20;

void check_none_after(const std::vector<LossPoint>& points) {
    HEADSCOPE_CHECK(
        std::all_of(points.begin(), points.end(), [](const LossPoint& point) { return point.step <= kGoesOnAt; }),
        "a step after the one that the run goes on from");
}

}  // namespace

std::vector<std::string> headscope::fuzz_seeds() {
    return {
        "{\"kind\":\"train\",\"step\":10,\"loss\":3.5,\"nll\":3.25,\"learning_rate\":0.001,\"gradient_norm\":1e-3}\n"
        "{\"kind\":\"validation\",\"step\":10,\"loss\":3.0,\"nll\":2.5,\"mean_nll\":2.25,\"bleu\":12.5,\"best\":true}\n"
        "{\"kind\":\"train\",\"step\":20,\"loss\":2.5,\"nll\":2.25,\"learning_rate\":0.002}\n"
        "{\"kind\":\"validation\",\"step\":20,\"loss\":2.0,\"nll\":1.5,\"mean_nll\":1.25,\"bleu\":22.5,\"best\":true}\n"
        "{\"kind\":\"train\",\"step\":30,\"loss\":2.25,\"nll\":1.75,\"learning_rate\":0.003}\n",
        "{\"kind\":\"return\",\"step\":10,\"from\":20,\"reason\":\"nll\"}\n"
        "{\"kind\":\"train\",\"step\":18446744073709551615,\"nll\":1e308}\n{\"kind\":\"train\",\"step\":1,\"nll\":null}"
        "\n"
        "{\"kind\":\"train\",\"step\":9000000000000000000,\"nll\":-1e308}\n{\"kind\":\"model\",\"step\":30,\"nll\":1}\n"
        "{\"kind\":\"train\",\"step\":2,\"nll\":4e-320}\n{\"kind\":\"tra",
    };
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const MemoryFile file(as_text(data, size));
    const TrainingLog log = read_training_log(file.path());
    for (const bool logarithmic : {false, true}) {
        run_or_refuse([&] { to_svg(draw_training_plot({{"fuzz", log}}, {.from = 0, .logarithmic = logarithmic})); });
    }
    const std::string kept = lines_up_to(file.path(), kGoesOnAt);
    const MemoryFile shorter(kept);
    HEADSCOPE_CHECK(lines_up_to(shorter.path(), kGoesOnAt) == kept, "what was kept is not kept again");
    const TrainingLog before = read_training_log(shorter.path());
    check_none_after(before.training);
    check_none_after(before.validation);
    HEADSCOPE_CHECK(before.training.size() <= log.training.size(), "a line that there was not");
    return 0;
}

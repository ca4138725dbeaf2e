// Any bytes as a checkpoint file: refused with an Error, or whole, and then every tensor is read. Any JSON as the state
// inside: refused with an Error, or one that says the same when it is written and read again.
#include <nlohmann/json.hpp>

#include "backend/ops/elementwise.h"
#include "registry/registry.h"
#include "tests/fuzz/fuzz.h"
#include "tests/io/temporary_folder.h"
#include "train/checkpoint.h"
#include "train/training_state.h"

using namespace headscope;

namespace {

constexpr std::int64_t kSize = 3;

RunIdentity identity() {
    return {{{"model", {{"d_model", 64}}}, {"seed", 1}}, 12345, "cpu", "F32"};
}

nlohmann::json some_state(bool with_best) {
    TrainingState state;
    state.step = 1000;
    state.seconds = 12.5;
    state.source = {{"epoch", 2}, {"window", 0}, {"window_step", 17}};
    if (with_best) {
        state.best = {900, 2.25};
    }
    return to_json(state, identity());
}

Backend& backend() {
    static const std::unique_ptr<Backend> cpu = open_device("cpu");
    return *cpu;
}

CheckpointTensors tensors() {
    const auto flat = [] { return backend().empty({kSize}, DType::F32); };
    return {flat(), flat(), flat()};
}

void check_state(const nlohmann::json& json) {
    compare_identity(json, identity(), "fuzz");
    const TrainingState state = parse_training_state(json, "fuzz");
    HEADSCOPE_CHECK(state.step >= 0 && !state.source.is_null() && state.totals.all_tokens >= 0, "fewer than no steps");
    const nlohmann::json again = to_json(state, identity());
    HEADSCOPE_CHECK(to_json(parse_training_state(again, "again"), identity()) == again,
                    "a state that changes when written");
}

}  // namespace

std::vector<std::string> headscope::fuzz_seeds() {
    nlohmann::json large = some_state(false);  // was once taken for a whole number of 64 bits
    large["data"] = 4e23;
    std::vector<std::string> seeds{some_state(true).dump(), some_state(false).dump(), large.dump()};
    const TemporaryFolder folder;
    CheckpointTensors full = tensors();
    for (const Tensor& tensor : {full.parameters, full.first_moment, full.second_moment}) {
        backend().run(Fill{.out = tensor, .value = 0.5F});
    }
    write_checkpoint(backend(), folder.file("full"), full, some_state(true));
    write_checkpoint(backend(), folder.file("bare"), {.parameters = full.parameters}, some_state(false));
    seeds.push_back(read_all(folder.file("full")));
    seeds.push_back(read_all(folder.file("bare")));
    return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes = as_text(data, size);
    const auto json = nlohmann::json::parse(bytes, nullptr, false);
    if (!json.is_discarded()) {
        run_or_refuse([&] { check_state(json); });
    }
    const MemoryFile file(bytes);
    run_or_refuse([&] {
        const Checkpoint checkpoint = Checkpoint::open(file.path());
        run_or_refuse([&] { check_state(checkpoint.state()); });
        run_or_refuse([&] { checkpoint.parameters(); });
        checkpoint.read(backend(), tensors());
    });
    return 0;
}

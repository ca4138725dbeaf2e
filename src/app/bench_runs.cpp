#include "app/bench_runs.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>

#include "data/batch.h"
#include "data/device_batch.h"
#include "infer/model_scorer.h"
#include "model/transformer.h"
#include "support/check.h"
#include "support/random.h"
#include "train/optimizer.h"
#include "train/training_pass.h"

namespace headscope {

namespace {

constexpr std::uint64_t kSeed = 1;

class Stopwatch {
public:
    double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::vector<std::int32_t> random_pieces(Random& random, const ModelConfig& config, std::int64_t count) {
    const std::int64_t first = std::max({config.pad_id, config.bos_id, config.eos_id, config.unk_id}) + 1;
    const auto range = static_cast<std::uint64_t>(std::min(config.source_vocabulary, config.target_vocabulary) - first);
    std::vector<std::int32_t> pieces(static_cast<std::size_t>(count));
    for (std::int32_t& piece : pieces) {
        piece = static_cast<std::int32_t>(first + static_cast<std::int64_t>(random.below(range)));
    }
    return pieces;
}

SpecialIds special_ids(const ModelConfig& config) {
    return {.pad = config.pad_id, .bos = config.bos_id, .eos = config.eos_id, .unk = config.unk_id};
}

Batch random_batch(const BenchShape& shape) {
    Random random(kSeed);
    std::vector<Pair> pairs;
    for (std::int64_t i = 0; i < shape.sentences; ++i) {
        pairs.push_back({random_pieces(random, shape.model, shape.source_length - 1),
                         random_pieces(random, shape.model, shape.target_length - 1)});
    }
    return make_batch(std::span<const Pair>(pairs), special_ids(shape.model), 0);
}

constexpr double kFloat = sizeof(float);

// Of activations and the weights that are multiplied, which are nearly all.
double storage_bytes(const BenchShape& shape) {
    return static_cast<double>(size_of(shape.arithmetic.storage));
}

OptimizerOptions optimizer_options(const BenchShape& shape) {
    return shape.arithmetic.storage == DType::F16
               ? OptimizerOptions{.loss_scale = 32768.0F, .scaling = {.growth_interval = 2000}}
               : OptimizerOptions{};
}

}  // namespace

double least_training_bytes(const BenchShape& shape) {
    const ModelConfig& model = shape.model;
    const auto sentences = static_cast<double>(shape.sentences);
    const auto d_model = static_cast<double>(model.d_model);
    const auto d_ff = static_cast<double>(model.d_ff);
    // Of each token of a layer: queries, keys, values and context of each attention, and the inner feed-forward layer.
    const double encoder = static_cast<double>(shape.source_length * model.encoder_layers) * (4.0 * d_model + d_ff);
    const double decoder = static_cast<double>(shape.target_length * model.decoder_layers) * (6.0 * d_model + d_ff);
    const double a_parameter = 4.0 * kFloat + (shape.arithmetic.storage == DType::F32 ? 0.0 : storage_bytes(shape));
    return a_parameter * static_cast<double>(count_parameters(model)) +
           storage_bytes(shape) * sentences * (encoder + decoder);
}

double least_translation_bytes(const BenchShape& shape) {
    const ModelConfig& model = shape.model;
    const double a_token = 2.0 * static_cast<double>(model.d_model) * static_cast<double>(model.decoder_layers);
    const auto tokens = static_cast<double>(shape.source_length + shape.target_length * shape.beam);
    const double cached = shape.arithmetic.weights_alone ? kFloat : storage_bytes(shape);
    return storage_bytes(shape) * static_cast<double>(count_parameters(model)) +
           cached * static_cast<double>(shape.sentences) * tokens * a_token;
}

double BenchRuns::median() const {
    HEADSCOPE_CHECK(!seconds.empty(), "no timed run");
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t middle = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2.0;
}

BenchRuns bench_training(Backend& backend, const BenchShape& shape, int steps, int repeat, const WarmedUp& warmed_up) {
    Parameters parameters(backend, shape.model, true, shape.arithmetic.storage);
    parameters.initialise(kSeed);
    const Transformer model(shape.model, parameters);
    Optimizer optimizer(backend, parameters, optimizer_options(shape));
    const TrainingPass pass(backend, model, parameters);
    TrainingPass::Rules rules{.regularisation = {.residual = shape.dropout,
                                                 .embedding = shape.dropout,
                                                 .attention = shape.dropout,
                                                 .activation = shape.dropout,
                                                 .seed = kSeed},
                              .compute = shape.arithmetic.compute};
    if (shape.arithmetic.storage == DType::F16) {
        rules.loss.gradient_scale = optimizer.loss_scale();
    }
    const Tensor step_tensor = backend.empty({1}, DType::I32);
    const Batch host_batch = random_batch(shape);
    BenchRuns runs;
    runs.source_tokens = host_batch.source_tokens * steps;
    runs.target_tokens = host_batch.target_tokens * steps;
    std::int32_t step = 0;
    for (int run = 0; run <= repeat; ++run) {
        const Stopwatch watch;
        // The first run, not timed, only fills the arena, starts the threads and records what can be replayed.
        for (int i = 0; i < (run == 0 ? std::min(steps, 3) : steps); ++i) {
            ++step;
            backend.upload(step_tensor, &step, sizeof(step));
            pass.run(upload(backend, host_batch), true, step_tensor, rules);
            optimizer.step(step, 1e-4, host_batch.target_tokens);
        }
        backend.synchronize();
        if (run > 0) {
            runs.seconds.push_back(watch.seconds());
        } else {
            warmed_up();
        }
    }
    return runs;
}

BenchRuns bench_translation(Backend& backend, const BenchShape& shape, int repeat, const WarmedUp& warmed_up) {
    Parameters parameters(backend, shape.model, false, shape.arithmetic.storage);
    parameters.initialise(kSeed);
    const Transformer model(shape.model, parameters);
    Random random(kSeed);
    std::vector<std::vector<std::int32_t>> sources;
    for (std::int64_t i = 0; i < shape.sentences; ++i) {
        sources.push_back(random_pieces(random, shape.model, shape.source_length - 1));
    }
    const std::vector<std::int64_t> limits(sources.size(), shape.target_length);
    const TokenRules never_ends{.eos = -1, .forbidden = token_rules(shape.model, false).forbidden};
    BenchRuns runs;
    runs.source_tokens = shape.sentences * shape.source_length;
    runs.target_tokens = shape.sentences * shape.target_length;
    for (int run = 0; run <= repeat; ++run) {
        const Stopwatch watch;
        Context ctx{.backend = backend, .compute = shape.arithmetic.compute};
        ModelScorer scorer(ctx, model, sources);
        const auto found = search(scorer, limits, shape.model.bos_id, never_ends, {.beam = shape.beam});
        for (const Hypothesis& hypothesis : found) {
            HEADSCOPE_CHECK(static_cast<std::int64_t>(hypothesis.tokens.size()) == shape.target_length,
                            "a translation of another length than was to be timed");
        }
        if (run > 0) {
            runs.seconds.push_back(watch.seconds());
        } else {
            warmed_up();
        }
    }
    return runs;
}

std::uint64_t peak_resident_bytes() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    constexpr std::uint64_t kKibi = 1024;  // Linux counts ru_maxrss in KiB
    return static_cast<std::uint64_t>(usage.ru_maxrss) * kKibi;
}

}  // namespace headscope

#include "cli/bench/bench_runs.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "data/batch.h"
#include "infer/model_scorer.h"
#include "model/family.h"
#include "model/frame_of_config.h"
#include "model/generator.h"
#include "model/rotary.h"
#include "support/check.h"
#include "support/random.h"
#include "tensor/blocks.h"
#include "train/learner.h"
#include "train/step_options.h"

namespace headscope {

namespace {

constexpr std::uint64_t kSeed = 1;

// Speed does not depend on which languages.
Frame any_frame(const ModelConfig& config) {
    const auto any = [&](std::int32_t word) {
        return needs_language(config, word) ? config.frame.languages.begin()->first : std::string();
    };
    return frame_of(config, {any(kSourceLanguage), any(kTargetLanguage)});
}

// Evenly distributed, or for an adaptive softmax by Zipf's law: the n-th piece has a probability of about 1 / (n log
// N).
std::vector<std::int32_t> random_pieces(Random& random, const ModelConfig& config, std::int64_t count) {
    std::set<std::int32_t> special{config.frame.pad_id, config.frame.bos_id, config.frame.eos_id, config.frame.unk_id,
                                   config.frame.mask_id};
    special.erase(-1);
    const std::int64_t vocabulary = std::min(config.source_vocabulary, config.target_vocabulary);
    const auto range = static_cast<std::uint64_t>(vocabulary - std::ssize(special));
    std::vector<std::int32_t> pieces(static_cast<std::size_t>(count));
    for (std::int32_t& piece : pieces) {
        piece = config.adaptive()
                    ? static_cast<std::int32_t>(std::pow(static_cast<double>(range), random.uniform())) - 1
                    : static_cast<std::int32_t>(random.below(range));
        for (const std::int32_t id : special) {  // in order
            piece += id <= piece ? 1 : 0;
        }
    }
    return pieces;
}

// A text with the labels of its family's task: what follows each piece, or a share of the pieces.
Example random_text(Random& random, const BenchShape& shape) {
    Example text{.target = random_pieces(random, shape.model, shape.target_length)};
    if (traits(shape.model.architecture).continues_text) {
        text.labels.assign(text.target.begin() + 1, text.target.end());
        text.labels.push_back(shape.model.frame.eos_id);
        return text;
    }
    text.labels.assign(text.target.size(), kNoTarget);
    for (std::size_t i = 0; i < text.target.size(); ++i) {
        if (i == 0 || random.uniform() < kPredictedShare) {
            text.labels[i] = std::exchange(text.target[i], shape.model.frame.mask_id);
        }
    }
    return text;
}

constexpr double kFloat = sizeof(float);

// Bytes per activation and multiplied weight, which are nearly all values.
double storage_bytes(const BenchShape& shape) {
    constexpr double kScales = 4.0 / kBlockColumns;  // bytes for each of a block's numbers
    const int bits = shape.arithmetic.block_bits;
    return bits > 0 ? bits / 8.0 + kScales : static_cast<double>(size_of(shape.arithmetic.storage));
}

OptimizerOptions optimizer_options(const BenchShape& shape) {
    return shape.arithmetic.storage == DType::F16
               ? OptimizerOptions{.loss_scale = 32768.0F, .scaling = {.growth_interval = 2000}}
               : OptimizerOptions{};
}

class TrainingWork final : public BenchWork {
public:
    TrainingWork(Backend& backend, const BenchShape& shape, int steps)
        : steps_(steps), learner_(backend, shape.model, learner_options(shape)), batch_({training_batch(shape)}) {}

    void warm_up() override {
        constexpr int kMost = 3;  // the first steps allocate and compile everything
        take(std::min(steps_, kMost));
    }
    void run() override { take(steps_); }

private:
    static LearnerOptions learner_options(const BenchShape& shape) {
        return {.arithmetic = shape.arithmetic,
                .optimizer = optimizer_options(shape),
                .regularisation = {.residual = shape.dropout,
                                   .embedding = shape.dropout,
                                   .attention = shape.dropout,
                                   .activation = shape.dropout,
                                   .seed = kSeed},
                .seed = kSeed};
    }

    void take(int steps) {
        for (int i = 0; i < steps; ++i) {
            learner_.step(batch_, ++step_, 1e-4);
        }
        learner_.backend().synchronize();
    }

    const int steps_;
    Learner learner_;
    const std::vector<Batch> batch_;
    std::int64_t step_ = 0;
};

// As a model is loaded.
Parameters random_parameters(Backend& backend, const BenchShape& shape) {
    const WeightStorage storage = shape.arithmetic.weights();
    Parameters parameters(backend, shape.model, false, storage);
    parameters.initialise(kSeed);
    if (storage.packs) {
        parameters.pack();
    }
    return parameters;
}

class GenerationWork final : public BenchWork {
public:
    GenerationWork(Backend& backend, const BenchShape& shape)
        : backend_(backend),
          shape_(shape),
          parameters_(random_parameters(backend, shape)),
          model_(make_model(shape.model, parameters_)),
          limits_(static_cast<std::size_t>(shape.sentences), shape.target_length),
          never_ends_{.eos = -1, .forbidden = token_rules(shape.model, SearchOptions{}).forbidden} {
        Random random(kSeed);
        const Frame frame = any_frame(shape.model);
        for (std::int64_t i = 0; i < shape.sentences; ++i) {
            sources_.push_back(
                frame.source(random_pieces(random, shape.model, shape.source_length - frame.around_source())));
        }
    }

    void warm_up() override { run(); }

    void run() override {
        Context ctx{.backend = backend_, .compute = shape_.arithmetic.compute};
        ModelScorer scorer(ctx, as_generator(*model_), sources_);
        for (const Hypothesis& hypothesis :
             search(scorer, limits_, shape_.model.frame.bos_id, never_ends_, {.beam = shape_.beam})) {
            HEADSCOPE_CHECK(static_cast<std::int64_t>(hypothesis.tokens.size()) == shape_.target_length,
                            "an output has the wrong length");
        }
    }

private:
    Backend& backend_;
    const BenchShape shape_;
    Parameters parameters_;
    std::unique_ptr<Model> model_;
    std::vector<std::vector<std::int32_t>> sources_;
    std::vector<std::int64_t> limits_;
    TokenRules never_ends_;
};

}  // namespace

Batch training_batch(const BenchShape& shape) {
    Random random(kSeed);
    const Frame frame = any_frame(shape.model);
    std::vector<Example> pairs;
    for (std::int64_t i = 0; i < shape.sentences; ++i) {
        pairs.push_back(traits(shape.model.architecture).reads_source
                            ? Example{random_pieces(random, shape.model, shape.source_length - frame.around_source()),
                                      random_pieces(random, shape.model, shape.target_length - frame.around_target())}
                            : random_text(random, shape));
    }
    for (Example& pair : pairs) {
        if (frame.mask >= 0) {
            pair.labels = pair.target;
        }
    }
    return make_batch(std::span<const Example>(pairs), frame, 0);
}

namespace {

double self_attention_columns(const ModelConfig& model, AttentionKind kind) {
    const AttentionConfig own = of_stack(model, kind).attention;
    return static_cast<double>((own.heads + own.groups()) * (own.d_k + own.d_v));
}

double cross_attention_columns(const ModelConfig& model) {
    const AttentionConfig own = of_stack(model, AttentionKind::Cross).attention;
    return attends(model, AttentionKind::Cross) ? static_cast<double>(own.heads * (own.d_k + own.d_v)) : 0.0;
}

}  // namespace

double least_training_bytes(const BenchShape& shape) {
    const ModelConfig& model = shape.model;
    const auto sentences = static_cast<double>(shape.sentences);
    const auto d_ff = static_cast<double>(model.feed_forward.d_ff);
    // Per token and layer: queries, keys, values and context of self-attention, queries and context of
    // cross-attention, and the inner feed-forward layer.
    const double encoder = static_cast<double>(shape.source_length * model.encoder_layers) *
                           (self_attention_columns(model, AttentionKind::EncoderSelf) + d_ff);
    const double decoder =
        static_cast<double>(shape.target_length * model.decoder_layers) *
        (self_attention_columns(model, AttentionKind::DecoderSelf) + cross_attention_columns(model) + d_ff);
    const double per_parameter = 4.0 * kFloat + (shape.arithmetic.storage == DType::F32 ? 0.0 : storage_bytes(shape));
    return per_parameter * static_cast<double>(count_parameters(model)) +
           storage_bytes(shape) * sentences * (encoder + decoder);
}

double least_generation_bytes(const BenchShape& shape) {
    const ModelConfig& model = shape.model;
    const AttentionConfig attention = of_stack(model, AttentionKind::DecoderSelf).attention;
    const auto per_token = static_cast<double>(attention.groups() * (attention.d_k + attention.d_v));
    double tokens = 0.0;  // whose keys and values are read, of all layers
    for (int layer = 0; layer < model.decoder_layers; ++layer) {
        const std::int64_t window = window_of(model, AttentionKind::DecoderSelf, layer);
        const std::int64_t kept = window > 0 ? std::min(shape.target_length, window) : shape.target_length;
        tokens += static_cast<double>(shape.source_length + kept * shape.beam);
    }
    const double cached = shape.arithmetic.weights_alone ? kFloat : storage_bytes(shape);
    return storage_bytes(shape) * static_cast<double>(count_parameters(model)) +
           cached * static_cast<double>(shape.sentences) * tokens * per_token;
}

double seconds_of_run(BenchWork& work) {
    const auto start = std::chrono::steady_clock::now();
    work.run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::unique_ptr<BenchWork> training_work(Backend& backend, const BenchShape& shape, int steps) {
    return std::make_unique<TrainingWork>(backend, shape, steps);
}

std::unique_ptr<BenchWork> generation_work(Backend& backend, const BenchShape& shape) {
    return std::make_unique<GenerationWork>(backend, shape);
}

std::uint64_t peak_resident_bytes() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    constexpr std::uint64_t kKibi = 1024;  // Linux counts ru_maxrss in KiB
    return static_cast<std::uint64_t>(usage.ru_maxrss) * kKibi;
}

}  // namespace headscope

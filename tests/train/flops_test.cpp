// The formula of a step's arithmetic against a backend that counts every op that runs.
#include "model/flops.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/forwarding_backend.h"
#include "backend/ops/additive.h"
#include "backend/ops/attention.h"
#include "backend/ops/convolution.h"
#include "backend/ops/matmul.h"
#include "backend/ops/optimizer.h"
#include "tests/model/small_model.h"
#include "train/learner.h"

using namespace headscope;

namespace {

// Counts the multiplications and additions of products, and of the optimizer, as each op's header states them.
// Attention and Linear are fused, forward and backward, or `composed`: then each product is a Matmul.
class CountingBackend final : public ForwardingBackend {
public:
    CountingBackend(std::unique_ptr<Backend> counted, bool composed)
        : ForwardingBackend(std::move(counted)), composed_(composed) {}

    double products = 0.0, optimizer = 0.0;

    Support support(OpId op, DType dtype) const override {
        const bool fused = op == OpId::Attention || op == OpId::AttentionBackward || op == OpId::Linear;
        return fused ? Support{composed_ ? SupportLevel::Composed : SupportLevel::Native, "counted"}
                     : ForwardingBackend::support(op, dtype);
    }

    using ForwardingBackend::run;
    void run(const Matmul& op) override {
        products += 2.0 * static_cast<double>(op.out.elements() * op.a.dim(op.transpose_a ? -2 : -1));
        ForwardingBackend::run(op);
    }
    void run(const Linear& op) override {
        if (composed_) {
            Backend::run(op);
            return;
        }
        products += 2.0 * static_cast<double>(op.y.elements() * op.x.dim(-1));
        ForwardingBackend::run(op);
    }
    void run(const Attention& op) override {
        if (composed_) {
            Backend::run(op);
            return;
        }
        products += attention(op.q, op.k, op.v, op.mask);
        ForwardingBackend::run(op);
    }
    void run(const AttentionBackward& op) override {
        // The gradients of Q and K, and of weights and V.
        products += 2.0 * attention(op.q, op.k, op.v, composed_ ? AttentionMask{} : op.mask);
        ForwardingBackend::run(op);
    }
    void run(const AdditiveScores& op) override {
        products += 2.0 * static_cast<double>(op.scores.elements() * op.q.dim(3));
        ForwardingBackend::run(op);
    }
    // Of the queries' gradient or of the keys', each as much as a product's.
    void run(const AdditiveScoresBackward& op) override {
        products += 2.0 * static_cast<double>(op.grad_scores.elements() * op.x.dim(3));
        ForwardingBackend::run(op);
    }
    // Of a separable convolution, whose weights get their gradient from what is unfolded.
    void run(const SumTaps& op) override {
        depthwise_ = depthwise_ || op.weights.defined();
        products += op.weights.defined() ? 2.0 * static_cast<double>(op.out.elements() * op.taps) : 0.0;
        ForwardingBackend::run(op);
    }
    void run(const Unfold& op) override {
        products += depthwise_ ? 2.0 * static_cast<double>(op.out.elements()) : 0.0;
        ForwardingBackend::run(op);
    }
    void run(const SquareSum& op) override {
        optimizer += kSquareSumFlops * static_cast<double>(op.x.elements());
        ForwardingBackend::run(op);
    }
    void run(const Adam& op) override {
        optimizer += kAdamFlops * static_cast<double>(op.parameter.elements());
        ForwardingBackend::run(op);
    }

private:
    static double attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionMask& mask) {
        double pairs = 0.0;
        for (std::int64_t query = 0; query < q.dim(2); ++query) {
            for (std::int64_t key = 0; key < k.dim(2); ++key) {
                const bool near = mask.window == 0 || std::abs(query - key) < mask.window;
                pairs += near && (!mask.causal || key <= query) ? 1.0 : 0.0;
            }
        }
        return 2.0 * static_cast<double>(q.dim(0) * q.dim(1) * (q.dim(3) + v.dim(3))) * pairs;
    }

    bool composed_;
    bool depthwise_ = false;
};

// Two parts with padding, of different shapes.
std::vector<Batch> parts_for(const ModelConfig& config) {
    std::vector<Batch> parts;
    for (const std::int64_t sentences : {5, 2}) {
        std::vector<Example> pairs = random_pairs(config, sentences, 7);
        if (config.architecture != Architecture::EncoderDecoder) {
            pairs = language_examples(config, pairs);
        } else {
            pairs.front().target.resize(9, 5);  // so that the sides of neither part have one length
        }
        if (config.generation == Generation::MaskPredict) {
            pairs = masked_pairs(config, pairs);
        }
        parts.push_back(make_batch(pairs, frame_of(config), 0, {.multiple = sentences == 5 ? 8 : 1}));
    }
    return parts;
}

// A product of all queries and keys also multiplies those that a mask forbids.
double masked_products(const ModelConfig& config, const std::vector<Batch>& parts) {
    const MultiplyAdds each = describe(config).multiply_adds;
    double surplus = 0.0;
    const auto add = [&](std::int64_t sentences, std::int64_t length, bool causal, const WindowedLayers& window,
                         double pair) {
        for (std::int64_t query = 0; query < length; ++query) {
            for (std::int64_t key = 0; key < length; ++key) {
                const double forbidding = causal && key > query                   ? 1.0
                                          : std::abs(query - key) >= window.width ? window.share
                                                                                  : 0.0;  // of the layers
                surplus += forbidding * 2.0 * static_cast<double>(sentences) * pair;
            }
        }
    };
    for (const Batch& part : parts) {
        const bool masked = config.architecture == Architecture::MaskedLm;
        add(part.sentences, part.target.length, true, each.causal_window, each.causal_pair);
        add(part.sentences, part.target.length, false, each.causal_window, each.target_pair);
        add(part.sentences, masked ? part.target.length : part.source.length, false, each.source_window,
            each.source_pair);
    }
    return surplus;
}

// Recurrent layers do not multiply the first state, which is 0, although the formula counts it like the others.
double first_states(const ModelConfig& config, const std::vector<Batch>& parts) {
    const auto of_layer = [&](MixerKind kind) {
        const double gates = kind == MixerKind::Lstm ? 4.0 : kind == MixerKind::Gru ? 3.0 : 0.0;
        return gates * static_cast<double>(config.d_model * config.d_model);
    };
    const double encoder =
        config.encoder_layers * of_layer(config.mixer.encoder) / (config.mixer.bidirectional ? 2.0 : 1.0);
    // Without cross-attention the first states are the encoder's.
    const double decoder = config.attention.cross ? config.decoder_layers * of_layer(config.mixer.decoder) : 0.0;
    double sum = 0.0;
    for (const Batch& part : parts) {
        sum += 2.0 * static_cast<double>(part.sentences) * (encoder + decoder);
    }
    return sum;
}

// Experts multiply every slot, of which without a capacity each has one for every token.
double empty_slots(const ModelConfig& config, const std::vector<Batch>& parts) {
    const auto spare = static_cast<double>(config.feed_forward.experts.count - config.feed_forward.experts.per_token);
    const auto weights =
        static_cast<double>((config.feed_forward.gate ? 3 : 2) * config.feed_forward.d_ff * config.d_model);
    double tokens = 0.0;
    for (const Batch& part : parts) {
        const bool masked = config.architecture == Architecture::MaskedLm;
        const std::int64_t source = masked ? part.target.length : part.source.length;
        tokens += static_cast<double>(part.sentences *
                                      (config.encoder_layers * source + config.decoder_layers * part.target.length));
    }
    return config.feed_forward.experts.count == 0 ? 0.0 : 2.0 * spare * weights * tokens;
}

}  // namespace

TEST_CASE("the formula of a step's FLOPs counts every product that runs, forward and backward", "[flops]") {
    for (const bool composed : {false, true}) {
        for (const NamedConfig& named : all_configs()) {
            INFO(named.name << (composed ? ", composed" : ", fused"));
            CountingBackend backend(open_device(composed ? "cpu:oracle" : "cpu", environment_options()), composed);
            Learner learner(backend, named.config, LearnerOptions{});
            backend.products = backend.optimizer = 0.0;
            const std::vector<Batch> parts = parts_for(named.config);
            const StepFlops formula = TrainingFlops(named.config, learner.parameters().total()).of(parts);
            // Additive scores and those to which distances add are not fused, so all of them are computed.
            const bool whole = composed || named.config.positions.relative.kind != RelativePositions::None ||
                               named.config.attention.score == AttentionScore::Additive;
            const double masked = whole ? masked_products(named.config, parts) : 0.0;

            const std::unique_ptr<Model> model = make_model(named.config, learner.parameters());
            for (const Batch& part : parts) {
                model->prepare(backend, std::max(part.source.length, part.target.length));
                Context context{.backend = backend};
                model->loss(context, upload(backend, part), {});
            }
            const double skipped = first_states(named.config, parts);
            const double empty = empty_slots(named.config, parts);
            CHECK(backend.products == formula.forward() + masked + empty - skipped);
            CHECK(backend.optimizer == 0.0);

            backend.products = 0.0;
            learner.step(parts, 1, 1e-3);
            CHECK(backend.products == formula.forward() + formula.backward() + 3.0 * (masked + empty) - 2.0 * skipped);
            CHECK(backend.optimizer == formula.optimizer);
            CHECK(formula.total() == formula.forward() + formula.backward() + formula.optimizer);
            CHECK((formula.attention > 0.0) == (attends(named.config, AttentionKind::EncoderSelf) ||
                                                attends(named.config, AttentionKind::DecoderSelf) ||
                                                attends(named.config, AttentionKind::Cross)));
            CHECK(formula.weights > 0.0);
        }
    }
}

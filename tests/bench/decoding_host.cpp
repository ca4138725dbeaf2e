// Microseconds of the host for a step of greedy decoding by the paper's base model, on a device that takes no time:
// with sequences that are known by their dependencies, and captured anew for each step.
// bench_decoding_host ROWS STEPS
#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "backend/forwarding_backend.h"
#include "backend/instrumented.h"
#include "backends/cpu/open.h"
#include "data/device_batch.h"
#include "model/encoder_decoder.h"

namespace {

using namespace headscope;

// Runs nothing, and launches what comes again by its key.
class NoDevice final : public ForwardingBackend {
public:
    using ForwardingBackend::ForwardingBackend;
    bool replays() const override { return true; }
    void replay(const std::string& key, const std::function<void()>& body) override {
        if (known_.insert(key).second) {
            body();
        }
    }
#define HEADSCOPE_DEFINE(Op) \
    void run(const Op& /*op*/) override {}
    HEADSCOPE_ALL_OPS(HEADSCOPE_DEFINE)
#undef HEADSCOPE_DEFINE

private:
    std::set<std::string> known_;
};

// Forgets what sequences depend on.
class CapturesAnew final : public ForwardingBackend {
public:
    using ForwardingBackend::ForwardingBackend;
    void replay_again(const std::string& name, RepeatedSequence&, const Dependencies&,
                      const std::function<void()>& body) override {
        inner().replay(name, body);
    }
};

double microseconds_of_a_step(Backend& backend, std::int64_t rows, int steps) {
    ModelConfig config;
    config.d_model = 64;  // the ops are those of 512 columns
    config.feed_forward.d_ff = 128;
    config.attention.d_k = config.attention.d_v = 8;
    config.source_vocabulary = config.target_vocabulary = 1000;
    config.max_length = 16;
    Parameters parameters(backend, config, false);
    const EncoderDecoder model(config, parameters);
    Context ctx{backend};
    const Tensor lengths = backend.empty({rows}, DType::I32);
    const Tensor memory = backend.empty({rows, 8, config.d_model}, DType::F32);
    Cache cache = model.start_cache(ctx, memory, lengths, 16);
    const Tensor ids = backend.empty({rows, 1}, DType::I32);
    const Tensor values = backend.empty({rows, 5}, DType::F32);
    const Tensor tokens = backend.empty({rows, 5}, DType::I32);
    const auto step = [&] {
        model.step_top_k(ctx, cache, ids, values, tokens);
        cache.go_back(backend, 1);  // so that all steps are alike
    };
    for (int i = 0; i < 10; ++i) {
        step();
    }
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < steps; ++i) {
        step();
    }
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / steps;
}

std::unique_ptr<Backend> no_device() {
    return std::make_unique<Instrumented>(std::make_unique<NoDevice>(open_cpu({.threads = 1})), InstrumentOptions{});
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        fmt::print(stderr, "usage: bench_decoding_host ROWS STEPS\n");
        return 2;
    }
    const std::int64_t rows = std::atoll(arguments[1]);
    const int steps = std::atoi(arguments[2]);
    const auto known = no_device();
    CapturesAnew anew(no_device());
    for (int round = 0; round < 5; ++round) {
        const double captured = microseconds_of_a_step(anew, rows, steps);
        fmt::print("captured anew {:.1f} us, known {:.1f} us\n", captured, microseconds_of_a_step(*known, rows, steps));
    }
    return 0;
}

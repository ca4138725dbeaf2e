#include "experiment/layer_probe.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "experiment/dependency_depth.h"
#include "model/flops.h"

namespace headscope {
namespace {

constexpr std::uint64_t kSeed = 1;
constexpr std::int64_t kHeadColumns = 64;
constexpr std::int64_t kFarther = 65'535;  // than any convolution reads

ModelConfig config_for(const LayerKind& kind, std::int64_t length, std::int64_t width, int layers) {
    const std::int64_t heads = width % kHeadColumns == 0 ? width / kHeadColumns : 1;
    nlohmann::json json = flat_model_keys(encoder_alone(layers, width, heads, 1, std::max(length, kFarther)));
    json.update(encoder_keys(kind, length));
    ModelConfig parsed = parse_model_config(json, kind.name);
    check_model_config(parsed, kind.name);
    return parsed;
}

}  // namespace

ModelConfig encoder_alone(int layers, std::int64_t width, std::int64_t heads, std::int64_t d_ff, std::int64_t length) {
    ModelConfig config;
    config.architecture = Architecture::MaskedLm;
    config.encoder_layers = layers;
    config.decoder_layers = 0;
    config.d_model = width;
    config.feed_forward.d_ff = d_ff;
    config.attention.heads = heads;
    config.attention.d_k = config.attention.d_v = width / heads;
    config.max_length = length;
    config.source_vocabulary = config.target_vocabulary = 8;
    config.frame.mask_id = 4;
    return config;
}

LayerProbe::LayerProbe(Backend& backend, const LayerKind& kind, std::int64_t length, std::int64_t width, int layers)
    : backend_(backend),
      config_(config_for(kind, length, width, layers)),
      length_(length),
      parameters_(std::make_unique<Parameters>(backend, config_, true)) {
    parameters_->initialise(kSeed);
    const Scope stack = Scope(declared_, parameters_.get()).in("encoder").for_each(&MultiplyAdds::source_token);
    for (int layer = 0; layer < layers; ++layer) {
        mixers_.push_back(make_mixer(config_, stack.layer(layer).in(mixer_part(config_.mixer.encoder)),
                                     {AttentionKind::EncoderSelf, layer}, sites_));
    }
    const Shape shape{1, length, width};
    x_ = Var(unit_noise(backend, shape), true);
}

Var LayerProbe::forward(Tape* tape) const {
    Context ctx{.backend = backend_, .tape = tape};
    Var y = x_;
    for (const std::unique_ptr<Mixer>& mixer : mixers_) {
        y = (*mixer)(ctx, y, {});
    }
    return y;
}

LayerCost LayerProbe::measure(int repeat) {
    const PassCost cost = measure_passes(
        backend_, repeat, [&](Tape& tape) { return forward(&tape); },
        [&] {
            x_.forget_gradient();
            parameters_->forget_gradients();
        });
    return {.length = length_,
            .width = config_.d_model,
            .pass = cost,
            .multiply_adds = encoder_multiply_adds(declared_.multiply_adds, static_cast<double>(length_))};
}

double LayerProbe::influence_of_first() {
    Tape tape;
    const Var y = forward(&tape);
    std::vector<float> gradient(static_cast<std::size_t>(y.shape().elements()), 0.0F);
    std::fill(gradient.end() - config_.d_model, gradient.end(), 1.0F);
    y.add_gradient(backend_, make_from_host(backend_, y.shape(), DType::F32, gradient));
    tape.backward(backend_);
    const std::vector<float> influence = to_host<float>(backend_, x_.gradient());
    x_.forget_gradient();
    parameters_->forget_gradients();
    const auto norm_at = [&](std::int64_t position) {
        const float* const values = influence.data() + position * config_.d_model;
        return std::sqrt(std::transform_reduce(values, values + config_.d_model, 0.0, std::plus<>(), [](float value) {
            return static_cast<double>(value) * static_cast<double>(value);
        }));
    };
    return norm_at(0) / norm_at(length_ - 1);
}

LayerPath measure_path(const std::function<std::unique_ptr<Backend>()>& cpu, const LayerKind& kind, std::int64_t length,
                       std::int64_t width) {
    LayerPath found{.length = length};
    const auto depth_of = [&](int layers) {
        DependencyDepth counted(cpu());
        const LayerProbe probe(counted, kind, length, width, layers);
        return counted.of(probe.forward(nullptr).value());
    };
    found.sequential = depth_of(1);
    for (found.layers = 1; found.layers < length; ++found.layers) {
        const std::unique_ptr<Backend> backend = cpu();
        found.influence = LayerProbe(*backend, kind, length, width, found.layers).influence_of_first();
        if (found.influence != 0.0) {
            break;
        }
    }
    found.path = depth_of(found.layers);
    return found;
}

}  // namespace headscope

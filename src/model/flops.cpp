#include "model/flops.h"

namespace headscope {

namespace {

constexpr double kMultiplyAdd = 2.0;

struct Sizes {
    explicit Sizes(const ModelConfig& model)
        : d_model(static_cast<double>(model.d_model)),
          d_ff(static_cast<double>(model.d_ff)),
          keys(static_cast<double>(model.heads * model.d_k)),
          values(static_cast<double>(model.heads * model.d_v)) {}

    // Multiply-adds of one token.
    double query_and_output() const { return d_model * (keys + values); }
    double key_and_value() const { return d_model * (keys + values); }
    double feed_forward() const { return 2.0 * d_model * d_ff; }
    // Of one query and one key: its score, and its part of the sum of values.
    double pair() const { return keys + values; }

    double d_model, d_ff, keys, values;
};

// Multiply-adds of one sentence.
double encoder(const ModelConfig& model, double source) {
    const Sizes s(model);
    const double token = s.query_and_output() + s.key_and_value() + s.feed_forward();
    return model.encoder_layers * (source * token + source * source * s.pair());
}

// What the decoder makes of the encoder's output, once for each sentence.
double memory(const ModelConfig& model, double source) {
    return model.decoder_layers * source * Sizes(model).key_and_value();
}

double decoder(const ModelConfig& model, double source, double target) {
    const Sizes s(model);
    const double token = 2.0 * s.query_and_output() + s.key_and_value() + s.feed_forward();
    const double pairs = target * (target + 1.0) / 2.0 + target * source;
    return model.decoder_layers * (target * token + pairs * s.pair()) +
           target * s.d_model * static_cast<double>(model.target_vocabulary);
}

}  // namespace

double forward_flops(const ModelConfig& model, const WorkShape& shape) {
    return translation_flops(model, shape, 1);
}

double training_flops(const ModelConfig& model, const WorkShape& shape) {
    return 3.0 * forward_flops(model, shape);
}

double translation_flops(const ModelConfig& model, const WorkShape& shape, int beam) {
    const auto source = static_cast<double>(shape.source_length);
    const auto target = static_cast<double>(shape.target_length);
    return kMultiplyAdd * static_cast<double>(shape.sentences) *
           (encoder(model, source) + memory(model, source) + beam * decoder(model, source, target));
}

}  // namespace headscope

// Arithmetic counted by hand.
#include "model/flops.h"

#include <catch2/catch.hpp>

using namespace headscope;

TEST_CASE("the FLOPs of a small model equal those counted by hand", "[flops]") {
    ModelConfig model;
    model.encoder_layers = 1;
    model.decoder_layers = 1;
    model.d_model = 4;
    model.feed_forward.d_ff = 10;
    model.attention.heads = 2;
    model.attention.d_k = 3;  // keys 6
    model.attention.d_v = 1;  // values 2
    model.source_vocabulary = model.target_vocabulary = 7;
    // One sentence of 3 source and 2 target tokens, in multiply-adds.
    // Encoder: q 3*4*6 = 72, k 72, v 3*4*2 = 24, out 3*2*4 = 24, scores 3*3*6 = 54, sums 3*3*2 = 18,
    //          feed-forward 2*3*4*10 = 240: 504.
    // Decoder's self-attention: q 2*4*6 = 48, k 48, v 2*4*2 = 16, out 16, scores (1 + 2)*6 = 18, sums 3*2 = 6: 152.
    // Cross-attention: q 48, k 3*4*6 = 72, v 24, out 16, scores 2*3*6 = 36, sums 2*3*2 = 12: 208.
    // Feed-forward: 2*2*4*10 = 160. Logits: 2*4*7 = 56.
    CHECK(forward_flops(model, {1, 3, 2}) == 2.0 * (504 + 152 + 208 + 160 + 56));
    CHECK(forward_flops(model, {5, 3, 2}) == 5.0 * forward_flops(model, {1, 3, 2}));
    CHECK(training_flops(model, {1, 3, 2}) == 3.0 * forward_flops(model, {1, 3, 2}));
    // A beam of 2 encodes once, and makes keys and values of the source (72 + 24) once.
    CHECK(translation_flops(model, {1, 3, 2}, 1) == forward_flops(model, {1, 3, 2}));
    CHECK(translation_flops(model, {1, 3, 2}, 2) == 2.0 * (504 + 96 + 2 * (152 + 208 - 96 + 160 + 56)));
}

TEST_CASE("the FLOPs of recurrent layers equal those counted by hand", "[flops]") {
    ModelConfig model;
    model.encoder_layers = model.decoder_layers = 1;
    model.mixer.encoder = model.mixer.decoder = MixerKind::Lstm;
    model.attention.cross = false;
    model.mixer.bidirectional = true;
    model.d_model = 4;
    model.feed_forward.d_ff = 10;
    model.source_vocabulary = model.target_vocabulary = 7;
    // One sentence of 3 source and 2 target tokens, in multiply-adds.
    // Encoder: inputs 3*4*(2*4*2) = 192, states 3*2*(4*2)*2 = 96.
    // Decoder: inputs 2*4*16 = 128, states 128, feed-forward 160. Logits 56.
    CHECK(forward_flops(model, {1, 3, 2}) == 2.0 * (192 + 96 + 128 + 128 + 160 + 56));
    model.mixer.encoder = MixerKind::Gru;
    model.attention.cross = true;
    model.mixer.bidirectional = false;
    model.attention.heads = 1;
    model.attention.d_k = model.attention.d_v = 4;
    // Encoder: 3*4*12 = 144 twice, feed-forward 240. Cross-attention: q 2*16, k and v 3*16 each, out 32, pairs 2*3*8.
    CHECK(forward_flops(model, {1, 3, 2}) == 2.0 * (2 * 144 + 240 + 128 + 128 + (32 + 96 + 32 + 48) + 160 + 56));
}

TEST_CASE("experts count their router and those that a token goes to", "[flops]") {
    ModelConfig model;
    model.encoder_layers = model.decoder_layers = 1;
    model.d_model = 4;
    model.feed_forward.d_ff = 10;
    model.source_vocabulary = model.target_vocabulary = 7;
    const double plain = forward_flops(model, {1, 3, 2});
    model.feed_forward.experts.count = 8;
    // For each of 3 + 2 tokens: router 4*8 = 32, two experts of 2*4*10 = 80 in the place of one.
    CHECK(forward_flops(model, {1, 3, 2}) - plain == 2.0 * 5 * (32 + 80));
    model.feed_forward.gate = true;
    CHECK(forward_flops(model, {1, 3, 2}) - plain == 2.0 * 5 * (32 + 80 + 80));
}

TEST_CASE("restricted attention counts the pairs within its window", "[flops]") {
    ModelConfig model;
    model.encoder_layers = model.decoder_layers = 1;
    model.source_vocabulary = model.target_vocabulary = 7;
    const double full = forward_flops(model, {1, 5, 4});
    model.mixer.encoder = model.mixer.decoder = MixerKind::Restricted;
    model.mixer.window = 2;
    // Encoder: of 25 pairs those at distance 0 and 1, 5 + 2 * 4 = 13. Decoder: of 10 pairs 4 + 3 = 7.
    CHECK(full - forward_flops(model, {1, 5, 4}) == 2.0 * 2 * 512 * (25 - 13 + 10 - 7));
    model.mixer.window = 5;  // all
    CHECK(forward_flops(model, {1, 5, 4}) == full);
    model.mixer.window = 1000;
    CHECK(forward_flops(model, {1, 5, 4}) == full);
    // With a window in every second of four layers, half of the pairs that four windows leave out are back.
    model.decoder_layers = 4;
    const double whole = forward_flops(model, {1, 5, 4});
    model.mixer.encoder = MixerKind::SelfAttention;
    model.mixer.window = 2;
    model.mixer.window_pattern = {1, 0};
    CHECK(whole - forward_flops(model, {1, 5, 4}) == 2.0 * 2 * 512 * 2 * (10 - 7));
}

TEST_CASE("a base step of the paper is about 9.5 TFLOP", "[flops]") {
    ModelConfig base;  // Table 3
    base.source_vocabulary = base.target_vocabulary = 37000;
    // Without attention's pairs: 6 * 25,000 * (6 * 3,145,728 + 6 * 4,194,304 + 37,000 * 512) = 9.447e12; with them, 40
    // tokens each: 6 * 25,000 * 6 * 1,024 * (40 + 20.5 + 40) = 0.093e12 more.
    CHECK(training_flops(base, {625, 40, 40}) == Approx(9.447e12 + 0.0926e12).epsilon(1e-4));
}

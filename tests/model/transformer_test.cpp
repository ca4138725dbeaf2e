// Properties of the model that hold for any weights.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "backend/ops/attention.h"
#include "backend/ops/elementwise.h"
#include "backend/ops/search.h"
#include "backends/cpu/reference/reference.h"
#include "small_model.h"

using namespace headscope;

namespace {

// Teacher-forced logits [sentences, target_length, vocabulary].
std::vector<double> logits_of(SmallModel& model, const DeviceBatch& batch, AttentionObserver* observer = nullptr) {
    Context ctx{*model.backend};
    ctx.observer = observer;
    const Var memory = model.transformer().encode(ctx, batch.source);
    const Var hidden = model.transformer().decode(ctx, {.ids = batch.target.ids}, {memory, batch.source.lengths});
    return model.host(model.model->logits(ctx, hidden).value());
}

// Keeps a copy of all weights it is shown.
struct Recorder : AttentionObserver {
    bool wants(const AttentionSite&) const override { return true; }
    Tensor observe(Backend& backend, const AttentionView& view) override {
        seen.push_back({view.site, view.weights.shape, to_host<double>(backend, view.weights)});
        return view.weights;
    }
    struct Seen {
        AttentionSite site;
        Shape shape;
        std::vector<double> weights;
    };
    std::vector<Seen> seen;
};

}  // namespace

TEST_CASE("a sentence's logits do not depend on its batch or its padding") {
    for (const NamedConfig& varied : varied_configs()) {
        SECTION(varied.name) {
            SmallModel model(varied.config, "cpu:oracle", false);
            Random random(8);
            std::vector<Example> pairs = random_pairs(model.config, 4, 3);
            // A long one, which pads all others to 16.
            pairs.push_back({random_pieces(random, 12, model.config.source_vocabulary),
                             random_pieces(random, 13, model.config.target_vocabulary)});
            const DeviceBatch together = model.batch(pairs);
            const std::vector<double> all = logits_of(model, together);
            const std::int64_t classes = model.config.target_vocabulary;
            for (std::size_t i = 0; i < pairs.size(); ++i) {
                const std::vector<double> alone = logits_of(model, model.batch({pairs[i]}));
                const std::int64_t rows = std::ssize(pairs[i].target) + 1;
                for (std::int64_t e = 0; e < rows * classes; ++e) {
                    const std::int64_t there = static_cast<std::int64_t>(i) * together.target.length() * classes + e;
                    REQUIRE(alone[static_cast<std::size_t>(e)] ==
                            Approx(all[static_cast<std::size_t>(there)]).margin(1e-12));
                }
            }
        }
    }
}

TEST_CASE("a decoder position depends on earlier tokens and not on later ones") {
    SmallModel model(small_config(), "cpu:oracle", false);
    Example pair = random_pairs(model.config, 1, 3)[0];
    pair.target = {4, 5, 6, 7, 8, 9};
    const std::vector<double> before = logits_of(model, model.batch({pair}));
    pair.target[3] = 10;  // target_in[4]
    const std::vector<double> after = logits_of(model, model.batch({pair}));
    const auto row = [&](const std::vector<double>& logits, std::int64_t position) {
        const auto begin = logits.begin() + position * model.config.target_vocabulary;
        return std::vector<double>(begin, begin + model.config.target_vocabulary);
    };
    for (std::int64_t position = 0; position < 7; ++position) {
        INFO("position " << position);
        CHECK((row(before, position) == row(after, position)) == (position < 4));
    }
}

TEST_CASE("cached decoding equals the uncached pass, through growth and reordering") {
    for (const NamedConfig& varied : varied_configs()) {
        SECTION(varied.name) {
            SmallModel model(varied.config, "cpu:oracle", false);
            Random random(9);
            std::vector<Example> pairs;
            for (std::int64_t i = 0; i < 3; ++i) {
                pairs.push_back({random_pieces(random, 2 + 3 * i, model.config.source_vocabulary),
                                 random_pieces(random, 12, model.config.target_vocabulary)});
            }
            const DeviceBatch batch = model.batch(pairs);
            const std::vector<double> expected = logits_of(model, batch);
            const std::vector<std::int32_t> inputs = to_host<std::int32_t>(*model.backend, batch.target.ids);
            const std::int64_t classes = model.config.target_vocabulary;

            Context ctx{*model.backend};
            const Tensor memory = model.transformer().encode(ctx, batch.source).value();
            Cache cache = model.transformer().start_cache(ctx, memory, batch.source.lengths, 1);
            CHECK(cache.capacity == (cache.kept.empty() ? 0 : 8));
            std::vector<std::int32_t> rows{0, 1, 2};  // the sentence of each row
            for (std::int64_t position = 0; position < 13; ++position) {
                std::vector<std::int32_t> newest;
                for (const std::int32_t sentence : rows) {
                    newest.push_back(inputs[static_cast<std::size_t>(sentence * batch.target.length() + position)]);
                }
                const auto count = static_cast<std::int64_t>(rows.size());
                const Tensor ids = make_from_host(*model.backend, {count, 1}, DType::I32, newest);
                const std::vector<double> found = model.host(model.transformer().step(ctx, cache, ids));
                for (std::int64_t r = 0; r < count; ++r) {
                    const std::int64_t there =
                        (rows[static_cast<std::size_t>(r)] * batch.target.length() + position) * classes;
                    for (std::int64_t c = 0; c < classes; ++c) {
                        INFO("position " << position << ", row " << r << ", class " << c);
                        REQUIRE(found[static_cast<std::size_t>(r * classes + c)] ==
                                Approx(expected[static_cast<std::size_t>(there + c)]).margin(1e-12));
                    }
                }
                if (position == 3 || position == 9) {  // before and after growing
                    rows = position == 3 ? std::vector<std::int32_t>{2, 0, 2, 1} : std::vector<std::int32_t>{1, 2};
                    const std::vector<std::int32_t> back =
                        position == 3 ? rows : std::vector<std::int32_t>{3, 0};  // row 3 held sentence 1, row 0 held 2
                    const auto size = static_cast<std::int64_t>(rows.size());
                    const Tensor parents = make_from_host(*model.backend, {size}, DType::I32, back);
                    cache = cache.reorder(ctx.backend, parents, parents);
                }
            }
            const bool ring = model.config.mixer.decoder == MixerKind::Restricted;
            CHECK((cache.kept.empty() || cache.capacity == (ring ? 8 : 16)));
            CHECK(cache.length == 13);
        }
    }
}

TEST_CASE("reordering without sources keeps the keys and values of the sources in place") {
    SmallModel model(small_config(), "cpu:oracle", false);
    const DeviceBatch batch = model.batch(random_pairs(model.config, 2, 3));
    Context ctx{*model.backend};
    const Tensor memory = model.transformer().encode(ctx, batch.source).value();
    const Cache cache = model.transformer().start_cache(ctx, memory, batch.source.lengths, 8);
    const Tensor same = make_from_host(*model.backend, {2}, DType::I32, std::vector<std::int32_t>{0, 1});
    const Cache kept = cache.reorder(ctx.backend, same, Tensor());
    CHECK(kept.layers[0].cross_keys.buffer == cache.layers[0].cross_keys.buffer);
    CHECK(kept.layers[0].cross_values.buffer == cache.layers[0].cross_values.buffer);
    CHECK(kept.kept.front().buffer != cache.kept.front().buffer);
    CHECK(kept.position.buffer != cache.position.buffer);
    const Cache moved = cache.reorder(ctx.backend, same, same);
    CHECK(moved.layers[0].cross_keys.buffer != cache.layers[0].cross_keys.buffer);
    CHECK(moved.layers[0].cross_values.buffer != cache.layers[0].cross_values.buffer);
    // One row cannot read two sources.
    const Tensor one = make_from_host(*model.backend, {1}, DType::I32, std::vector<std::int32_t>{0});
    CHECK_THROWS_AS(cache.reorder(ctx.backend, one, Tensor()), CheckFailure);
}

TEST_CASE("rows that share a source read the same copy of it") {
    SmallModel model(small_config(), "cpu:oracle", false);
    const DeviceBatch batch = model.batch(random_pairs(model.config, 2, 3));
    Context ctx{*model.backend};
    const auto indices = [&](const std::vector<std::int32_t>& rows) {
        return make_from_host(*model.backend, {static_cast<std::int64_t>(rows.size())}, DType::I32, rows);
    };
    const Tensor memory = model.transformer().encode(ctx, batch.source).value();
    const Cache start = model.transformer().start_cache(ctx, memory, batch.source.lengths, 8);
    const Tensor twice = indices({0, 0, 1, 1});
    Cache shared = start.reorder(ctx.backend, twice, Tensor());
    Cache apart = start.reorder(ctx.backend, twice, twice);
    CHECK(shared.layers[0].cross_keys.dim(0) == 2);
    CHECK(apart.layers[0].cross_keys.dim(0) == 4);
    const Tensor ids = make_from_host(*model.backend, {4, 1}, DType::I32, std::vector<std::int32_t>{5, 6, 7, 8});
    CHECK(model.host(model.transformer().step(ctx, shared, ids)) ==
          model.host(model.transformer().step(ctx, apart, ids)));

    // The first sentence is finished.
    shared = shared.reorder(ctx.backend, indices({3, 2}), indices({1}));
    apart = apart.reorder(ctx.backend, indices({3, 2}), indices({3, 2}));
    CHECK(shared.layers[0].cross_values.dim(0) == 1);
    const Tensor next = make_from_host(*model.backend, {2, 1}, DType::I32, std::vector<std::int32_t>{9, 10});
    CHECK(model.host(model.transformer().step(ctx, shared, next)) ==
          model.host(model.transformer().step(ctx, apart, next)));

    Recorder recorder;
    Context observed{.backend = *model.backend, .observer = &recorder};
    CHECK_THROWS_AS(model.transformer().step(observed, shared, next), CheckFailure);
}

TEST_CASE("a step of a reordered cache leaves the old cache unchanged") {
    SmallModel model(small_config(), "cpu:oracle", false);
    const DeviceBatch batch = model.batch(random_pairs(model.config, 2, 3));
    Context ctx{*model.backend};
    const Tensor memory = model.transformer().encode(ctx, batch.source).value();
    Cache cache = model.transformer().start_cache(ctx, memory, batch.source.lengths, 8);
    const Tensor ids = make_from_host(*model.backend, {2, 1}, DType::I32, std::vector<std::int32_t>{1, 1});
    const Tensor next = make_from_host(*model.backend, {2, 1}, DType::I32, std::vector<std::int32_t>{5, 6});
    model.transformer().step(ctx, cache, ids);
    const Tensor same = make_from_host(*model.backend, {2}, DType::I32, std::vector<std::int32_t>{0, 1});
    Cache other = cache.reorder(ctx.backend, same, same);
    const std::vector<double> expected = model.host(model.transformer().step(ctx, other, next));
    model.transformer().step(ctx, other, ids);
    CHECK(model.host(model.transformer().step(ctx, cache, next)) == expected);
}

namespace {

// Counts the elements that gathers write and the writes to caches, and fills all memory it allocates with NaN.
class GatherWatcher final : public CpuReference<double> {
public:
    GatherWatcher() : CpuReference<double>(DeviceInfo{}) {}

    Tensor empty(const Shape& shape, DType dtype) override {
        const Tensor tensor = HostBackend::empty(shape, dtype);
        if (dtype == DType::F64) {
            CpuReference<double>::run(Fill{.out = tensor, .value = std::numeric_limits<float>::quiet_NaN()});
        }
        return tensor;
    }
    using CpuReference<double>::run;
    void run(const GatherRows& op) override {
        gathered += op.out.elements();
        CpuReference<double>::run(op);
    }
    void run(const CacheAppend& op) override {
        ++appended;
        CpuReference<double>::run(op);
    }

    std::int64_t gathered = 0;
    int appended = 0;
};

}  // namespace

TEST_CASE("reordering copies only cached tokens, never uninitialised memory") {
    ModelConfig config = small_config();
    config.decoder_layers = 2;
    config.attention.d_v = GENERATE(4, 3);
    INFO("values of width " << config.attention.d_v);
    const bool together = config.attention.d_k == config.attention.d_v;
    GatherWatcher backend;
    Parameters parameters(backend, config, false);
    parameters.initialise(3);
    const EncoderDecoder model(config, parameters);
    const DeviceBatch batch =
        upload(backend, make_batch(std::span<const Example>(random_pairs(config, 2, 3)), frame_of(config), 0));
    Context ctx{backend};
    const Tensor memory = model.encode(ctx, batch.source).value();
    Cache still = model.start_cache(ctx, memory, batch.source.lengths, 64);
    Cache moved = model.start_cache(ctx, memory, batch.source.lengths, 64);
    const Tensor ids = make_from_host(backend, {2, 1}, DType::I32, std::vector<std::int32_t>{5, 6});
    const Tensor same = make_from_host(backend, {2}, DType::I32, std::vector<std::int32_t>{0, 1});
    for (std::int64_t length = 0; length < 18; ++length) {
        INFO("length " << length);
        backend.gathered = 0;
        moved = moved.reorder(ctx.backend, same, Tensor());
        const std::int64_t a_token =
            2 * config.decoder_layers * config.attention.heads * (config.attention.d_k + config.attention.d_v);
        CHECK(backend.gathered == padded_length(length) * a_token);
        backend.appended = 0;
        const std::vector<double> expected = to_host<double>(backend, model.step(ctx, still, ids));
        CHECK(backend.appended == config.decoder_layers * (together ? 1 : 2));
        REQUIRE(std::isfinite(expected[0]));
        CHECK(to_host<double>(backend, model.step(ctx, moved, ids)) == expected);
    }
}

TEST_CASE("attention observed while decoding equals that of the teacher-forced pass") {
    SmallModel model(small_config(), "cpu:oracle", false);
    const DeviceBatch batch = model.batch(random_pairs(model.config, 3, 3));
    Recorder forced;
    CHECK(logits_of(model, batch, &forced) == logits_of(model, batch, &forced));
    REQUIRE(forced.seen.size() == 2 * (2 + 2));
    forced.seen.resize(4);
    CHECK(forced.seen[0].site == AttentionSite{AttentionKind::EncoderSelf, 0});
    CHECK(forced.seen[1].site == AttentionSite{AttentionKind::EncoderSelf, 1});
    CHECK(forced.seen[2].site == AttentionSite{AttentionKind::DecoderSelf, 0});
    CHECK(forced.seen[3].site == AttentionSite{AttentionKind::Cross, 0});

    Recorder stepwise;
    Context ctx{*model.backend};
    const Tensor memory = model.transformer().encode(ctx, batch.source).value();
    Cache cache = model.transformer().start_cache(ctx, memory, batch.source.lengths, 8);
    ctx.observer = &stepwise;
    const std::vector<std::int32_t> inputs = to_host<std::int32_t>(*model.backend, batch.target.ids);
    const std::int64_t length = batch.target.length();
    for (std::int64_t position = 0; position < 4; ++position) {
        std::vector<std::int32_t> newest;
        for (std::int64_t row = 0; row < 3; ++row) {
            newest.push_back(inputs[static_cast<std::size_t>(row * length + position)]);
        }
        model.transformer().step(ctx, cache, make_from_host(*model.backend, {3, 1}, DType::I32, newest));
        for (std::size_t kind = 0; kind < 2; ++kind) {  // self, cross
            const Recorder::Seen& step = stepwise.seen[static_cast<std::size_t>(position) * 2 + kind];
            const Recorder::Seen& whole = forced.seen[2 + kind];
            CHECK(step.site == whole.site);
            const std::int64_t keys = kind == 0 ? position + 1 : batch.source.length();
            REQUIRE(step.shape == Shape{3, 2, 1, keys});
            for (std::int64_t row = 0; row < 3 * 2; ++row) {
                for (std::int64_t key = 0; key < keys; ++key) {
                    const std::int64_t there = (row * length + position) * whole.shape[3] + key;
                    REQUIRE(step.weights[static_cast<std::size_t>(row * keys + key)] ==
                            Approx(whole.weights[static_cast<std::size_t>(there)]).margin(1e-12));
                }
            }
        }
    }
}

TEST_CASE("weights are positive exactly where the mask permits") {
    SmallModel model(small_config(), "cpu:oracle", false);
    const DeviceBatch batch = model.batch(random_pairs(model.config, 3, 3));
    const std::vector<std::int32_t> lengths = to_host<std::int32_t>(*model.backend, batch.source.lengths);
    Recorder recorder;
    logits_of(model, batch, &recorder);
    for (const Recorder::Seen& seen : recorder.seen) {
        std::size_t next = 0;
        for (std::int64_t sentence = 0; sentence < seen.shape[0]; ++sentence) {
            for (std::int64_t row = 0; row < seen.shape[1] * seen.shape[2]; ++row) {
                const std::int64_t allowed = seen.site.kind == AttentionKind::DecoderSelf
                                                 ? row % seen.shape[2] + 1
                                                 : lengths[static_cast<std::size_t>(sentence)];
                for (std::int64_t key = 0; key < seen.shape[3]; ++key) {
                    REQUIRE((seen.weights[next++] > 0.0) == (key < allowed));
                }
            }
        }
    }
}

TEST_CASE("an error about too few learned positions says what to do") {
    ModelConfig config = small_config();
    config.positions.kind = Positions::Learned;
    config.max_length = 8;
    SmallModel model(config, "cpu:oracle", false);
    Random random(1);
    const DeviceBatch batch = model.batch({{random_pieces(random, 12, 11), {4}}});
    Context ctx{*model.backend};
    CHECK_THROWS_WITH(model.transformer().encode(ctx, batch.source),
                      Catch::Matchers::Contains("encoder") && Catch::Matchers::Contains("8 learned positions") &&
                          Catch::Matchers::Contains("has 16") && Catch::Matchers::Contains("max_length"));
}

TEST_CASE("a model rejects parameters of another configuration") {
    SmallModel model(small_config(), "cpu:oracle", false);
    ModelConfig wider = model.config;
    wider.feed_forward.d_ff = 13;
    CHECK_THROWS_AS(EncoderDecoder(wider, model.parameters), CheckFailure);
    ModelConfig deeper = model.config;
    deeper.encoder_layers = 3;
    CHECK_THROWS_AS(EncoderDecoder(deeper, model.parameters), CheckFailure);
}

TEST_CASE("labels name the part that runs") {
    SmallModel model(small_config(), "cpu:oracle", false);
    const DeviceBatch batch = model.batch(random_pairs(model.config, 2, 3));
    std::vector<std::string> labels;
    Context ctx{*model.backend};
    ctx.label = [&](const std::string& label) { labels.push_back(label); };
    model.model->loss(ctx, batch, {});
    CHECK(labels == std::vector<std::string>{"encoder.embedding", "encoder.0.self_attention", "encoder.0.feed_forward",
                                             "encoder.1.self_attention", "encoder.1.feed_forward", "decoder.embedding",
                                             "decoder.0.self_attention", "decoder.0.cross_attention",
                                             "decoder.0.feed_forward", "projection"});

    SmallModel trained(small_config(), "cpu:oracle");
    Tape tape;
    Context training{*trained.backend, &tape};
    labels.clear();
    training.label = ctx.label;
    trained.model->loss(training, trained.batch(random_pairs(trained.config, 2, 3)), {});
    REQUIRE(labels.size() > 20);
    CHECK(labels[9] == "projection");
    CHECK(labels[10] == "backward.projection.loss");
    CHECK(labels[11] == "backward.decoder.0.feed_forward.add_layer_norm");
    CHECK(labels.back() == "backward.encoder.embedding.embed");
    CHECK_FALSE(tape.on_backward);
}

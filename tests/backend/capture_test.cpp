// What a sequence of ops is known by, and that nothing of an op can be left out of it or of its declared operands.
#include "backend/capture.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "backend/forwarding_backend.h"
#include "backend/instrumented.h"
#include "recording_backend.h"
#include "support/check.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

class InBlock final : public Buffer {
public:
    explicit InBlock(std::uint64_t block) : block_(block) {}
    std::size_t bytes() const override { return 4096; }
    Address address() const override { return {block_, 0}; }

private:
    std::uint64_t block_;
};

Tensor tensor_in(std::uint64_t block) {
    return make_tensor(std::make_shared<InBlock>(block), {1, 2, 3, 4}, DType::F32);
}

template <class Op>
Capture::Key key_of(const Op& op) {
    Capture capture;
    capture.add(op);
    return capture.key();
}

// Calls visit(field) for all tensors and scalars of an op, also those of a mask or a dropout rule.
template <class Aggregate, class Visit>
void each_field(Aggregate& value, const Visit& visit) {
    for_each_field(value, [&](const auto& found) {
        using Field = std::remove_cvref_t<decltype(found)>;
        auto& field = const_cast<Field&>(found);
        if constexpr (std::is_class_v<Field> && !std::is_same_v<Field, Tensor>) {
            each_field(field, visit);
        } else {
            visit(field);
        }
    });
}

// An op all of whose tensors are defined, and with dropout if it can have any.
template <class Op>
Op whole() {
    Op op{};
    std::uint64_t block = 1;
    each_field(op, [&](auto& field) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, Tensor>) {
            field = tensor_in(block++);
        }
    });
    if constexpr (requires { op.dropout; }) {
        op.dropout.rate = 0.5F;
    }
    if constexpr (requires { op.rule; }) {
        op.rule.rate = 0.5F;
    }
    return op;
}

template <class Op>
std::ptrdiff_t accumulated(const Op& op) {
    const Declarations operands = operands_of(op);
    return std::count_if(operands.begin(), operands.end(), [](const Declared& one) { return one.accumulates; });
}

template <class Op>
void check_every_field() {
    INFO(Op::kName);
    Op op = whole<Op>();
    const Capture::Key key = key_of(op);
    CHECK(key_of(Op(op)) == key);
    std::size_t tensors = 0;
    each_field(op, [&](auto& field) {
        using Field = std::remove_cvref_t<decltype(field)>;
        const Field before = field;
        if constexpr (std::is_same_v<Field, Tensor>) {
            ++tensors;
            const Declarations operands = operands_of(op);
            CHECK(std::any_of(operands.begin(), operands.end(),
                              [&](const Declared& operand) { return operand.tensor == &field; }));
            field = tensor_in(100);
        } else if constexpr (std::is_same_v<Field, bool>) {
            field = !field;
        } else if constexpr (std::is_enum_v<Field>) {
            field = static_cast<Field>(static_cast<int>(field) + 1);
        } else {
            field = 2 * field + 1;
        }
        CHECK(key_of(op) != key);
        if constexpr (std::is_same_v<Field, Write>) {
            CHECK(accumulated(op) == 1);  // each Write belongs to one operand
        }
        field = before;
    });
    const Declarations operands = operands_of(op);
    CHECK(static_cast<std::size_t>(operands.end() - operands.begin()) == tensors);
}

}  // namespace

TEST_CASE("an op declares all of its tensors and of what it adds to, and each of its fields is part of the key",
          "[capture]") {
#define HEADSCOPE_CHECK_OP(Op) check_every_field<Op>();
    HEADSCOPE_ALL_OPS(HEADSCOPE_CHECK_OP)
#undef HEADSCOPE_CHECK_OP
}

namespace {

template <class Op>
concept Listed = requires {
    id_of<Op>();
};
static_assert(Listed<Fill> && !Listed<AttentionMask>);

// "cache_append: cache partial"
template <class Op>
std::string written_by() {
    const Op op = whole<Op>();
    std::string text = std::string(Op::kName) + ":";
    for (const Declared& one : operands_of(op)) {
        if (one.written()) {
            constexpr std::array kHow{"in", "out", "gradient", "in_out"};
            text += std::string(" ") + one.name + " " + kHow[static_cast<std::size_t>(one.access)] +
                    (one.is_partial ? " partial" : "") + ",";
        }
    }
    text.back() = '\n';
    return text;
}

}  // namespace

TEST_CASE("what each op writes, and whether it may leave elements unchanged", "[capture]") {
    std::string found;
#define HEADSCOPE_ADD(Op) found += written_by<Op>();
    HEADSCOPE_ALL_OPS(HEADSCOPE_ADD)
#undef HEADSCOPE_ADD
    CHECK(found == R"(fill: out out
copy: out gradient
add_scaled: out out
multiply: out gradient
dropout: y gradient
matmul: out gradient
bias_activation: y out
bias_activation_backward: grad_x gradient, sums gradient
sum_rows: out gradient
add_layer_norm: sum out, y out, mean out, rstd out
add_layer_norm_backward: grad_x gradient, grad_residual gradient, grad_gain gradient, grad_bias gradient, grad_x_sums gradient
batch_norm: running_mean in_out, running_variance in_out, y out, mean out, rstd out
batch_norm_backward: grad_x gradient, grad_gain gradient, grad_bias gradient
masked_softmax: weights out
masked_softmax_backward: grad_scores gradient
sum_diagonals: sums out
edit_attention: out out
additive_scores: scores out
additive_scores_backward: grad_x gradient, products out
cache_append: cache out partial
mask_keys: out out
embed: out out
embed_backward: grad_table gradient
block_linear: y out
block_embed: out out
rotate: out out
unfold: out out
sum_taps: out gradient
route_tokens: probabilities out, chosen out, slots out, sources out, weights out, keys out, shares out, sums out
route_tokens_backward: grad_logits gradient
take_tokens: out out, dots out
mix_experts: out gradient
smoothed_cross_entropy: loss out, nll out, grad_logits out
recurrent_step: next_hidden out, next_state out, y out, gates out
recurrent_step_backward: grad_x out, grad_hidden out, grad_state out, grad_h out
square_sum: out gradient
step_control: scalars in_out
adam: parameter in_out, m in_out, v in_out, working in_out
log_softmax_top_k: values out, indices out
gather_rows: out out
attention: out out, log_sums out partial
attention_backward: grad_q gradient, grad_k gradient, grad_v gradient
linear: y out
)");
}

TEST_CASE("an operand is known by its place, dtype and layout", "[capture]") {
    const Tensor x = make_tensor(std::make_shared<InBlock>(1), {6, 4}, DType::F32);
    std::set<Capture::Key> keys;
    for (const Tensor& other : {x, x.narrow(0, 1, 5), x.narrow(1, 0, 2), x.narrow(0, 0, 5), x.reshape({4, 6}),
                                x.reshape({24}), make_tensor(x.buffer, {6, 4}, DType::I32), tensor_in(2),
                                make_tensor(x.buffer, {6, 4}, DType::F32, 4), Tensor()}) {
        keys.insert(key_of(Fill{.out = other}));
    }
    CHECK(keys.size() == 10);
    CHECK(keys.contains(key_of(Fill{.out = make_tensor(std::make_shared<InBlock>(1), {6, 4}, DType::F32)})));
}

namespace {

// Replays by key alone, as devices do.
class Replaying final : public ForwardingBackend {
public:
    using ForwardingBackend::ForwardingBackend;
    bool replays() const override { return able; }
    void replay(const std::string& key, const std::function<void()>& body) override {
        if (kept_.insert(key).second) {
            body();
        } else {
            ++launched;
        }
    }
    void forget() { kept_.clear(); }
    bool able = true;
    int launched = 0;

private:
    std::set<std::string> kept_;
};

struct ReplayFixture {
    std::vector<std::string> ran;
    Replaying* device = nullptr;
    std::unique_ptr<Instrumented> backend;

    // Where nothing is replayed, it is checked on request.
    explicit ReplayFixture(bool replays = true, bool checks = false) {
        auto replaying = std::make_unique<Replaying>(std::make_unique<RecordingBackend>(ran));
        device = replaying.get();
        device->able = replays;
        backend = std::make_unique<Instrumented>(std::move(replaying),
                                                 InstrumentOptions{.check_replays = checks || !replays});
    }
    void replay(const std::function<void()>& body) { backend->replay("a sequence", body); }
};

}  // namespace

TEST_CASE("a sequence is launched again only with the same scalars and memory", "[capture]") {
    ReplayFixture fixture;
    Backend& backend = *fixture.backend;
    const Tensor x = backend.empty({4}, DType::F32);
    const Tensor y = backend.empty({4}, DType::F32);
    const auto run = [&](const Tensor& from, float alpha) {
        fixture.replay([&] {
            const Tensor scratch = backend.empty({4}, DType::F32);
            backend.run(AddScaled{.a = from, .out = scratch, .alpha = alpha});
            backend.run(Copy{.x = scratch, .out = y});
        });
        return fixture.device->launched;
    };
    CHECK(run(x, 1.0F) == 0);
    CHECK(run(x, 1.0F) == 1);
    CHECK(run(x, 2.0F) == 1);
    CHECK(run(backend.empty({4}, DType::F32), 1.0F) == 1);
    CHECK(run(x, 2.0F) == 2);
    CHECK(fixture.ran == std::vector<std::string>{"add_scaled", "copy", "add_scaled", "copy", "add_scaled", "copy"});
}

TEST_CASE("a sequence within another is part of it", "[capture]") {
    ReplayFixture fixture;
    Backend& backend = *fixture.backend;
    const Tensor x = backend.empty({4}, DType::F32);
    const auto run = [&](float inner) {
        fixture.replay([&] {
            backend.run(Fill{.out = x});
            fixture.replay([&] { backend.run(Fill{.out = x, .value = inner}); });
            backend.run(AddScaled{.a = x, .out = x});
        });
        return fixture.device->launched;
    };
    CHECK(run(1.0F) == 0);
    CHECK(fixture.ran == std::vector<std::string>{"fill", "fill", "add_scaled"});
    CHECK(run(1.0F) == 1);
    CHECK(run(2.0F) == 1);
    CHECK(fixture.ran.size() == 6);
}

TEST_CASE("a sequence only enqueues ops, and keeps nothing that it allocates", "[capture]") {
    ReplayFixture fixture;
    Backend& backend = *fixture.backend;
    const Tensor x = backend.empty({4}, DType::F32);
    const auto refused = [&](const std::function<void()>& body, const char* why) {
        CHECK_THROWS_WITH(fixture.replay(body), Contains(why));
        CHECK_NOTHROW(backend.synchronize());  // nothing is captured any more
    };
    refused([&] { backend.synchronize(); }, "it waited for the device");
    refused([&] { to_host<float>(backend, x); }, "it downloaded data");
    refused([&] { from_host(backend, x, std::vector<float>(4)); }, "it uploaded data");
    refused([&] { backend.record_event(); }, "it recorded an event");
    Tensor kept;
    refused([&] { kept = backend.empty({4}, DType::F32); }, "must not outlive it");
    CHECK(fixture.ran.empty());
}

TEST_CASE("a sequence that is not the same twice in a row is an error", "[capture]") {
    const bool replays = GENERATE(true, false);
    ReplayFixture fixture(replays);
    Backend& backend = *fixture.backend;
    const Tensor x = backend.empty({4}, DType::F32);
    const Tensor y = backend.empty({4}, DType::F32);
    int calls = 0;
    const auto changing = [&](const Tensor& first, const Tensor& second, float step) {
        return [&, first, second, step] {
            ++calls;
            backend.run(Fill{.out = x});
            backend.run(Fill{.out = calls % 2 == 0 ? first : second, .value = step * static_cast<float>(calls)});
        };
    };
    CHECK_THROWS_WITH(fixture.replay(changing(x, x, 1.0F)), Contains("op 2 (fill) differs"));
    CHECK_THROWS_WITH(fixture.replay(changing(x, y, 0.0F)), Contains("op 2 (fill)"));
    CHECK_THROWS_WITH(fixture.replay([&] {
        if (++calls % 2 == 0) {
            backend.run(Fill{.out = x});
        }
    }),
                      Contains("op 1 (fill)"));
    CHECK_NOTHROW(fixture.replay(changing(x, x, 0.0F)));
}

namespace {

// A sequence of two ops, of which x is stated as a dependency and `factor` only on request.
struct RepeatedFixture : ReplayFixture {
    using ReplayFixture::ReplayFixture;

    // Returns how often the body was called.
    int run(const Tensor& from, float factor, bool states_factor = true, const char* name = "a step") {
        calls = 0;
        Dependencies dependencies;
        dependencies.add(from);
        dependencies.add(y);
        if (states_factor) {
            dependencies.add(static_cast<std::int64_t>(factor));
        }
        backend->replay_again(name, sequence, dependencies, [&] {
            ++calls;
            const Tensor scratch = backend->empty({4}, DType::F32);
            backend->run(AddScaled{.a = from, .out = scratch, .alpha = factor});
            backend->run(Copy{.x = scratch, .out = y});
        });
        return calls;
    }

    RepeatedSequence sequence;
    Tensor x = backend->empty({4}, DType::F32);
    Tensor y = backend->empty({4}, DType::F32);
    int calls = 0;
};

}  // namespace

TEST_CASE("a sequence with the same dependencies is launched without a call of its body", "[capture]") {
    RepeatedFixture fixture;
    CHECK(fixture.run(fixture.x, 1.0F) == 3);  // captured, checked and run
    CHECK(fixture.run(fixture.x, 1.0F) == 0);
    CHECK(fixture.run(fixture.x, 1.0F) == 0);
    CHECK(fixture.device->launched == 2);
    // Any other dependency or name is another sequence.
    CHECK(fixture.run(fixture.x, 2.0F) == 3);
    CHECK(fixture.run(fixture.backend->empty({4}, DType::F32), 2.0F) == 3);
    CHECK(fixture.run(fixture.x, 1.0F, true, "another step") == 3);
    CHECK(fixture.run(fixture.x, 1.0F, true, "another step") == 0);
    CHECK(fixture.device->launched == 3);
    // What it did before is recorded, but must be recognised.
    CHECK(fixture.run(fixture.x, 1.0F) == 1);
    CHECK(fixture.device->launched == 4);
}

TEST_CASE("a dependency that is not stated is an error where replays are checked", "[capture]") {
    const bool replays = GENERATE(true, false);
    RepeatedFixture fixture(replays, true);
    CHECK(fixture.run(fixture.x, 1.0F, false) == 3);
    CHECK_NOTHROW(fixture.run(fixture.x, 1.0F, false));
    CHECK_THROWS_WITH(fixture.run(fixture.x, 2.0F, false),
                      Contains("op 1 (add_scaled) differs") && Contains("a dependency is missing"));
    CHECK_NOTHROW(fixture.run(fixture.x, 2.0F, true));
}

TEST_CASE("a stale sequence that is to run is an error, checked or not", "[capture]") {
    RepeatedFixture fixture;
    fixture.run(fixture.x, 1.0F, false);
    fixture.device->forget();  // as if its recording was dropped
    CHECK_THROWS_WITH(fixture.run(fixture.x, 2.0F, false), Contains("op 1 (add_scaled) differs"));
}

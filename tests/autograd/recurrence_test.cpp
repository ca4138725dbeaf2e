// Whole recurrences: their gradients, padding and directions.
#include <catch2/catch.hpp>

#include "autograd/recurrence.h"
#include "backend/ops/elementwise.h"
#include "gradient_check.h"

using namespace headscope;

namespace {

constexpr std::int64_t kBatch = 3;
constexpr std::int64_t kLength = 4;
constexpr std::int64_t kIn = 5;
constexpr std::int64_t kWidth = 2;

struct Layer {
    RecurrentCell cell = RecurrentCell::Lstm;
    int directions = 1;
    bool padded = true;
    bool starts = true;  // from a given state

    bool gru() const { return cell == RecurrentCell::Gru; }
    std::int64_t both() const { return directions * kWidth; }
    std::int64_t gates() const { return gates_of(cell) * kWidth; }
    // x, the inputs' weights, the initial state, then for each direction its weight and perhaps its bias
    std::vector<Shape> shapes() const {
        std::vector<Shape> all{{kBatch, kLength, kIn}, {directions * gates(), kIn}, {kBatch, both()}, {kBatch, both()}};
        for (int i = 0; i < directions; ++i) {
            all.push_back({gates(), kWidth});
            if (gru()) {
                all.push_back({gates()});
            }
        }
        return all;
    }
};

Tensor some_lengths(Backend& backend) {
    return make_from_host(backend, {kBatch}, DType::I32, std::vector<std::int32_t>{4, 2, 1});
}

Recurrence run(Context& ctx, const Layer& layer, const std::vector<Var>& in) {
    std::vector<RecurrentWeights> weights;
    for (std::size_t i = 4; i < in.size(); i += layer.gru() ? 2 : 1) {
        weights.push_back({in[i], layer.gru() ? in[i + 1] : Var()});
    }
    const RecurrentState initial{in[2], layer.gru() ? Var() : in[3]};
    return recurrence(ctx, layer.cell, linear(ctx, in[0], in[1]), weights, layer.starts ? initial : RecurrentState{},
                      {.key_lengths = layer.padded ? some_lengths(ctx.backend) : Tensor()});
}

std::vector<Layer> layers() {
    std::vector<Layer> all;
    for (const RecurrentCell cell : {RecurrentCell::Lstm, RecurrentCell::Gru}) {
        for (const int directions : {1, 2}) {
            for (const bool padded : {false, true}) {
                all.push_back({cell, directions, padded, directions == 1});
            }
        }
    }
    return all;
}

std::vector<Var> some_inputs(Backend& backend, const Layer& layer, DType dtype) {
    std::vector<Var> all;
    for (const Shape& shape : layer.shapes()) {
        all.emplace_back(make_from_host(backend, shape, dtype, noise(shape.elements(), 7 + all.size())));
    }
    return all;
}

std::string title(const Layer& layer) {
    return std::string(layer.gru() ? "GRU" : "LSTM") + ", directions " + std::to_string(layer.directions) +
           (layer.padded ? ", padded" : "");
}

}  // namespace

TEST_CASE("gradients through a recurrence agree with central differences, whichever output is used") {
    GradientCheck check;
    for (const Layer& layer : layers()) {
        INFO(title(layer));
        for (const bool twice : {false, true}) {
            // What an output does not depend on has no gradient: the sum of all three is one output.
            const auto all = [&](Context& ctx, const std::vector<Var>& in) {
                const Recurrence result = run(ctx, layer, in);
                const Var y = result.y.reshape({kBatch, kLength * layer.both()});
                const Var ends =
                    layer.gru() ? result.last.hidden : multiply(ctx, result.last.hidden, result.last.cells);
                return matmul(ctx, y, ends, {.transpose_a = true});
            };
            std::vector<Shape> shapes = layer.shapes();
            if (layer.gru() || !layer.starts) {
                const auto some = [&](Context& ctx, const std::vector<Var>& in) {
                    std::vector<Var> given = in;
                    if (!layer.starts) {
                        given.insert(given.begin() + 2, {Var(), Var()});
                    } else {
                        given.insert(given.begin() + 3, Var());
                    }
                    return all(ctx, given);
                };
                shapes.erase(shapes.begin() + (layer.starts ? 3 : 2), shapes.begin() + 4);
                CHECK(check.worst(shapes, some, twice) < 1e-8);
            } else {
                CHECK(check.worst(shapes, all, twice) < 1e-8);
            }
        }
    }
}

TEST_CASE("gradients of a recurrence of which only the outputs, or only the last state, are used") {
    GradientCheck check;
    for (const Layer& layer : layers()) {
        INFO(title(layer));
        for (const bool last : {false, true}) {
            const auto one = [&](Context& ctx, const std::vector<Var>& in) {
                std::vector<Var> given = in;
                given.insert(given.begin() + 2, {Var(), Var()});
                Layer from_zero = layer;
                from_zero.starts = false;
                const Recurrence result = run(ctx, from_zero, given);
                return last ? result.last.hidden : result.y;
            };
            std::vector<Shape> shapes = layer.shapes();
            shapes.erase(shapes.begin() + 2, shapes.begin() + 4);
            CHECK(check.worst(shapes, one) < 1e-8);
        }
    }
}

TEST_CASE("a text's padding changes nothing, and the second direction begins at its own last token") {
    const auto backend = open_device("cpu:oracle");
    for (const Layer& layer : layers()) {
        if (!layer.padded) {
            continue;
        }
        INFO(title(layer));
        Context ctx{*backend};
        const Recurrence together = run(ctx, layer, some_inputs(*backend, layer, DType::F64));
        const std::vector<double> y = to_host<double>(*backend, together.y.value());
        const std::vector<double> last = to_host<double>(*backend, together.last.hidden.value());
        const std::vector<std::int64_t> lengths{4, 2, 1};
        for (std::int64_t row = 0; row < kBatch; ++row) {
            std::vector<Var> in = some_inputs(*backend, layer, DType::F64);
            const std::int64_t length = lengths[static_cast<std::size_t>(row)];
            const auto copied = [&](const Tensor& part) {
                const Tensor copy = backend->empty(part.shape, part.dtype);
                backend->run(Copy{.x = part, .out = copy});
                return Var(copy);
            };
            in[0] = copied(in[0].value().narrow(0, row, 1).narrow(1, 0, length));
            in[2] = copied(in[2].value().narrow(0, row, 1));
            in[3] = copied(in[3].value().narrow(0, row, 1));
            Layer alone = layer;
            alone.padded = false;
            const Recurrence single = run(ctx, alone, in);
            std::vector<double> expected = to_host<double>(*backend, single.y.value());
            expected.resize(static_cast<std::size_t>(kLength * layer.both()), 0.0);
            const auto first = y.begin() + row * kLength * layer.both();
            CHECK(std::vector<double>(first, first + kLength * layer.both()) == expected);
            const auto state = last.begin() + row * layer.both();
            CHECK(std::vector<double>(state, state + layer.both()) ==
                  to_host<double>(*backend, single.last.hidden.value()));
        }
    }
}

TEST_CASE("with a tape a recurrence gives the same bits as without") {
    const auto backend = open_device("cpu");
    for (const Layer& layer : layers()) {
        INFO(title(layer));
        Tape tape;
        Context training{*backend, &tape};
        Context inference{*backend};
        const Recurrence kept = run(training, layer, some_inputs(*backend, layer, DType::F32));
        const Recurrence spent = run(inference, layer, some_inputs(*backend, layer, DType::F32));
        for (const auto& [one, other] : {std::pair{kept.y, spent.y}, {kept.last.hidden, spent.last.hidden}}) {
            CHECK(to_host<float>(*backend, one.value()) == to_host<float>(*backend, other.value()));
        }
    }
}

TEST_CASE("states next to each other pass their gradients on") {
    GradientCheck check;
    const auto joined = [](Context& ctx, const std::vector<Var>& in) {
        const Var all = join(ctx, in).reshape({2, 2, 3});
        return multiply(ctx, all, all);
    };
    CHECK(check.worst({{2, 2}, {2, 3}, {2, 1}}, joined) < 1e-8);
    CHECK(check.worst({{2, 2}, {2, 3}, {2, 1}}, joined, true) < 1e-8);
}

TEST_CASE("a recurrence goes on from the state that it left") {
    const auto backend = open_device("cpu:oracle");
    for (const RecurrentCell cell : {RecurrentCell::Lstm, RecurrentCell::Gru}) {
        Context ctx{*backend};
        const Layer layer{cell, 1, false, true};
        const std::vector<Var> in = some_inputs(*backend, layer, DType::F64);
        const RecurrentWeights weights{in[4], layer.gru() ? in[5] : Var()};
        const Recurrence whole = run(ctx, layer, in);
        const Var inputs = linear(ctx, in[0], in[1]);
        for (const auto& [first, count] : {std::pair{0, 1}, {1, 2}, {3, 1}}) {
            const Tensor part = backend->empty({kBatch, count, layer.gates()}, DType::F64);
            backend->run(Copy{.x = inputs.value().narrow(1, first, count), .out = part});
            const Var y = continue_recurrence(ctx, cell, Var(part), weights, in[2].value(),
                                              layer.gru() ? Tensor() : in[3].value());
            const Tensor expected = backend->empty(y.shape(), DType::F64);
            backend->run(Copy{.x = whole.y.value().narrow(1, first, count), .out = expected});
            CHECK(to_host<double>(*backend, y.value()) == to_host<double>(*backend, expected));
        }
    }
}

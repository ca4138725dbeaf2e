// Fill, Copy, AddScaled, Dropout.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "backend/ops/elementwise.h"
#include "conformance/cases/catalogue.h"

namespace headscope::conformance::elementwise_cases {

namespace {

const std::vector<Shape>& shapes() {
    static const std::vector<Shape> kShapes{{1},          {257},         {3, 33}, {33, 1},   {2, 3, 5}, {3, 1, 33},
                                            {2, 3, 5, 7}, {1, 3, 33, 4}, {3, 64}, {2, 0, 3}, {0}};
    return kShapes;
}

Case fill(const Shape& shape, DType dtype, float value) {
    Operand target = Operand("out", shape).exact();
    return make_case(fmt::format("{} {} {}", shape.to_string(), name_of(dtype), value),
                     {dtype == DType::F32 ? target : target.typed(dtype)},
                     [=](const Operands& t) { return Fill{.out = t["out"], .value = value}; });
}

// Columns of longer rows, like the rows of a cache, which still allow vec4 loads.
Case fill_columns(std::int64_t first, std::int64_t count) {
    return make_case(fmt::format("columns {} to {} of 64", first, first + count), {Operand("out", {3, 64}).exact()},
                     [=](const Operands& t) { return Fill{.out = t["out"].narrow(1, first, count), .value = 0.5F}; });
}

Case copy(const Shape& shape, DType from, DType to, Generator values = normal()) {
    return make_case(
        fmt::format("{} {} to {}", shape.to_string(), name_of(from), name_of(to)),
        {Operand("x", shape).typed(from).filled(std::move(values)), Operand("out", shape).typed(to).exact()},
        [](const Operands& t) {
            return Copy{t["x"], t["out"], t.write("out")};
        });
}

Case copy_real(const Shape& shape) {
    const Case stated =
        make_case(shape.to_string(), {{"x", shape}, Operand("out", shape).exact()}, [](const Operands& t) {
            return Copy{t["x"], t["out"], t.write("out")};
        });
    return stated;
}

Case add_scaled(const Shape& shape, float alpha, float beta) {
    const auto build = [](float a, float b) {
        return [=](const Operands& t) {
            return AddScaled{.a = t["a"], .b = t["b"], .out = t["out"], .alpha = a, .beta = b};
        };
    };
    Case stated = make_case(fmt::format("{} {} {}", shape.to_string(), alpha, beta),
                            {{"a", shape}, {"b", shape}, {"out", shape}}, build(alpha, beta));
    stated.magnitude = runs(build(std::abs(alpha), std::abs(beta)));
    return stated;
}

Case scale(const Shape& shape, float alpha, const char* from = "a", const char* to = "out") {
    return make_case(fmt::format("{} {} alone", shape.to_string(), alpha), {{from, shape}, {to, shape}},
                     [=](const Operands& t) { return AddScaled{.a = t[from], .out = t[to], .alpha = alpha}; });
}

Case multiply(const Shape& shape, const char* a = "a", const char* b = "b", const char* to = "out") {
    const auto build = [=](const Operands& t) { return Multiply{t[a], t[b], t[to], t.write(to)}; };
    Case stated = make_case(shape.to_string(), {{a, shape}, {b, shape}, {to, shape}}, build);
    stated.magnitude = runs(build);
    return stated;
}

Case dropout(const Shape& shape, float rate, const char* from = "x", const char* to = "y") {
    return make_case(fmt::format("{} {}", shape.to_string(), rate),
                     with_dropout({{from, shape}, {to, shape}}, shape[0], rate), [=](const Operands& t) {
                         return Dropout{t[from], t[to], rule(t, rate), t.write(to)};
                     });
}

// A device may flush a denormal to 0.
Case::Accept flushed(const std::string& input) {
    return [input](const std::string& /*output*/, std::size_t index, double got, const HostValues& inputs) {
        return got == 0.0 && std::abs(inputs.at(input)[index]) <= 0x1p-126;
    };
}

// Numbers that show how a conversion rounds: ties, the limits of each format, overflow, and NaN.
Values awkward() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return {0.0,         -0.0,       1.0,         1 + 0x1p-11,
            1 + 0x3p-11, 1 + 0x1p-8, 1 + 0x3p-8,  65504.0,
            65519.0,     65520.0,    -70000.0,    0x1p-14,
            0x1p-15,     0x3p-25,    0x1p-25,     0x1.8p-25,
            -0x1p-26,    3.3e38,     -3.4e38,     kInfinity,
            -kInfinity,  0x1.ffcp0,  0x1.fffp0,   0x1.feffp0,
            0x1.01p0,    0x1.03p0,   -0x1.00ffp0, std::numeric_limits<double>::quiet_NaN()};
}

std::vector<Case> fill_cases() {
    std::vector<Case> cases;
    for (const Shape& shape : shapes()) {
        cases.push_back(fill(shape, DType::F32, 1.1F));
        cases.push_back(fill(shape, DType::I32, -7.0F));
    }
    cases.push_back(fill({3, 33}, DType::F32, std::numeric_limits<float>::quiet_NaN()));
    cases.push_back(fill({3, 33}, DType::F16, 0.3F));
    cases.push_back(fill({3, 33}, DType::BF16, 0.3F));
    cases.push_back(fill({400, 1000}, DType::F32, 2.0F));
    cases.push_back(fill_columns(8, 32));
    cases.push_back(fill_columns(7, 33));
    return cases;
}

std::vector<Case> copy_cases() {
    std::vector<Case> cases;
    for (const Shape& shape : shapes()) {
        cases.push_back(copy_real(shape));
    }
    cases.push_back(copy_real({400, 1000}));
    cases.push_back(copy({400, 1000}, DType::F32, DType::BF16));
    cases.push_back(copy({400, 1000}, DType::F16, DType::F32));
    for (const DType from : {DType::F32, DType::F16, DType::BF16}) {
        for (const DType to : {DType::F32, DType::F16, DType::BF16}) {
            for (const Shape& shape : {Shape{1}, Shape{3, 33}, Shape{3, 64}, Shape{2, 3, 5, 7}, Shape{2, 3, 5, 8}}) {
                cases.push_back(copy(shape, from, to));
            }
            Case hard = copy({28}, from, to, these(awkward()));
            hard.name += " hard";
            hard.operands[1].role = Role::Out;
            cases.push_back(hard);
        }
    }
    for (Case& stated : cases) {
        for (Operand& operand : stated.operands) {
            operand.values = operand.role == Role::Gradient ? uniform(1.0, 2.0) : operand.values;
        }
    }
    return cases;
}

std::vector<Case> scaled_sums_cases() {
    std::vector<Case> cases;
    for (const Shape& shape : shapes()) {
        cases.push_back(add_scaled(shape, 1.0F, 1.0F));
        cases.push_back(add_scaled(shape, -0.3F, 2.5F));
        cases.push_back(scale(shape, -0.7F));
    }
    cases.push_back(add_scaled({400, 1000}, 1.0F, -1.0F));
    return cases;
}

std::vector<Case> products_cases() {
    std::vector<Case> cases;
    for (const Shape& shape : shapes()) {
        cases.push_back(multiply(shape));
    }
    cases.push_back(multiply({400, 1000}));
    return cases;
}

std::vector<Case> dropout_cases() {
    std::vector<Case> cases;
    for (const float rate : {0.0F, 0.1F, 0.5F, 0.95F}) {
        for (const Shape& shape : {Shape{1, 1, 1}, Shape{3, 5, 33}, Shape{2, 33, 257}, Shape{4, 1, 8}, Shape{2, 0, 3},
                                   Shape{2, 3, 5, 7}, Shape{3, 2, 33, 17}, Shape{1, 8, 1, 257}, Shape{2, 3, 4, 0}}) {
            cases.push_back(dropout(shape, rate));
        }
    }
    cases.push_back(dropout({2, 40000, 3}, 0.1F).past_a_grid());
    return cases;
}

std::vector<Case> special_values_cases() {
    std::vector<Case> cases;
    for (const double value : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
        cases.push_back(add_scaled({2, 3, 33}, 0.5F, -2.0F).holding(value, "b", 40));
        cases.push_back(multiply({2, 3, 33}).holding(value, "b", 40));
        for (const std::size_t index : {40U, 41U, 42U, 43U, 44U}) {
            cases.push_back(dropout({2, 3, 33}, 0.5F).holding(value, "x", index));
        }
    }
    return cases;
}

std::vector<Differentiation> differentiations() {
    const Shape shape{2, 3, 5};
    std::vector<Differentiation> all;
    all.push_back({add_scaled(shape, -0.3F, 2.5F),
                   {scale(shape, -0.3F, "grad_out", "grad_a"), scale(shape, 2.5F, "grad_out", "grad_b")}});
    all.push_back({scale(shape, 1.7F), {scale(shape, 1.7F, "grad_out", "grad_a")}});
    all.push_back(
        {multiply(shape), {multiply(shape, "grad_out", "b", "grad_a"), multiply(shape, "grad_out", "a", "grad_b")}});
    for (const float rate : {0.0F, 0.3F}) {
        for (const Shape& each : {Shape{2, 3, 11}, Shape{2, 2, 3, 5}}) {
            all.push_back({dropout(each, rate), {dropout(each, rate, "grad_y", "grad_x")}});
        }
    }
    return all;
}

// A little more than 128 MiB: more than a binding of some devices.
std::vector<Case> huge_cases() {
    const Shape shape{67200, 500};
    return {fill(shape, DType::F32, 1.1F).past_a_grid(), copy_real(shape).past_a_grid(),
            scale(shape, -0.7F).past_a_grid()};
}

std::vector<Case> denormal_cases() {
    const Generator tiny = these({0x1p-126, 0x1p-127, -0x1p-130, 0x1p-149, -0x1p-149, 0.0, 0x1.8p-126, 1.0});
    Case copied = copy_real({3, 33});
    Case scaled = scale({3, 33}, 0.5F);
    for (Case* stated : {&copied, &scaled}) {
        stated->name += " of denormals";
        stated->operands[0].values = tiny;
        stated->operands[1].role = Role::Out;
        stated->accept = flushed(stated->operands[0].name);
    }
    return {copied, scaled};
}

// Subnormal only in F16, so that no device may flush it: one by one and by vec4.
std::vector<Case> subnormal_halves_cases() {
    std::vector<Case> cases;
    for (const Shape& shape : {Shape{3, 33}, Shape{4, 64}}) {
        Case stated = scale(shape, 4096.0F);
        stated.name += " of F16's subnormal numbers";
        stated.operands[0].values =
            these({0x1p-15, -0x1p-16, 0x1p-24, 0x1.8p-23, -0x1.8p-20, 0.0, 0x1.ff8p-15, 0x1p-14});
        cases.push_back(stated);
    }
    return cases;
}

std::vector<Case> speeds(const Workload& work) {
    const Shape shape{work.sentences, work.length, work.d_ff};
    const std::string name = fmt::format("{}x{}", work.rows(), work.d_ff);
    return {fill(shape, DType::F32, 1.0F).named(name), copy_real(shape).named(name),
            add_scaled(shape, 0.5F, 2.0F).named(name), multiply(shape).named(name), dropout(shape, 0.1F).named(name)};
}

}  // namespace

Family family() {
    return {
        .name = "elementwise",
        .groups =
            {
                {"fill", "fill", fill_cases},
                {"copy", "copies in every pair of types", copy_cases},
                {"scaled-sums", "scaled sums", scaled_sums_cases},
                {"products", "products of elements", products_cases},
                {"dropout", "dropout, in every bit it draws", dropout_cases},
                {"special-values", "NaN and infinity spread element by element, and what is dropped is 0 all the same",
                 special_values_cases},
                {"huge", "operands larger than a binding may be", huge_cases, true},
                {"denormals", "numbers below the smallest normal one are kept or taken for 0", denormal_cases},
                {"subnormal-halves", "numbers that are subnormal in F16 are kept", subnormal_halves_cases},
            },
        .differentiations = differentiations,
        .speeds = speeds};
}

}  // namespace headscope::conformance::elementwise_cases

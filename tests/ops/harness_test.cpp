// Tests of the harness: a correct backend passes, and each fault is named.
#include "conformance/harness.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "backend/ops/elementwise.h"
#include "backend/ops/embedding.h"
#include "conformance/compare.h"
#include "conformance/gradients.h"
#include "devices.h"
#include "faulty_backend.h"
#include "registry/registry.h"

using namespace headscope;
using namespace headscope::conformance;

namespace {

Case copy_case() {
    return make_case("[2, 3, 5, 7]", {Operand("x", {2, 3, 5, 7}), Operand("out", {2, 3, 5, 7})}, [](const Operands& t) {
        return Copy{t["x"], t["out"], t.write("out")};
    });
}

// All complaints about a Copy with this fault, as one text.
std::string complaints_about(const FaultyBackend::Fault& fault) {
    FaultyBackend device(open_device("cpu:oracle"), fault);
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    std::string text;
    const Outcome outcome = Examination(*oracle, copy_case()).on(device);
    for (const std::string& complaint : outcome.complaints) {
        text += complaint + "\n";
    }
    return text;
}

// One number of a buffer changed; `place` counts elements from the buffer's start.
void poke(Backend& backend, const Tensor& tensor, std::int64_t place, double value) {
    const Tensor one = make_tensor(tensor.buffer, {1}, tensor.dtype, place);
    from_host<double>(backend, one, {value});
}

}  // namespace

TEST_CASE("a correct backend has no complaints", "[harness]") {
    CHECK(complaints_about([](Backend& inner, const Copy& op) { inner.run(op); }).empty());
}

TEST_CASE("every layout, write and alias is tested", "[harness]") {
    std::set<std::string> titles;
    const Case dropout = make_case("[2, 3, 4, 5]", {{"x", {2, 3, 4, 5}}, {"y", {2, 3, 4, 5}}}, [](const Operands& t) {
        return Dropout{.x = t["x"], .y = t["y"], .write = t.write("y")};
    });
    for (const Variant& variant : variants_of(dropout)) {
        titles.insert(variant.title());
    }
    std::set<std::string> expected;
    for (const std::string title : {"contiguous", "contiguous, y accumulated", "padded rows, y accumulated", "heads",
                                    "packed", "contiguous, y is x", "heads, y is x"}) {
        expected.insert({title, title + ", misaligned"});
    }
    CHECK(titles == expected);
}

TEST_CASE("a case must let its op add to a gradient", "[harness]") {
    CHECK_THROWS_WITH(make_case("[2, 3]", {{"x", {2, 3}}, {"out", {2, 3}}},
                                [](const Operands& t) { return Copy{.x = t["x"], .out = t["out"]}; }),
                      Catch::Matchers::Contains("copy [2, 3] never adds to out"));
}

TEST_CASE("an operand in two places is strided only if both may be", "[harness]") {
    const Case stated =
        make_case("[1, 2]", {{"ids", {1, 2}}, {"table", {4, 3}}, {"out", {1, 2, 3}}}, [](const auto& t) {
            return Embed{.ids = t["ids"], .table = t["table"], .positions = t["table"], .out = t["out"]};
        });
    CHECK_FALSE(stated.operand("table").may_stride);
}

TEST_CASE("the 16-bit types share the aligned variants", "[harness]") {
    std::set<std::string> all, of_both;
    for (const Variant& variant : variants_of(copy_case())) {
        all.insert(variant.title());
    }
    std::size_t tried = 0;
    for (const DType type : {DType::F16, DType::BF16}) {
        const std::vector<Variant> variants = variants_of(copy_case().stored_in(type));
        CHECK(variants.front().title() == "contiguous");
        tried += variants.size();
        for (const Variant& variant : variants) {
            of_both.insert(variant.title());
        }
    }
    CHECK(of_both == all);
    CHECK(tried == all.size() + 1);
}

TEST_CASE("the harness names a write outside the output", "[harness]") {
    const std::string text = complaints_about([](Backend& inner, const Copy& op) {
        inner.run(op);
        poke(inner, op.out, op.out.offset - 1, 0.0);
    });
    CHECK_THAT(text, Catch::Matchers::Contains("is not an element of an output"));
    const std::string gaps = complaints_about([](Backend& inner, const Copy& op) {
        inner.run(op);
        poke(inner, op.out, op.out.offset + op.out.dim(3), 0.0);  // just after the first row
    });
    CHECK_THAT(gaps, Catch::Matchers::Contains("padded rows, out accumulated): element"));
}

TEST_CASE("the harness names a changed input", "[harness]") {
    const std::string text = complaints_about([](Backend& inner, const Copy& op) {
        inner.run(op);
        poke(inner, op.x, op.x.offset, 0.0);
    });
    CHECK_THAT(text, Catch::Matchers::Contains("in the buffer of x"));
}

TEST_CASE("the harness names an output that was read, or not written", "[harness]") {
    const auto adds_always = [](Backend& inner, const Copy& op) { inner.run(Copy{op.x, op.out, Write::Accumulate}); };
    CHECK_THAT(complaints_about(adds_always), Catch::Matchers::Contains("(contiguous): out[0]"));
    const auto forgets_last = [](Backend& inner, const Copy& op) {
        inner.run(Copy{op.x.narrow(0, 0, 1), op.out.narrow(0, 0, 1), op.write});
    };
    CHECK_THAT(complaints_about(forgets_last), Catch::Matchers::Contains("(contiguous): out[105]"));
}

TEST_CASE("the harness names a sum that was overwritten", "[harness]") {
    const std::string text = complaints_about([](Backend& inner, const Copy& op) { inner.run(Copy{op.x, op.out}); });
    CHECK_THAT(text, Catch::Matchers::Contains("(contiguous, out accumulated): out[0]"));
    CHECK_THAT(text, !Catch::Matchers::Contains("(contiguous): "));
}

TEST_CASE("the harness names ignored strides", "[harness]") {
    const std::string text = complaints_about([](Backend& inner, const Copy& op) {
        Copy plain = op;
        plain.x.strides = contiguous_strides(op.x.shape);
        inner.run(plain);
    });
    CHECK_THAT(text, Catch::Matchers::Contains("(heads): out["));
    CHECK_THAT(text, !Catch::Matchers::Contains("(contiguous): "));
}

TEST_CASE("the harness names results that do not repeat", "[harness]") {
    int calls = 0;
    const std::string text = complaints_about([&](Backend& inner, const Copy& op) {
        inner.run(op);
        inner.run(AddScaled{.a = op.out, .out = op.out, .alpha = ++calls % 2 == 0 ? 1.0F + 0x1p-23F : 1.0F});
    });
    CHECK_THAT(text, Catch::Matchers::Contains("a second run, over other garbage, gave other bits"));
}

TEST_CASE("the harness names small errors, of one element and of all", "[harness]") {
    const std::string one = complaints_about([](Backend& inner, const Copy& op) {
        inner.run(op);
        const Tensor first = op.out.narrow(0, 0, 1).narrow(1, 0, 1).narrow(2, 0, 1).narrow(3, 0, 1);
        inner.run(AddScaled{.a = first, .out = first, .alpha = 1.0F + 4e-6F});
    });
    CHECK_THAT(one, Catch::Matchers::Contains("out[0] of"));
    const std::string all = complaints_about([](Backend& inner, const Copy& op) {
        inner.run(op);
        inner.run(AddScaled{.a = op.out, .out = op.out, .alpha = 1.0F + 8e-7F});
    });
    CHECK_THAT(all, Catch::Matchers::Contains("out as a whole"));
}

TEST_CASE("the harness names an op that throws", "[harness]") {
    const std::string text =
        complaints_about([](Backend&, const Copy&) { throw std::runtime_error("the device is gone"); });
    CHECK_THAT(text, Catch::Matchers::Contains("copy [2, 3, 5, 7] (contiguous): the device is gone"));
}

TEST_CASE("16-bit storages are tested if the device has them, with their own bounds", "[harness][storage]") {
    const std::unique_ptr<Backend> cpu = open_device("cpu");
    CHECK(storages_of(*cpu, copy_case()) == std::vector<DType>{DType::F16, DType::BF16});
    Case full = copy_case();
    for (Operand& operand : full.operands) {
        operand = operand.full();
    }
    CHECK(storages_of(*cpu, full).empty());
    Case product = copy_case();
    product.op = OpId::Matmul;  // in which the CPU has no 16-bit operands
    CHECK(storages_of(*cpu, product).empty());

    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const auto scaled_by = [&](float factor) {
        std::set<DType> seen;
        FaultyBackend device(open_device("cpu"), [&](Backend& inner, const Copy& op) {
            seen.insert({op.x.dtype, op.out.dtype});
            Values values = to_host<double>(inner, op.x);
            const Values old = to_host<double>(inner, op.out);
            for (std::size_t i = 0; i < values.size(); ++i) {
                values[i] = factor * values[i] + (op.write == Write::Accumulate ? old[i] : 0.0);
            }
            from_host(inner, op.out, values);
        });
        const std::size_t found = Examination(*oracle, copy_case().stored_in(DType::F16)).on(device).complaints.size();
        CHECK(seen == std::set<DType>{DType::F16});
        return found;
    };
    CHECK(scaled_by(1.0F) == 0);
    CHECK(scaled_by(1.0F + 0x1p-13F) == 0);  // lost in rounding
    CHECK(scaled_by(1.0F + 0x1p-6F) > 0);
    CHECK(copy_case().stored_in(DType::F16).dtype_of(full.operands[0]) == DType::F32);
    CHECK(copy_case().stored_in(DType::F16).dtype_of(copy_case().operands[0], DType::F64) == DType::F64);
}

TEST_CASE("zeros must be zeros, and NaN must be NaN", "[harness]") {
    const Case stated = copy_case();
    const Operand output = Operand("out", {3});
    const auto verdict = [&](const Values& expected, const Values& got) {
        return compare(stated, output, false, expected, got, {1.0, 1.0, 1.0}, {}).complaint;
    };
    const double nan = std::nan("");
    CHECK(verdict({0.0, 1.0, nan}, {0.0, 1.0 + 1e-7, nan}).empty());
    CHECK_FALSE(verdict({0.0, 1.0, 2.0}, {1e-9, 1.0, 2.0}).empty());
    CHECK_FALSE(verdict({0.5, 1.0, nan}, {0.5, 1.0, 2.0}).empty());
    CHECK_FALSE(verdict({0.5, 1.0, 2.0}, {0.5, 1.0, nan}).empty());
    CHECK_FALSE(verdict({0.5, 1.0, INFINITY}, {0.5, 1.0, 3e38}).empty());
}

TEST_CASE("an error beyond any tolerance is infinite, a measured one is not", "[harness]") {
    const Case stated = copy_case();
    const double nan = std::nan("");
    const auto closeness = [&](const Operand& output, double expected, double got) {
        return compare(stated, output, false, {expected, 1.0}, {got, 1.0}, {1.0, 1.0}, {}).closeness;
    };
    const Operand rounded = Operand("out", {2});
    const Closeness measured = closeness(rounded, 0.5, 0.75);
    CHECK(measured.of_bound >= 0.25 / (14 * 0x1p-24));
    CHECK(std::isfinite(measured.of_bound));
    CHECK(measured.worst_relative == 0.25);
    CHECK(measured.nmse == Approx(0.0625 / 1.25));
    const Closeness same = closeness(rounded.exact(), nan, nan);
    CHECK(same.of_bound == 0.0);
    CHECK(same.worst_relative == 0.0);
    const Closeness inexact = closeness(rounded.exact(), 0.5, 0.5 + 0x1p-24);
    CHECK(std::isinf(inexact.of_bound));
    CHECK(std::isinf(inexact.worst_relative));
    CHECK(std::isfinite(inexact.nmse));
    CHECK(std::isinf(closeness(rounded, 0.0, 1e-9).of_bound));
    for (const auto& [expected, got] : {std::pair{0.5, nan}, {nan, 0.5}, {INFINITY, 3e38}, {0.5, -INFINITY}}) {
        for (const Operand& output : {rounded, rounded.exact()}) {
            const Closeness none = closeness(output, expected, got);
            CHECK(std::isinf(none.of_bound));
            CHECK(std::isinf(none.worst_relative));
            CHECK(std::isinf(none.nmse));
        }
    }
}

TEST_CASE("failed runs are counted, not their complaints", "[harness]") {
    FaultyBackend device(open_device("cpu:oracle"), [](Backend& inner, const Copy& op) {
        inner.run(Copy{op.x, op.out});  // wrong when accumulating
        if (op.write == Write::Accumulate) {
            poke(inner, op.x, op.x.offset, 0.0);
        }
    });
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const Outcome outcome = Examination(*oracle, copy_case()).on(device);
    CHECK(outcome.failed_runs == 4);  // contiguous and padded rows, each aligned and not
    CHECK(outcome.complaints.size() > 4);
    CHECK(outcome.runs > outcome.failed_runs);
}

TEST_CASE("central differences name a wrong gradient", "[harness][gradients]") {
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const auto scaled = [](const char* from, const char* to, float alpha) {
        return make_case("", {Operand(from, {2, 3}), Operand(to, {2, 3})},
                         [=](const Operands& t) { return AddScaled{.a = t[from], .out = t[to], .alpha = alpha}; });
    };
    const GradientReport right =
        check_gradient(*oracle, {scaled("a", "out", 2.0F), {scaled("grad_out", "grad_a", 2.0F)}});
    CHECK(right.complaints.empty());
    CHECK(right.compared == std::set<std::string>{"a"});
    const GradientReport wrong =
        check_gradient(*oracle, {scaled("a", "out", 2.0F), {scaled("grad_out", "grad_a", 2.0F + 0x1p-20F)}});
    CHECK(wrong.complaints.size() == 2);  // of an element, and along a direction
}

#include "harness.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>

#include "compare.h"
#include "devices.h"
#include "registry/registry.h"

namespace headscope::conformance {

namespace {

std::set<std::string> gradients_of(const Case& stated, std::size_t first, std::size_t step) {
    std::set<std::string> names;
    std::size_t index = 0;
    for (const Operand& operand : stated.operands) {
        if (operand.role == Role::Gradient) {
            if (index >= first && (index - first) % step == 0) {
                names.insert(operand.name);
            }
            ++index;
        }
    }
    return names;
}

// The oracle's results and what errors in them are measured against.
struct Expected {
    HostValues results;
    HostValues magnitudes;
};

HostValues run_oracle(Backend& oracle, const Case& stated, const Case::Run& run, const HostValues& values,
                      const std::set<std::string>& accumulated) {
    Placement placement(oracle, stated, {.accumulated = accumulated});
    placement.fill(values, Garbage::Nan);
    run(oracle, placement.operands());
    placement.read();
    HostValues results;
    for (const Operand& operand : stated.operands) {
        if (operand.written()) {
            results[operand.name] = placement.values_of(operand.name);
        }
    }
    return results;
}

bool is_real(const Case& stated, const std::string& name) {
    const DType dtype = stated.dtype_of(stated.operand(name));
    return dtype != DType::I32 && dtype != DType::I8;
}

HostValues absolute_values(const Case& stated, HostValues values) {
    for (auto& [name, numbers] : values) {
        for (double& number : numbers) {
            number = stated.dtype_of(stated.operand(name)) != DType::I32 ? std::abs(number) : number;
        }
    }
    return values;
}

// How far the results move when the inputs move by one rounding each, over that rounding.
HostValues sensitivity(Backend& oracle, const Case& stated, const HostValues& values,
                       const std::set<std::string>& accumulated, const HostValues& results) {
    constexpr int kProbes = 3;
    constexpr double kStep = 0x1p-24;
    HostValues most;
    for (int probe = 0; probe < kProbes; ++probe) {
        HostValues moved = values;
        for (auto& [name, numbers] : moved) {
            Random random(static_cast<std::uint64_t>(probe), numbers.size());
            const Values steps = normal(kStep)(static_cast<std::int64_t>(numbers.size()), random);
            for (std::size_t i = 0; i < numbers.size() && is_real(stated, name); ++i) {
                numbers[i] *= 1 + steps[i];
            }
        }
        for (const auto& [name, there] : run_oracle(oracle, stated, stated.run, moved, accumulated)) {
            Values& widest = most[name];
            widest.resize(there.size());
            for (std::size_t i = 0; i < there.size(); ++i) {
                const double distance = std::abs(there[i] - results.at(name)[i]) / kStep;
                widest[i] = std::isfinite(distance) ? std::max(widest[i], distance) : widest[i];
            }
        }
    }
    return most;
}

double root_mean_square(const Values& values) {
    double squares = 0.0;
    for (const double value : values) {
        squares += value * value;
    }
    return values.empty() ? 0.0 : std::sqrt(squares / static_cast<double>(values.size()));
}

Expected expect(Backend& oracle, const Case& stated, const HostValues& values,
                const std::set<std::string>& accumulated) {
    Expected expected{run_oracle(oracle, stated, stated.run, values, accumulated), {}};
    if (stated.magnitude) {
        expected.magnitudes =
            run_oracle(oracle, stated, stated.magnitude, absolute_values(stated, values), accumulated);
        return expected;
    }
    expected.magnitudes = sensitivity(oracle, stated, values, accumulated, expected.results);
    for (auto& [name, magnitude] : expected.magnitudes) {
        const Shape& shape = stated.operand(name).shape;
        const Values own = row_magnitude(shape, expected.results[name]);
        const double typical = std::max(root_mean_square(own), stated.cancelling);
        magnitude = row_magnitude(shape, magnitude);
        for (std::size_t i = 0; i < own.size(); ++i) {
            magnitude[i] = std::max({magnitude[i], own[i], typical});
        }
    }
    return expected;
}

void note_closeness(const Case& stated, const std::string& output, const Comparison& comparison) {
    static const bool kWanted = std::getenv("HEADSCOPE_TEST_CLOSENESS") != nullptr;
    if (kWanted) {
        std::fprintf(stderr, "closeness %.3f %.3f %s %s\n", comparison.worst_element, comparison.worst_tensor,
                     stated.title().c_str(), output.c_str());
    }
}

std::vector<std::string> complaints_of_variant(Backend& device, const Case& stated, const Variant& variant,
                                               const HostValues& values, const Expected& expected) {
    std::vector<std::string> found;
    Placement placement(device, stated, variant);
    placement.fill(values, Garbage::Nan);
    stated.run(device, placement.operands());
    placement.read();
    if (const std::string stray = placement.stray_write(); !stray.empty()) {
        found.push_back(stray);
    }
    for (const Operand& operand : stated.operands) {
        if (!operand.written() || operand.name == variant.alias_input) {
            continue;
        }
        const Comparison comparison =
            compare(stated, operand, variant.accumulated.count(operand.name) == 1, expected.results.at(operand.name),
                    placement.values_of(operand.name), expected.magnitudes.at(operand.name), values);
        note_closeness(stated, operand.name, comparison);
        if (!comparison.complaint.empty()) {
            found.push_back(comparison.complaint);
        }
    }
    const std::vector<std::byte> first = placement.output_bytes();
    placement.fill(values, Garbage::Large);
    stated.run(device, placement.operands());
    placement.read();
    if (placement.output_bytes() != first) {
        found.emplace_back("a second run, over other garbage, gave other bits");
    }
    return found;
}

// Says why a device does not run something natively, once.
void note(const std::string& line, std::set<std::string>& said) {
    if (said.insert(line).second) {
        std::fprintf(stderr, "NOT NATIVE: %s\n", line.c_str());
    }
}

bool has_products(const Backend& device, Compute compute, std::set<std::string>& said) {
    const Support support = device.products(compute);
    if (support.level != SupportLevel::Native) {
        note(fmt::format("{}: products in {}: {}", device.device().id, name_of(compute), support.reason), said);
    }
    return support.level != SupportLevel::None;
}

// Native or not; "none" is a failure where the op is of F32, the dtype that every backend has.
bool is_supported(const Backend& device, const Case& stated, std::set<std::string>& said) {
    bool supported = true;
    for (const Operand& operand : stated.operands) {
        const DType dtype = stated.dtype_of(operand, device.real());
        const Support support = operand.is_narrow ? device.weights(dtype) : device.support(stated.op, dtype);
        const bool index = dtype == DType::I32 && !operand.is_exact;
        if (support.level == SupportLevel::Native || index) {
            continue;
        }
        const bool none = support.level == SupportLevel::None;
        const std::string line = fmt::format("{}: {} in {} is {}: {}", device.device().id, stated.op, name_of(dtype),
                                             none ? "missing" : "composed", support.reason);
        note(line, said);
        if (none && dtype == device.real()) {
            FAIL_CHECK(line);
        }
        supported = supported && !none;
    }
    return supported && (!stated.compute || has_products(device, *stated.compute, said));
}

void check_on(Backend& device, Backend& oracle, const std::vector<Case>& cases) {
    std::set<std::string> said;
    const bool is_oracle = device.real() == oracle.real();
    for (const Case& stated : cases) {
        std::vector<Case> stored{stated};
        for (const DType dtype : is_oracle ? std::vector<DType>{} : storages_of(device, stated)) {
            stored.push_back(stated.stored_in(dtype));
        }
        for (const Case& each : stored) {
            if (!is_oracle && !is_supported(device, each, said)) {
                continue;
            }
            for (const std::string& complaint : complaints(device, oracle, each)) {
                FAIL_CHECK(complaint);
            }
        }
    }
}

}  // namespace

std::vector<DType> storages_of(const Backend& device, const Case& stated) {
    const bool narrow = std::any_of(stated.operands.begin(), stated.operands.end(),
                                    [](const Operand& operand) { return operand.is_narrow; });
    const bool has_storage = std::any_of(stated.operands.begin(), stated.operands.end(),
                                         [](const Operand& operand) { return !operand.dtype && !operand.is_full; });
    std::vector<DType> found;
    for (const DType dtype : {DType::F16, DType::BF16}) {
        if (has_storage && !narrow && !stated.compute && device.support(stated.op, dtype).level != SupportLevel::None) {
            found.push_back(dtype);
        }
    }
    return found;
}

std::vector<Variant> variants_of(const Case& stated) {
    std::vector<Variant> variants{{}};
    if (stated.one_layout) {
        return variants;
    }
    bool strided = false;
    for (const Operand& operand : stated.operands) {
        strided = strided || operand.may_stride;
    }
    const std::set<std::string> all = gradients_of(stated, 0, 1);
    if (!all.empty()) {
        variants.push_back({.accumulated = all});
    }
    if (all.size() > 1) {  // each beside others that overwrite
        variants.push_back({.accumulated = gradients_of(stated, 0, 2)});
        variants.push_back({.accumulated = gradients_of(stated, 1, 2)});
    }
    if (strided) {
        variants.push_back({.layout = Layout::PaddedRows, .accumulated = all});
        variants.push_back({.layout = Layout::Heads});
        variants.push_back({.layout = Layout::Packed});
    }
    for (const auto& [output, input] : stated.aliases) {
        variants.push_back({.alias_output = output, .alias_input = input});
        if (strided) {
            variants.push_back({.layout = Layout::Heads, .alias_output = output, .alias_input = input});
        }
    }
    // Each where vectors can be loaded, and again where they cannot.
    const std::size_t count = variants.size();
    for (std::size_t i = 0; i < count; ++i) {
        variants.push_back(variants[i]);
        variants.back().misaligned = true;
    }
    return variants;
}

std::vector<std::string> complaints(Backend& device, Backend& oracle, const Case& stated) {
    std::vector<std::string> found;
    const HostValues values = generate(stated);
    std::map<std::set<std::string>, Expected> expected;
    for (const Variant& variant : variants_of(stated)) {
        const std::string title = device.device().id + ": " + stated.title() + " (" + variant.title() + "): ";
        try {
            if (expected.count(variant.accumulated) == 0) {
                expected[variant.accumulated] = expect(oracle, stated, values, variant.accumulated);
            }
            for (const std::string& complaint :
                 complaints_of_variant(device, stated, variant, values, expected[variant.accumulated])) {
                found.push_back(title + complaint);
            }
        } catch (const std::exception& error) {
            found.push_back(title + error.what());
        }
    }
    return found;
}

void check_on_every_device(const std::vector<Case>& cases) {
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    std::vector<std::string> ids = devices_under_test();
    ids.insert(ids.begin(), "cpu:oracle");
    for (const std::string& id : ids) {
        check_on(*open_device(id), *oracle, cases);
        SUCCEED(id + ": " + std::to_string(cases.size()) + " cases");
    }
}

}  // namespace headscope::conformance

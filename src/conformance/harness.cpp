#include "conformance/harness.h"

#include <algorithm>
#include <cmath>
#include <exception>

namespace headscope::conformance {

namespace {

constexpr double kStep = 0x1p-24;  // a rounding of F32

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

bool is_exact(const Case& stated, const std::set<std::string>& accumulated) {
    return std::all_of(stated.operands.begin(), stated.operands.end(), [&](const Operand& operand) {
        return !operand.written() || must_be_exact(stated, operand, accumulated.count(operand.name) == 1);
    });
}

double root_mean_square(const Values& values) {
    double squares = 0.0;
    for (const double value : values) {
        squares += value * value;
    }
    return values.empty() ? 0.0 : std::sqrt(squares / static_cast<double>(values.size()));
}

Case unstored(const Case& stated) {
    Case same = stated;
    same.storage.reset();
    return same;
}

bool is_narrow(const Case& stated) {
    return std::any_of(stated.operands.begin(), stated.operands.end(),
                       [](const Operand& operand) { return operand.is_narrow; });
}

std::vector<Variant> variants_on(Backend& device, const Case& stated);

}  // namespace

Examination::Examination(Backend& oracle, const Case& stated)
    : oracle_(oracle), case_(stated), unstored_(unstored(stated)), values_(generate(case_)) {}

HostValues Examination::run_oracle(const Case::Run& run, const HostValues& values,
                                   const std::set<std::string>& accumulated) const {
    Placement placement(oracle_, unstored_, {.accumulated = accumulated});
    placement.fill(values, Garbage::Nan);
    run(oracle_, placement.operands());
    placement.read();
    HostValues results;
    for (const Operand& operand : case_.operands) {
        if (operand.written()) {
            results[operand.name] = placement.values_of(operand.name);
        }
    }
    return results;
}

const std::vector<HostValues>& Examination::moved_values() {
    constexpr std::uint64_t kProbes = 3;
    for (std::uint64_t probe = moved_.size(); probe < kProbes; ++probe) {
        HostValues moved = values_;
        for (auto& [name, numbers] : moved) {
            if (!is_real(case_, name)) {
                continue;
            }
            Random random(probe, numbers.size());
            const Values steps = normal(kStep)(static_cast<std::int64_t>(numbers.size()), random);
            for (std::size_t i = 0; i < numbers.size(); ++i) {
                numbers[i] *= 1 + steps[i];
            }
        }
        moved_.push_back(std::move(moved));
    }
    return moved_;
}

// How much the results change when each input changes by one rounding, relative to that rounding.
HostValues Examination::sensitivity(const std::set<std::string>& accumulated, const HostValues& results) {
    HostValues most;
    for (const HostValues& moved : moved_values()) {
        for (const auto& [name, there] : run_oracle(case_.run, moved, accumulated)) {
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

const Examination::Expected& Examination::expected(const std::set<std::string>& accumulated) {
    if (const auto known = expected_.find(accumulated); known != expected_.end()) {
        return known->second;
    }
    Expected found{run_oracle(case_.run, values_, accumulated), {}};
    if (case_.magnitude) {
        found.magnitudes = run_oracle(case_.magnitude, absolute_values(case_, values_), accumulated);
        return expected_[accumulated] = std::move(found);
    }
    if (is_exact(case_, accumulated)) {
        found.magnitudes = found.results;  // unused
        return expected_[accumulated] = std::move(found);
    }
    found.magnitudes = sensitivity(accumulated, found.results);
    for (auto& [name, magnitude] : found.magnitudes) {
        const Shape& shape = case_.operand(name).shape;
        const Values own = row_magnitude(shape, found.results[name]);
        const double typical = std::max(root_mean_square(own), case_.cancelling);
        magnitude = row_magnitude(shape, magnitude);
        for (std::size_t i = 0; i < own.size(); ++i) {
            magnitude[i] = std::max({magnitude[i], own[i], typical});
        }
    }
    return expected_[accumulated] = std::move(found);
}

void Examination::run(Backend& device, const Variant& variant, Outcome& outcome) {
    const Expected& wanted = expected(variant.accumulated);
    const std::string title = device.device().id + ": " + case_.title() + " (" + variant.title() + "): ";
    Placement placement(device, case_, variant);
    placement.fill(values_, Garbage::Nan);
    case_.run(device, placement.operands());
    placement.read();
    if (const std::string stray = placement.stray_write(); !stray.empty()) {
        outcome.complaints.push_back(title + stray);
    }
    for (const Operand& operand : case_.operands) {
        if (!operand.written() || operand.name == variant.alias_input) {
            continue;
        }
        const Comparison comparison =
            compare(case_, operand, variant.accumulated.count(operand.name) == 1, wanted.results.at(operand.name),
                    placement.values_of(operand.name), wanted.magnitudes.at(operand.name), values_);
        outcome.closeness.widen(comparison.closeness);
        if (!comparison.complaint.empty()) {
            outcome.complaints.push_back(title + comparison.complaint);
        }
    }
    const std::vector<std::byte> first = placement.output_bytes();
    placement.fill(values_, Garbage::Large);
    case_.run(device, placement.operands());
    placement.read();
    if (placement.output_bytes() != first) {
        outcome.complaints.push_back(title + "a second run, over other garbage, gave other bits");
    }
}

Outcome Examination::on(Backend& device) {
    Outcome outcome;
    device.drain_kernel_names();
    for (const Variant& variant : variants_on(device, case_)) {
        ++outcome.runs;
        const std::size_t complaints_before = outcome.complaints.size();
        const auto complain = [&](const std::exception& error) {
            outcome.complaints.push_back(device.device().id + ": " + case_.title() + " (" + variant.title() +
                                         "): " + error.what());
        };
        try {
            run(device, variant, outcome);
        } catch (const DeviceLost& error) {
            complain(error);
            outcome.lost = true;
        } catch (const std::exception& error) {
            complain(error);
        }
        outcome.failed_runs += outcome.complaints.size() > complaints_before ? 1 : 0;
        if (outcome.lost) {
            break;
        }
    }
    outcome.kernels = device.drain_kernel_names();
    return outcome;
}

std::vector<std::string> Examination::kernels_on(Backend& device) const {
    device.drain_kernel_names();
    // Kernels stay in bounds whatever numbers they read, but not whatever indices.
    const bool has_indices = std::any_of(case_.operands.begin(), case_.operands.end(), [&](const Operand& operand) {
        return case_.dtype_of(operand) == DType::I32 && !operand.written();
    });
    for (const Variant& variant : variants_of(case_)) {
        Placement placement(device, case_, variant);
        if (has_indices) {
            placement.fill(values_, Garbage::Nan);
        }
        case_.run(device, placement.operands());
    }
    return device.drain_kernel_names();
}

Standing standing_of(const Backend& device, const Case& stated) {
    Standing standing;
    const auto lower = [&](const Support& support, const std::string& what, const char* dtype) {
        if (support.level != SupportLevel::Native) {
            standing.shortfalls.insert({.level = support.level, .dtype = dtype, .why = support.reason, .what = what});
            standing.level = std::max(standing.level, support.level);
        }
    };
    for (const Operand& operand : stated.operands) {
        const DType dtype = stated.dtype_of(operand, device.full_dtype());
        if (dtype == DType::I32 && !operand.is_exact) {
            continue;  // indices
        }
        const Support support = operand.is_narrow ? device.weights(dtype) : device.support(stated.op, dtype);
        lower(support, operand.is_narrow ? "weights" : stated.op_name(), name_of(dtype));
        standing.owed = standing.owed || (support.level == SupportLevel::None && dtype == device.full_dtype());
    }
    if (stated.compute) {
        lower(device.products(*stated.compute), "products", name_of(*stated.compute));
    }
    return standing;
}

std::vector<DType> storages_of(const Case& stated) {
    const bool has_storage = std::any_of(stated.operands.begin(), stated.operands.end(),
                                         [](const Operand& operand) { return !operand.dtype && !operand.is_full; });
    return has_storage && !is_narrow(stated) && !stated.compute ? std::vector{DType::F16, DType::BF16}
                                                                : std::vector<DType>{};
}

std::vector<DType> storages_of(const Backend& device, const Case& stated) {
    std::vector<DType> found = storages_of(stated);
    std::erase_if(found, [&](DType dtype) { return device.support(stated.op, dtype).level == SupportLevel::None; });
    return found;
}

namespace {

// Each with aligned memory for vector loads, and with misaligned memory. The 16-bit types share the same paths, so they
// split this: what one tests aligned, the other tests misaligned.
std::vector<Variant> aligned_and_not(std::vector<Variant> variants, std::optional<DType> storage) {
    const std::size_t count = variants.size();
    if (!storage) {
        for (std::size_t i = 0; i < count; ++i) {
            variants.push_back(variants[i]);
            variants.back().misaligned = true;
        }
        return variants;
    }
    const std::size_t turn = *storage == DType::F16 ? 1 : 0;
    if (turn == 0) {
        variants.push_back(variants.front());  // the first is the one that is timed, aligned
        variants.back().misaligned = true;
    }
    for (std::size_t i = 1; i < count; ++i) {
        variants[i].misaligned = i % 2 == turn;
    }
    if (turn == 1 && count == 2) {
        variants.push_back(variants[1]);  // accumulating and aligned, which has no second variant
        variants.back().misaligned = false;
    }
    return variants;
}

// Whether the device lays out a weight of the case in its own way.
bool packs_weights(Backend& device, const Case& stated) {
    return std::any_of(stated.operands.begin(), stated.operands.end(), [&](const Operand& operand) {
        return operand.is_weight && operand.shape.rank() == 2 &&
               device.pack(device.empty(operand.shape, stated.dtype_of(operand, device.full_dtype()))).layout !=
                   WeightLayout::Rows;
    });
}

// With those that only this device has.
std::vector<Variant> variants_on(Backend& device, const Case& stated) {
    std::vector<Variant> variants = variants_of(stated);
    if (stated.one_layout || !packs_weights(device, stated)) {
        return variants;
    }
    const std::size_t count = variants.size();
    for (std::size_t i = 0; i < count; ++i) {
        if (variants[i].layout == Layout::Contiguous && variants[i].alias_output.empty()) {
            variants.push_back(variants[i]);
            variants.back().packed_weights = true;
        }
    }
    return variants;
}

}  // namespace

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
    if (all.size() > 1) {  // each next to others that overwrite
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
    return aligned_and_not(std::move(variants), stated.storage);
}

}  // namespace headscope::conformance

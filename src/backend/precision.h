// What a user asks for by "training.precision" or --precision, and what a device makes of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "backend/backend.h"

namespace headscope {

enum class Precision : std::uint8_t { F32, TF32, BF16, F16, I8 };
inline constexpr std::array kPrecisionNames{"f32", "tf32", "bf16", "f16", "i8"};  // as users write them
inline constexpr std::size_t kTrainingPrecisions = 4;                             // of these, the first ones

const char* name_of(Precision precision);

// How a model computes on a device.
struct Arithmetic {
    DType storage = DType::F32;  // of activations and of the weights that are multiplied; F32 is the backend's real()
    bool weights_alone = false;  // storage is that of the weights, and activations are of the backend's real()
    Compute compute = Compute::F32;  // of products of F32 operands

    bool operator==(const Arithmetic&) const = default;
};

// "F32", "TF32 products", "BF16 products", "BF16", "F16", "F16 weights", "I8 weights"
std::string name_of(const Arithmetic& arithmetic);

// The best that the device has at this precision. BF16: stored in 16 bits, or where the device has no such storage, but
// fast products, those; F16: stored in 16 bits; TF32: products. Error, beginning with `option` (what the user wrote),
// where the device has it not natively, and always for I8.
Arithmetic arithmetic_for(const Backend& backend, Precision precision, const std::string& option);

// The same for a model that is only read: where the device does not store activations in F16, its weights alone, and I8
// for them.
Arithmetic inference_arithmetic_for(const Backend& backend, Precision precision, const std::string& option);

// What activations are stored in beside weights that are stored in `weights`.
DType activations_beside(const Backend& backend, DType weights);

}  // namespace headscope

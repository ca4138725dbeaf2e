// What a user requests by "training.precision" or --precision, and how a device provides it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "backend/backend.h"

namespace headscope {

enum class Precision : std::uint8_t { F32, TF32, BF16, F16, I8 };
inline constexpr std::array kPrecisionNames{"f32", "tf32", "bf16", "f16", "i8"};  // as users write them
inline constexpr std::size_t kTrainingPrecisions = 4;                             // the first of these

const char* name_of(Precision precision);

// How a model computes on a device.
struct Arithmetic {
    DType storage = DType::F32;      // of activations and multiplied weights; F32 means the backend's full_dtype()
    bool weights_alone = false;      // only weights are in `storage`, activations in the backend's full_dtype()
    Compute compute = Compute::F32;  // of products of F32 operands

    bool operator==(const Arithmetic&) const = default;
};

// "F32", "TF32 products", "BF16 products", "BF16", "F16", "F16 weights", "I8 weights"
std::string name_of(const Arithmetic& arithmetic);

// The best form of this precision that the device has. BF16: 16-bit storage, else products; F16: 16-bit storage; TF32:
// products. Error, beginning with `option` (what the user wrote), if the device does not have it natively, and always
// for I8.
Arithmetic arithmetic_for(const Backend& backend, Precision precision, const std::string& option);

// The same for inference: if the device does not store activations in F16, only its weights are F16; for I8 always.
Arithmetic inference_arithmetic_for(const Backend& backend, Precision precision, const std::string& option);

// The dtype of activations next to weights stored in `weights`.
DType activations_beside(const Backend& backend, DType weights);

}  // namespace headscope

// What a user requests by "training.precision" or --precision, and how a device provides it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "backend/backend.h"

namespace headscope {

enum class Precision : std::uint8_t { F32, TF32, BF16, F16, I8, Q8, Q4 };
inline constexpr std::array kPrecisionNames{"f32", "tf32", "bf16", "f16", "i8", "q8", "q4"};  // as users write them
inline constexpr std::size_t kTrainingPrecisions = 4;                                         // the first of these

const char* name_of(Precision precision);

// How weights that are multiplied are held in memory.
struct WeightStorage {
    WeightStorage(DType type = DType::F32) : dtype(type) {}  // NOLINT(google-explicit-constructor)

    DType dtype;         // of those that are not in blocks (tensor/blocks.h)
    bool packs = false;  // they are laid out for products (Backend::pack)
    int block_bits = 0;  // 8 or 4: all are in blocks of at most so many bits a code; those of a file stay as they are
    bool keeps_blocks = false;  // without block_bits: weights that the file has in blocks stay in them

    bool operator==(const WeightStorage&) const = default;
};

// How a model computes on a device.
struct Arithmetic {
    DType storage = DType::F32;      // of activations and multiplied weights; F32 means the backend's full_dtype()
    bool weights_alone = false;      // only weights are in `storage`, activations in the backend's full_dtype()
    Compute compute = Compute::F32;  // of products of F32 operands
    int block_bits = 0;              // as WeightStorage's, of weights alone

    // In F32 weights stay in the blocks of their file: activations are not rounded beside them.
    WeightStorage weights() const;
    bool operator==(const Arithmetic&) const = default;
};

// "F32", "TF32 products", "BF16 products", "BF16", "F16", "BF16 weights", "F16 weights", "I8 weights", "Q8 weights",
// "Q4 weights"
std::string name_of(const Arithmetic& arithmetic);

// The best form of this precision that the device has. BF16: 16-bit storage, else products; F16: 16-bit storage; TF32:
// products. Error, beginning with `option` (what the user wrote), if the device does not have it natively, and always
// for I8, Q8 and Q4.
Arithmetic arithmetic_for(const Backend& backend, Precision precision, const std::string& option);

// The same for inference: if the device does not store activations in F16 or BF16, only its weights are; for I8, Q8 and
// Q4 always.
Arithmetic inference_arithmetic_for(const Backend& backend, Precision precision, const std::string& option);

// The dtype of activations next to weights stored in `weights`.
DType activations_beside(const Backend& backend, DType weights);

}  // namespace headscope

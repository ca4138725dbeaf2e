// What a model is trained to do with text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace headscope {

// Translate pairs of sentences; predict the next piece (GPT), masked pieces (BERT) or masked spans (T5) of a text.
enum class Task : std::uint8_t { Translate, Causal, Masked, Span };
inline constexpr std::array kTaskNames = {"translate", "causal", "masked", "span"};  // in configurations and options

inline const char* name_of(Task task) {
    return kTaskNames[static_cast<std::size_t>(task)];
}

}  // namespace headscope

// Saliency, lens and activation patching as tables.
#pragma once

#include <string>

#include "explore/activation_patching.h"
#include "explore/lens.h"
#include "explore/saliency.h"

namespace headscope {

// What each predicted piece owes most to.
std::string text_of(const Saliency& saliency);
// The likeliest piece at each position after each layer.
std::string text_of(const Lens& lens);
// A line for each effect.
std::string text_of(const PatchEffects& found);

}  // namespace headscope

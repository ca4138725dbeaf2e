// Saliency, lens and activation patching as JSON.
#pragma once

#include <string>

#include "explore/activation_patching.h"
#include "explore/lens.h"
#include "explore/saliency.h"

namespace headscope {

// Layers of a lens and positions count from 1, as in commands; layer 0 is the embedding.
std::string to_json(const Saliency& saliency);
std::string to_json(const Lens& lens);
std::string to_json(const PatchEffects& found);

}  // namespace headscope

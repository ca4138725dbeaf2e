// What a model is called in pictures.
#pragma once

#include <string>

namespace headscope {

// The name of its folder; of a training's model that of the training: "my" of out/my/model.
std::string name_of_model(const std::string& directory);

}  // namespace headscope

// The table of the model's keys: one row for each member of a configuration.
#pragma once

#include "io/config_fields.h"
#include "model/config.h"

namespace headscope {

const ConfigFields<ModelConfig>& model_fields();

}  // namespace headscope

// A model that a command opens without a device: what users should know of it goes to standard error.
#pragma once

#include <string>

#include "model/model_directory.h"

namespace headscope {

ModelDirectory open_with_remarks(const std::string& path);

}  // namespace headscope

// What headscope evaluate prints.
#pragma once

#include <string>

#include "eval/evaluation.h"

namespace headscope {

std::string evaluation_table(const Evaluation& evaluation);
// One object, with a line end.
std::string evaluation_json(const Evaluation& evaluation);

}  // namespace headscope

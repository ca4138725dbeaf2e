// Engines and models as the C library holds them.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <headscope/headscope.h>
#include "engine/engine.h"

// Requests and models share the engine, which is closed with hs_engine_close() and destroyed after them all.
struct hs_engine {
    std::shared_ptr<headscope::Engine> engine;
    std::size_t most_requests = 0;
};

struct hs_model {
    std::shared_ptr<headscope::Engine> engine;
    std::size_t most_requests = 0;
    headscope::ModelHandle model;
};

namespace headscope {

// The folders of the option "path", then those around this library.
std::vector<std::filesystem::path> search_path(const std::vector<std::string>& wanted);

}  // namespace headscope

#include "backend/replays.h"

namespace headscope {

std::string not_in_a_replay(const std::string& what) {
    return "the body of a replay may only enqueue ops; it " + what;
}

}  // namespace headscope

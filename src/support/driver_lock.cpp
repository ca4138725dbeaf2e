#include "support/driver_lock.h"

namespace headscope {

std::mutex& driver_lock() {
    static std::mutex lock;
    return lock;
}

}  // namespace headscope

// Connects the devices of all ranks, so that they send each other memory by themselves.
#pragma once

#include <string>

#include "backend/backend.h"
#include "parallel/communicator.h"

namespace headscope {

struct Connected {
    Collectives* collectives = nullptr;  // null on all ranks if one of them cannot
    std::string said;                    // for the user: which way it is, and why; "" where there is only one
};

// All ranks call it. Error if a device fails when it is already waited for.
Connected connect_devices(Backend& backend, Communicator& ranks);

}  // namespace headscope

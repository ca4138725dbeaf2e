// Work that has succeeded before, to tell a failing device from a failing request.
#pragma once

#include <memory>
#include <mutex>
#include <span>

#include "engine/work.h"

namespace headscope {

// The known work of one model, shared by the devices. Thread-safe.
class KnownWork {
public:
    // Works that have succeeded. The shortest that can be repeated is kept.
    void remember(std::span<Work* const> works);
    // Repeats the kept work; before any success, computes a small product. Throws what the device throws.
    void run(const Place& place) const;

private:
    std::unique_ptr<Work> work() const;

    mutable std::mutex mutex_;
    std::unique_ptr<Work> work_;
};

// Does all steps of some works in one session, as long as somebody waits for them.
void run_whole(const Place& place, std::span<Work* const> works);

}  // namespace headscope

#include "infer/fresh_device.h"

#include <utility>

#include "backend/backend.h"
#include "support/check.h"

namespace headscope {

bool SecondChance::take() {
    return std::exchange(earned_, false) && taken_++ < kMost;
}

void with_fresh_device(SecondChance& chance, const std::function<void()>& work, const std::function<void()>& reopen,
                       const std::function<void(const std::string& what)>& report) {
    for (;;) {
        std::string what;
        try {
            work();
            chance.earn();
            return;
        } catch (const DeviceLost& lost) {
            if (!chance.take()) {
                throw;
            }
            what = lost.what();
        }
        try {
            reopen();
        } catch (const Error& error) {
            throw Error(what + "; reopening failed: " + error.what());
        }
        report(what);
    }
}

}  // namespace headscope

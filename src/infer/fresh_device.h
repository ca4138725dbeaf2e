// What is done about a device that is lost (DeviceLost): the same work once more, on a fresh one.
#pragma once

#include <functional>
#include <string>

namespace headscope {

// Whether a device that was lost is worth opening again: one that has done some work since the last time may have met
// an accident, one that has not would meet it again.
class SecondChance {
public:
    static constexpr int kMost = 8;  // that often nothing gets better by itself

    void earn() { earned_ = true; }
    // Once for each time that it was earned; the first is given.
    bool take();

private:
    bool earned_ = true;
    int taken_ = 0;
};

// Does `work`, and where the device is lost meanwhile and has a chance left, `reopen` and then the work from its
// beginning; `told` gets what happened in between. Error with both where the device cannot be opened again.
void with_fresh_device(SecondChance& chance, const std::function<void()>& work, const std::function<void()>& reopen,
                       const std::function<void(const std::string& what)>& told);

}  // namespace headscope

// Repeats work on a reopened device after DeviceLost.
#pragma once

#include <functional>
#include <string>

namespace headscope {

// Decides whether to reopen a lost device: yes if it has done some work since the last time, because it would most
// likely fail again otherwise.
class SecondChance {
public:
    static constexpr int kMost = 8;  // more losses are not accidents

    void earn() { earned_ = true; }
    // True once per earn(); the first chance is free.
    bool take();

private:
    bool earned_ = true;
    int taken_ = 0;
};

// Runs `work`. If the device is lost meanwhile and has a chance left, calls `reopen` and runs the work again; `report`
// gets the reason. Error with both reasons if the device cannot be reopened.
void with_fresh_device(SecondChance& chance, const std::function<void()>& work, const std::function<void()>& reopen,
                       const std::function<void(const std::string& what)>& report);

}  // namespace headscope

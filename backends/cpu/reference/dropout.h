// DropoutRule, literally.
#pragma once

#include "backend/dropout_rule.h"
#include "backend/philox.h"
#include "backends/cpu/memory/view.h"

namespace headscope {

template <class Real>
class DropoutFactor {
public:
    explicit DropoutFactor(const DropoutRule& rule) : on_(rule.rate > 0.0F) {
        if (on_) {
            threshold_ = dropout_threshold(rule.rate);
            scale_ = static_cast<Real>(65536.0 / (65536.0 - threshold_));
            site_ = rule.site;
            key_ = {rule.seed, static_cast<std::uint32_t>(scalar_of(rule.step, 0))};
            ordinals_ = data_of<std::int32_t>(rule.ordinals);
        }
    }

    // `value` after dropout.
    Real operator()(Real value, std::int64_t batch, std::int64_t head, std::int64_t position,
                    std::int64_t column) const {
        return !on_ ? value : kept(batch, head, position, column) ? value * scale_ : Real{0};
    }

private:
    bool kept(std::int64_t batch, std::int64_t head, std::int64_t position, std::int64_t column) const {
        const PhiloxCounter counter{static_cast<std::uint32_t>(column / 8),
                                    (static_cast<std::uint32_t>(head) << 16U) | static_cast<std::uint32_t>(position),
                                    static_cast<std::uint32_t>(ordinals_[batch]), site_};
        const std::uint32_t word = philox(counter, key_)[static_cast<std::size_t>(column % 8 / 2)];
        const std::uint32_t bits = column % 2 == 0 ? word & 0xffffU : word >> 16U;
        return bits >= threshold_;
    }

    bool on_;
    std::uint32_t threshold_ = 0;
    Real scale_ = 1;
    std::uint32_t site_ = 0;
    PhiloxKey key_{};
    const std::int32_t* ordinals_ = nullptr;
};

}  // namespace headscope

// The set of visible heads, and how clicks on their swatches change it.
#pragma once

#include <vector>

namespace headscope {

class HeadSelection {
public:
    // All heads on.
    explicit HeadSelection(int heads);

    int heads() const { return static_cast<int>(on_.size()); }
    bool on(int head) const;          // heads count from 1
    std::vector<int> active() const;  // counted from 1, in order

    // Toggles the head, unless it is the only one on.
    void click(int head);
    // Shows only this head; if it already is the only one, shows all.
    void double_click(int head);

private:
    std::size_t index(int head) const;
    std::vector<bool> on_;
};

}  // namespace headscope

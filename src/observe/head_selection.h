// Which heads are on, and what clicks on their swatches do.
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

    // A click: the head goes on or off; the last one stays on.
    void click(int head);
    // A double click: the head alone; on the only one: all again.
    void double_click(int head);

private:
    std::size_t index(int head) const;
    std::vector<bool> on_;
};

}  // namespace headscope

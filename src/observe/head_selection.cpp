#include "observe/head_selection.h"

#include <algorithm>
#include <string>

#include "support/check.h"

namespace headscope {

HeadSelection::HeadSelection(int heads) : on_(static_cast<std::size_t>(heads), true) {
    HEADSCOPE_CHECK(heads >= 1, "a selection needs at least one head");
}

std::size_t HeadSelection::index(int head) const {
    HEADSCOPE_CHECK(head >= 1 && head <= heads(),
                    "head " + std::to_string(head) + " of heads 1 to " + std::to_string(heads()));
    return static_cast<std::size_t>(head - 1);
}

bool HeadSelection::on(int head) const {
    return on_[index(head)];
}

std::vector<int> HeadSelection::active() const {
    std::vector<int> found;
    for (int head = 1; head <= heads(); ++head) {
        if (on(head)) {
            found.push_back(head);
        }
    }
    return found;
}

void HeadSelection::click(int head) {
    const std::size_t at = index(head);
    if (active() != std::vector<int>{head}) {
        on_[at] = !on_[at];
    }
}

void HeadSelection::double_click(int head) {
    const std::size_t at = index(head);
    const bool only = active() == std::vector<int>{head};
    std::fill(on_.begin(), on_.end(), only);
    on_[at] = true;
}

}  // namespace headscope

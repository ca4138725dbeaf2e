#include "figures/tree_rows.h"

#include <algorithm>

#include "support/check.h"

namespace headscope {

namespace {

using Fate = BeamNode::Fate;

class Placer {
public:
    Placer(const std::vector<BeamNode>& nodes, bool collapse) : nodes_(nodes), children_(nodes.size()) {
        result_.row.assign(nodes.size(), -1);
        result_.hidden.assign(nodes.size(), 0);
        last_step_.resize(nodes.size());
        keep_.assign(nodes.size(), true);
        std::vector<bool> lasting(nodes.size());
        // Children come after their parents.
        for (std::size_t i = nodes.size(); i-- > 0;) {
            last_step_[i] = std::max(last_step_[i], nodes[i].step);
            const bool leaf = children_[i].empty();
            lasting[i] = lasting[i] || nodes[i].best || (leaf && nodes[i].fate != Fate::Fell);
            keep_[i] = !collapse || lasting[i] || i == 0;
            if (nodes[i].parent >= 0) {
                const auto parent = static_cast<std::size_t>(nodes[i].parent);
                HEADSCOPE_CHECK(parent < i, "a node comes after its parent");
                children_[parent].push_back(i);
                if (keep_[i]) {
                    last_step_[parent] = std::max(last_step_[parent], last_step_[i]);
                }
                lasting[parent] = lasting[parent] || lasting[i];
                if (!keep_[i]) {
                    result_.hidden[parent] += result_.hidden[i] + 1;
                    result_.hidden[i] = 0;
                }
            }
        }
        for (std::vector<std::size_t>& of_one : children_) {
            std::stable_sort(of_one.begin(), of_one.end(), [&](std::size_t a, std::size_t b) { return before(a, b); });
        }
    }

    TreeRows place() {
        if (!nodes_.empty()) {
            place(0, 0);
        }
        result_.rows = static_cast<int>(taken_.size());
        return std::move(result_);
    }

private:
    // The best path first, then the longest branch, then the more likely one.
    bool before(std::size_t a, std::size_t b) const {
        if (nodes_[a].best != nodes_[b].best) {
            return nodes_[a].best;
        }
        if (last_step_[a] != last_step_[b]) {
            return last_step_[a] > last_step_[b];
        }
        return nodes_[a].log_probability > nodes_[b].log_probability;
    }

    // Places a branch (a chain of first children), then its side branches, the last one first and so nearest: this way
    // no line crosses a node.
    void place(std::size_t top, int least) {
        std::vector<std::size_t> chain{top};
        for (;;) {
            const auto& next = children_[chain.back()];
            const auto shown = std::find_if(next.begin(), next.end(), [&](std::size_t i) { return keep_[i]; });
            if (shown == next.end()) {
                break;
            }
            chain.push_back(*shown);
        }
        const int from = std::max(0, nodes_[top].step - 1);
        const int row = free_row(least, from, nodes_[chain.back()].step);
        for (const std::size_t node : chain) {
            result_.row[node] = row;
        }
        for (std::size_t i = chain.size(); i-- > 0;) {
            for (const std::size_t child : children_[chain[i]]) {
                if (keep_[child] && result_.row[child] < 0) {
                    place(child, row + 1);
                }
            }
        }
    }

    int free_row(int least, int from, int to) {
        const auto wanted = [&](const Span& span) { return span.from <= to && from <= span.to; };
        auto row = static_cast<std::size_t>(least);
        while (row < taken_.size() && std::any_of(taken_[row].begin(), taken_[row].end(), wanted)) {
            ++row;
        }
        taken_.resize(std::max(taken_.size(), row + 1));
        taken_[row].push_back({from, to});
        return static_cast<int>(row);
    }

    struct Span {
        int from = 0;
        int to = 0;
    };
    const std::vector<BeamNode>& nodes_;
    std::vector<std::vector<std::size_t>> children_;
    std::vector<int> last_step_;
    std::vector<bool> keep_;
    std::vector<std::vector<Span>> taken_;
    TreeRows result_;
};

}  // namespace

TreeRows tree_rows(const std::vector<BeamNode>& nodes, bool collapse) {
    return Placer(nodes, collapse).place();
}

}  // namespace headscope

#include "figures/head_order.h"

#include "support/check.h"

namespace headscope {

const HeadOrderRow& row_of(HeadOrder order) {
    return kHeadOrders.at(static_cast<std::size_t>(order));
}

HeadOrder parse_head_order(const std::string& name) {
    for (const HeadOrderRow& row : kHeadOrders) {
        if (name == row.name) {
            return row.order;
        }
    }
    throw Error("unknown head order '" + name + "'; must be " + head_order_names());
}

std::string head_order_names() {
    std::string names;
    for (const HeadOrderRow& row : kHeadOrders) {
        names += &row == &kHeadOrders.front() ? "" : &row == &kHeadOrders.back() ? " or " : ", ";
        names += row.name;
    }
    return names;
}

}  // namespace headscope

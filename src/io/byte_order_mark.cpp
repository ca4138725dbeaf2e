#include "io/byte_order_mark.h"

#include <mutex>
#include <set>
#include <utility>

namespace headscope {
namespace {

struct Removed {
    std::mutex mutex;
    std::function<void(const std::string&)> report;
    std::set<std::string> names;  // many files are read several times
};

Removed& removed() {
    static Removed all;
    return all;
}

}  // namespace

void on_byte_order_mark(std::function<void(const std::string& name)> report) {
    const std::lock_guard lock(removed().mutex);
    removed().report = std::move(report);
}

std::string_view without_byte_order_mark(std::string_view text, const std::string& name) {
    if (!text.starts_with(kByteOrderMark)) {
        return text;
    }
    const std::lock_guard lock(removed().mutex);
    if (removed().report && removed().names.insert(name).second) {
        removed().report(name);
    }
    return text.substr(kByteOrderMark.size());
}

}  // namespace headscope

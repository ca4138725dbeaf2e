#include "parallel/communicator.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

namespace headscope {
namespace {

// The first message of a text: its length and its beginning. Most texts are no longer.
struct Opening {
    std::uint64_t bytes = 0;
    std::array<char, 120> text = {};

    explicit Opening(const std::string& whole = "") : bytes(whole.size()) {
        std::copy_n(whole.begin(), std::min(whole.size(), text.size()), text.begin());
    }
    std::size_t inside() const { return std::min<std::size_t>(bytes, text.size()); }
};

std::span<const std::byte> rest_of(const std::string& whole) {
    const std::size_t inside = Opening(whole).inside();
    return std::as_bytes(std::span(whole)).subspan(inside);
}

// What each rank sends here, if `sends` (rank, rank) says that the first sends the second anything.
template <class Sends>
std::vector<std::string> texts(Communicator& ranks, const std::string& mine, const Sends& sends) {
    const auto size = static_cast<std::size_t>(ranks.size());
    const int rank = ranks.rank();
    const Opening own(mine);
    std::vector<Opening> openings(size);
    std::vector<std::span<const std::byte>> out(size);
    std::vector<std::span<std::byte>> in(size);
    for (std::size_t other = 0; other < size; ++other) {
        if (sends(rank, static_cast<int>(other))) {
            out[other] = std::as_bytes(std::span(&own, 1));
        }
        if (sends(static_cast<int>(other), rank)) {
            in[other] = std::as_writable_bytes(std::span(&openings[other], 1));
        }
    }
    ranks.exchange(out, in);
    std::vector<std::string> found(size);
    for (std::size_t other = 0; other < size; ++other) {
        const Opening& opening = openings[other];
        found[other].resize(opening.bytes);
        std::copy_n(opening.text.begin(), opening.inside(), found[other].begin());
        out[other] = sends(rank, static_cast<int>(other)) ? rest_of(mine) : std::span<const std::byte>();
        in[other] = std::as_writable_bytes(std::span(found[other])).subspan(opening.inside());
    }
    ranks.exchange(out, in);
    return found;
}

}  // namespace

std::vector<std::string> Communicator::gather(const std::string& mine) {
    return size() == 1 ? std::vector{mine} : texts(*this, mine, [](int, int) { return true; });
}

std::string Communicator::broadcast(const std::string& mine) {
    return size() == 1 ? mine : texts(*this, mine, [](int from, int) { return from == 0; }).front();
}

std::string Communicator::name_of(int rank) const {
    const auto at = static_cast<std::size_t>(rank);
    return at < names_.size() ? fmt::format("rank {} ({})", rank, names_[at]) : fmt::format("rank {}", rank);
}

void Alone::exchange(std::span<const std::span<const std::byte>> out, std::span<const std::span<std::byte>> in) {
    std::ranges::copy(out.front(), in.front().begin());
}

Communicator& alone() {
    static Alone only;
    return only;
}

}  // namespace headscope

#include "support/hash128.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <set>
#include <string_view>

using namespace headscope;

namespace {

using Value = std::array<std::uint64_t, 2>;

// Of a text of whole words.
Value hash_of(std::string_view text) {
    Hash128 hash;
    for (; !text.empty(); text.remove_prefix(sizeof(std::uint64_t))) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data(), sizeof word);
        hash.add(word);
    }
    return hash.value();
}

}  // namespace

TEST_CASE("the hash of words is MurmurHash3's") {
    CHECK(hash_of("") == Value{0, 0});
    CHECK(hash_of("The quick brown fox jumps over t") == Value{0xdf6af91bb29bdacf, 0x91a341c58df1f3a6});
    CHECK(hash_of("The quick brown fox jumps over the lazy ") == Value{0xe24636e0f1bdd992, 0xdc2973433fbb4be5});
}

TEST_CASE("sequences of words that differ in a bit, in their order or in their length have other hashes") {
    std::set<Value> seen;
    for (std::size_t length = 0; length < 6; ++length) {
        for (std::size_t word = 0; word < std::max<std::size_t>(length, 1); ++word) {
            for (unsigned bit = 0; bit < 64; ++bit) {
                Hash128 hash;
                for (std::size_t i = 0; i < length; ++i) {
                    hash.add(i == word ? std::uint64_t{1} << bit : 0);
                }
                seen.insert(hash.value());
            }
        }
    }
    CHECK(seen.size() == 1 + 64 * (1 + 2 + 3 + 4 + 5));
}

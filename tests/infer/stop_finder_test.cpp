// Whether growing outputs contain a stop text, against decoding them again.
#include "infer/stop_finder.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "golden_pieces.h"
#include "infer/continuation.h"

using namespace headscope;

namespace {

using Ids = std::vector<std::int32_t>;
using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a stop text is found when decoding everything again finds it", "[stop]") {
    const std::string kind = GENERATE("gpt2", "bert_cased", "t5", "converted");
    CAPTURE(kind);
    const Tokenizer tokenizer = golden_tokenizer(kind);
    std::mt19937 random(5);
    // Few tokens, among them bytes of characters, so that texts repeat.
    Ids some(12);
    for (std::int32_t& id : some) {
        id = static_cast<std::int32_t>(random() % static_cast<unsigned>(tokenizer.size()));
    }
    if (kind == "gpt2") {
        const Ids bytes = ids_of_pieces(tokenizer, {"\u00f0", "\u0141", "\u013b", "\u0124", "a", "b"});
        some.insert(some.end(), bytes.begin(), bytes.end());
    }
    const auto draw = [&](std::size_t count) {
        Ids ids(count);
        for (std::int32_t& id : ids) {
            id = some[random() % some.size()];
        }
        return ids;
    };
    int found = 0;
    for (int trial = 0; trial < 100; ++trial) {
        const Ids prompt = draw(random() % 3);
        const std::string text = tokenizer.decode(draw(5), Sentinels::Shown);
        const std::size_t begin = random() % (text.size() + 1);
        Texts stops{text.substr(begin, 1 + random() % 4), "no such text", "\ufffd\ufffd\ufffd"};
        std::erase(stops, "");
        StopFinder finder(tokenizer, prompt, stops);
        const Ids ids = draw(20);
        CAPTURE(prompt, ids, stops);
        for (std::size_t size = 1; size <= ids.size(); ++size) {
            const std::string whole =
                decode_after(tokenizer, prompt, {ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(size)});
            const bool expected = find_first(whole, stops) < whole.size();
            REQUIRE(finder.finds(std::span(ids).first(size)) == expected);
            if (expected) {
                ++found;
                break;
            }
        }
    }
    CHECK(found > 10);
}

TEST_CASE("the work of looking for stop texts is linear in the number of tokens", "[stop]") {
    const Tokenizer tokenizer = golden_tokenizer("gpt2");
    const auto work = [&](std::size_t length) {
        StopFinder finder(tokenizer, ids_of_pieces(tokenizer, {"a", "b"}), {"zzz", "cabd"});
        const Ids pattern = ids_of_pieces(tokenizer, {"a", "b", "c", "z"});
        Ids ids;
        for (std::size_t i = 0; i < length; ++i) {
            ids.push_back(pattern[i % pattern.size()]);
            CHECK_FALSE(finder.finds(ids));
        }
        return finder.work();
    };
    const std::int64_t once = work(500);
    CHECK(once < 10 * 500);
    CHECK(work(1000) <= 2 * once + 10);
}

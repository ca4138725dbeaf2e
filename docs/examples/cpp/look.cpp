// look TEXT: translates a text, completes it, and says what happens without a head.
//   c++ -std=c++17 look.cpp -lheadscope -o look
#include <exception>
#include <iostream>

#include <headscope/headscope.hpp>

int main(int argc, char** argv) try {
    if (argc != 2) {
        std::cerr << "usage: look TEXT\n";
        return 2;
    }
    const std::string text = argv[1];
    hs::Engine engine(hs::Options().json("devices", R"(["cpu"])"));
    hs::Model model = engine.open("en-de");
    const std::string translation = model.translate(text);
    std::cout << translation << "\n";

    hs::Request several = model.submit(HS_TRANSLATE, {text}, hs::Options().set("beam", 4).set("n_best", 2));
    const hs::Result best = several.wait();
    for (std::size_t i = 0; i < best.choices(0); ++i) {
        std::cout << best.number(HS_SEARCH_SCORE, 0, i) << " " << best.text(0, i) << "\n";
    }

    const hs::Record record = model.attention(text);
    const hs::Array<float> cross = record.weights(HS_CROSS, 1);
    std::cout << cross.shape[0] << " heads, " << cross.shape[1] << " queries, " << cross.shape[2] << " keys\n";

    const auto probability = [&](const hs::Options& options) {
        return model.submit(HS_RUN, {text}, {translation}, options).wait().number(HS_LOG_PROBABILITY);
    };
    const double with = probability(hs::Options());
    const double without =
        probability(hs::Options().json("edits", R"([{"kind": "cross", "layer": 3, "head": 2, "edit": "off"}])"));
    std::cout << "head 2 of layer 3 is worth " << with - without << " nats\n";

    hs::Model writer = engine.open("en-causal");
    std::cout << text << writer.complete(text, hs::Options().set("max_extra", 8)) << "\n";
    return 0;
} catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
}

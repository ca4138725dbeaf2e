// translate MODEL <text: translates lines from four threads, which share an engine on the CPU.
#include <cstddef>
#include <exception>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "engine/engine.h"

int main(int argc, char** argv) try {
    if (argc != 2) {
        std::cerr << "usage: translate MODEL <text\n";
        return 2;
    }
    std::vector<std::string> lines;
    for (std::string line; std::getline(std::cin, line);) {
        lines.push_back(line);
    }
    const auto warn = [](const std::string& message) { std::cerr << message + "\n"; };
    headscope::Engine engine({.devices = {"cpu"}}, warn);
    const headscope::ModelHandle model = engine.open({argv[1]});
    const headscope::DecodingOptions options{.search = model->search_options({})};
    constexpr std::size_t kThreads = 4;
    std::vector<std::thread> threads;
    std::vector<std::string> translations(lines.size());
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&, thread] {
            for (std::size_t i = thread; i < lines.size(); i += kThreads) {
                translations[i] =
                    engine.submit(model, headscope::TextRequest{.line = {lines[i]}, .options = options}).get().text;
            }
        });
    }
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
        threads[thread].join();
    }
    for (const std::string& translation : translations) {
        std::cout << translation << "\n";
    }
} catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
}

// translate MODEL <text: translates lines from four threads, which share one service on the CPU.
#include <cstddef>
#include <exception>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "engine/engine.h"
#include "engine/service.h"

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
    const headscope::Engine engine({.devices = {"cpu"}, .models = {argv[1]}}, warn);
    const headscope::Service service(engine, warn);
    constexpr std::size_t kThreads = 4;
    std::vector<std::thread> threads;
    std::vector<std::string> translations(lines.size());
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&, thread] {
            for (std::size_t i = thread; i < lines.size(); i += kThreads) {
                translations[i] = service.submit({{lines[i]}, engine.options()}).result.get().text;
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

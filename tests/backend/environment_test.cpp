#include "options/environment.h"

#include <catch2/catch.hpp>

using namespace headscope;

TEST_CASE("only known variables are read from the environment", "[environment]") {
    const char* const environment[] = {"PATH=/bin", "HEADSCOPE_TRACE=a=b", "HEADSCOPE_X=1",
                                       "HOME=",     "HEADSCOPE_MODEL",     nullptr};
    const Settings settings = read_environment(environment);
    CHECK(settings.all() == std::map<std::string, std::string>{{"HEADSCOPE_TRACE", "a=b"}, {"HOME", ""}});
    CHECK(read_environment(nullptr).all().empty());
}

TEST_CASE("a misspelled variable is recognized, an unrelated one is not", "[environment]") {
    const char* const environment[] = {"HEADSCOPE_THREAD=2", "HEADSCOPE_SOMETHING=1", "HEADSCOPE_THREADS=2", "HOMES=a",
                                       nullptr};
    CHECK(misspelt_variables(environment) ==
          std::vector<std::string>{"unknown environment variable HEADSCOPE_THREAD; did you mean HEADSCOPE_THREADS?"});
}

// Every device under test agrees with the oracle in every case of the catalogue, and the oracle's backward with central
// differences.
#include <catch2/catch.hpp>
#include <set>

#include "checks.h"
#include "conformance/cases/catalogue.h"

using namespace headscope::conformance;

TEST_CASE("element-wise ops agree with the oracle", "[elementwise][dropout]") {
    check_cases_of("elementwise");
}
TEST_CASE("products agree with the oracle", "[matmul]") {
    check_cases_of("matmul");
}
TEST_CASE("linear layers agree with the oracle", "[linear]") {
    check_cases_of("linear");
}
TEST_CASE("biases and activations agree with the oracle", "[bias]") {
    check_cases_of("bias");
}
TEST_CASE("add and norm agrees with the oracle", "[layer_norm]") {
    check_cases_of("layer_norm");
}
TEST_CASE("batch norm agrees with the oracle", "[batch_norm]") {
    check_cases_of("batch_norm");
}
TEST_CASE("attention agrees with the oracle", "[attention]") {
    check_cases_of("attention");
}
TEST_CASE("additive scores agree with the oracle", "[additive]") {
    check_cases_of("additive");
}
TEST_CASE("edited attention agrees with the oracle", "[attention]") {
    check_cases_of("edit_attention");
}
TEST_CASE("embedding agrees with the oracle", "[embedding]") {
    check_cases_of("embedding");
}
TEST_CASE("convolutions agree with the oracle", "[convolution]") {
    check_cases_of("convolution");
}
TEST_CASE("mixtures of experts agree with the oracle", "[experts]") {
    check_cases_of("experts");
}
TEST_CASE("the loss agrees with the oracle", "[loss]") {
    check_cases_of("loss");
}
TEST_CASE("the optimizer agrees with the oracle", "[optimizer]") {
    check_cases_of("optimizer");
}
TEST_CASE("steps of recurrent layers agree with the oracle", "[recurrent]") {
    check_cases_of("recurrent");
}
TEST_CASE("rotary positions agree with the oracle", "[rotary]") {
    check_cases_of("rotary");
}
TEST_CASE("products and embeddings of weights in blocks agree with the oracle", "[blocks]") {
    check_cases_of("blocks");
}
TEST_CASE("search agrees with the oracle", "[search]") {
    check_cases_of("search");
}

TEST_CASE("element-wise gradients equal central differences", "[elementwise][gradients]") {
    check_gradients_of("elementwise");
}
TEST_CASE("gradients of products equal central differences", "[matmul][gradients]") {
    check_gradients_of("matmul");
}
TEST_CASE("gradients of a linear layer equal central differences", "[linear][gradients]") {
    check_gradients_of("linear");
}
TEST_CASE("gradients of bias and activation equal central differences", "[bias][gradients]") {
    check_gradients_of("bias");
}
TEST_CASE("gradients of add and norm equal central differences", "[layer_norm][gradients]") {
    check_gradients_of("layer_norm");
}
TEST_CASE("gradients of batch norm equal central differences", "[batch_norm][gradients]") {
    check_gradients_of("batch_norm");
}
TEST_CASE("gradients of attention equal central differences", "[attention][gradients]") {
    check_gradients_of("attention");
}
TEST_CASE("gradients of additive scores equal central differences", "[additive][gradients]") {
    check_gradients_of("additive");
}
TEST_CASE("the embedding's gradient equals central differences", "[embedding][gradients]") {
    check_gradients_of("embedding");
}
TEST_CASE("the gradients of convolutions equal central differences", "[convolution][gradients]") {
    check_gradients_of("convolution");
}
TEST_CASE("gradients of mixtures of experts equal central differences", "[experts][gradients]") {
    check_gradients_of("experts");
}
TEST_CASE("the loss's gradient equals central differences", "[loss][gradients]") {
    check_gradients_of("loss");
}
TEST_CASE("the gradient of rotary positions equals central differences", "[rotary][gradients]") {
    check_gradients_of("rotary");
}
TEST_CASE("gradients of recurrent steps equal central differences", "[recurrent][gradients]") {
    check_gradients_of("recurrent");
}

TEST_CASE("every family of the catalogue is tested above, and its groups have unique names", "[catalogue]") {
    const std::set<std::string> tested{"elementwise", "matmul",         "linear",    "bias",       "layer_norm",
                                       "attention",   "edit_attention", "embedding", "loss",       "optimizer",
                                       "search",      "convolution",    "recurrent", "batch_norm", "additive",
                                       "experts",     "rotary",         "blocks"};
    const std::set<std::string> differentiated{"elementwise", "matmul",    "linear",  "bias",        "layer_norm",
                                               "attention",   "embedding", "loss",    "convolution", "recurrent",
                                               "batch_norm",  "additive",  "experts", "rotary"};
    for (const Family& family : catalogue()) {
        INFO(family.name);
        CHECK(tested.count(family.name) == 1);
        CHECK((family.differentiations != nullptr) == (differentiated.count(family.name) == 1));
        std::set<std::string> names;
        for (const Group& group : family.groups) {
            CHECK(names.insert(group.name).second);
        }
        CHECK_FALSE(names.empty());
    }
    CHECK(catalogue().size() == tested.size());
}
